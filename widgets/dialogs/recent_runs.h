// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/open_runs.h"

#include <QList>
#include <QObject>

class QMenu;

namespace moire::widgets {

/// The pairs of files that were compared last, newest first, kept in the user's settings.
class RecentRuns : public QObject
{
    Q_OBJECT
public:
    explicit RecentRuns(QObject* parent = nullptr);

    void add(const RunPaths& paths);
    void clear();
    const QList<RunPaths>& all() const { return m_runs; }
    /// Fills a menu with them whenever it opens.
    void attachTo(QMenu* menu);

Q_SIGNALS:
    void chosen(const moire::widgets::RunPaths& paths);

private:
    void save() const;

    QList<RunPaths> m_runs;
};

} // namespace moire::widgets
