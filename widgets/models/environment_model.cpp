// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/environment_model.h"

#include "core/base/text.h"
#include "core/diff/report_parts.h"

#include <algorithm>

namespace moire::widgets {

namespace {

QString shown(const std::string& text)
{
    return QString::fromStdString(base::visibleText(text));
}

} // namespace

void EnvironmentModel::setReport(const diff::Report& report)
{
    beginResetModel();
    m_entries.clear();
    const auto differences =
        diff::environmentDifferences(report.reference.environment, report.target.environment);
    const auto add = [&](const std::string& key) {
        const QString name = shown(key);
        if (std::any_of(m_entries.begin(), m_entries.end(),
                        [&name](const Entry& entry) { return entry.key == name; }))
            return;
        const std::string reference = report.reference.environment.text(key);
        const std::string target = report.target.environment.text(key);
        const bool differs = std::any_of(differences.begin(), differences.end(),
                                         [&key](const diff::EnvironmentDifference& difference) {
                                             return difference.key == key;
                                         });
        m_entries.push_back({name, shown(reference), shown(target), differs});
    };
    for (const auto& [key, value] : report.reference.environment.fields())
        add(key);
    for (const auto& [key, value] : report.target.environment.fields())
        add(key);
    select();
    endResetModel();
}

void EnvironmentModel::setDifferencesOnly(bool only)
{
    beginResetModel();
    m_differencesOnly = only;
    select();
    endResetModel();
}

void EnvironmentModel::select()
{
    m_shown.clear();
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        if (!m_differencesOnly || m_entries[i].differs)
            m_shown.push_back(i);
}

int EnvironmentModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int EnvironmentModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EnvironmentModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Entry& entry = m_entries[m_shown[static_cast<std::size_t>(index.row())]];
    if (role == DiffersRole)
        return entry.differs;
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const QString& text = index.column() == Field       ? entry.key
                          : index.column() == Reference ? entry.reference
                                                        : entry.target;
    return text.isEmpty() ? QStringLiteral("–") : text;
}

QVariant EnvironmentModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    static const QStringList names{QStringLiteral("field"), QStringLiteral("reference"),
                                   QStringLiteral("target")};
    return names.value(section);
}

} // namespace moire::widgets
