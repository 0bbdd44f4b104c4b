// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/jobs/latest_job.h"
#include "widgets/models/open_runs.h"

#include <QObject>
#include <QTimer>

#include <memory>

namespace moire::gui {

/// Opens two captures in two steps off the GUI thread: first where they differ, then every measure.
/// A new start() takes the place of the one before.
class Opener : public QObject
{
    Q_OBJECT
public:
    explicit Opener(QObject* parent);

    void start(const widgets::RunPaths& paths, const widgets::Judging& judging);
    /// The first step: nothing can be shown yet.
    bool isOpening() const { return m_openJob.isPending(); }
    bool isPending() const { return m_openJob.isPending() || m_measureJob.isPending(); }

Q_SIGNALS:
    /// Every 100 ms while work goes on; `share` from 0 to 1.
    void progressed(double share);
    void opened(const moire::widgets::ComparedPointer& compared);
    void measured(const moire::widgets::ComparedPointer& compared);
    void failed(const moire::Error& error);

private:
    void measure(const widgets::ComparedPointer& compared, const widgets::Judging& judging);
    void fail(const Error& error);
    void poll();

    std::shared_ptr<base::Progress> m_progress;
    QTimer m_timer;
    widgets::LatestJob m_openJob;
    widgets::LatestJob m_measureJob;
};

} // namespace moire::gui
