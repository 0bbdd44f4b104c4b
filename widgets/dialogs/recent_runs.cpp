// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/recent_runs.h"

#include <QFileInfo>
#include <QMenu>
#include <QSettings>

namespace moire::widgets {

namespace {

constexpr qsizetype mostRuns = 8;
const QString settingsKey = QStringLiteral("recent");

} // namespace

RecentRuns::RecentRuns(QObject* parent)
    : QObject(parent)
{
    QSettings settings;
    const int count = settings.beginReadArray(settingsKey);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        const RunPaths paths{settings.value(QStringLiteral("reference")).toString(),
                             settings.value(QStringLiteral("target")).toString()};
        if (!paths.isEmpty() && m_runs.size() < mostRuns)
            m_runs.append(paths);
    }
    settings.endArray();
}

void RecentRuns::add(const RunPaths& paths)
{
    m_runs.removeAll(paths);
    m_runs.prepend(paths);
    while (m_runs.size() > mostRuns)
        m_runs.removeLast();
    save();
}

void RecentRuns::clear()
{
    m_runs.clear();
    save();
}

void RecentRuns::save() const
{
    QSettings settings;
    settings.beginWriteArray(settingsKey, static_cast<int>(m_runs.size()));
    for (int i = 0; i < m_runs.size(); ++i) {
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("reference"), m_runs[i].reference);
        settings.setValue(QStringLiteral("target"), m_runs[i].target);
    }
    settings.endArray();
}

void RecentRuns::attachTo(QMenu* menu)
{
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        for (const RunPaths& paths : m_runs) {
            auto* action = menu->addAction(QStringLiteral("%1  ⇄  %2")
                                               .arg(QFileInfo(paths.reference).fileName(),
                                                    QFileInfo(paths.target).fileName()));
            action->setToolTip(paths.reference + '\n' + paths.target);
            connect(action, &QAction::triggered, this, [this, paths] { Q_EMIT chosen(paths); });
        }
        menu->addSeparator();
        auto* forget = menu->addAction(QStringLiteral("Clear list"), this, &RecentRuns::clear);
        forget->setEnabled(!m_runs.isEmpty());
    });
    menu->setToolTipsVisible(true);
}

} // namespace moire::widgets
