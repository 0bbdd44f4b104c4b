// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace moire::widgets {

/// The fields of both environments side by side, those that differ marked.
class EnvironmentModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column
    {
        Field,
        Reference,
        Target,
        ColumnCount
    };
    enum Role
    {
        DiffersRole = Qt::UserRole ///< bool; incidental fields never differ
    };

    explicit EnvironmentModel(QObject* parent = nullptr)
        : QAbstractTableModel(parent)
    {}
    void setReport(const diff::Report& report);
    /// Leaves out the fields that are the same or incidental.
    void setDifferencesOnly(bool only);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Entry
    {
        QString key, reference, target;
        bool differs = false;
    };
    void select();

    std::vector<Entry> m_entries;
    std::vector<std::size_t> m_shown;
    bool m_differencesOnly = false;
};

} // namespace moire::widgets
