// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/live/live_comparison.h"
#include "core/live/live_pair.h"
#include "widgets/jobs/latest_job.h"
#include "widgets/models/compared.h"
#include "widgets/models/live_plan.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>

namespace moire::widgets {

/// Two runs while they are made, and their comparison as far as it goes. Rows come on threads of
/// their own; what is new is compared in one piece at a time off the GUI thread, and told once a
/// piece, never once a row. GUI thread.
class LiveSession : public QObject
{
    Q_OBJECT
public:
    LiveSession(LivePlan plan, live::PairOptions pair, const diff::ComparisonOptions& options);
    ~LiveSession() override;

    const LivePlan& plan() const { return m_plan; }
    void start();
    void cancel();
    live::SideStatus status(live::Which which) const { return m_pair->status(which); }
    std::uint64_t rowsCompared() const { return m_rowsCompared; }
    double seconds() const; ///< since start(), or what it took
    /// No more rows come, and all that came are compared and told.
    bool isOver() const { return m_over; }
    /// Copies one side into a capture, off the GUI thread; saved() tells.
    void save(live::Which which, const QString& path);

Q_SIGNALS:
    /// States, counts or rates are others now; at most ten times a second.
    void changed();
    void compared(const moire::widgets::ComparedPointer& compared);
    void over();
    /// The comparison cannot go on; the runs do.
    void failed(const moire::Error& error);
    void saved(const QString& path, const moire::Result<void>& result);

private:
    live::LiveSide::Changed notify();
    void grown();
    void compareNext();
    void finishStep(const Result<ComparedPointer>& result);

    /// What the runs' threads and the GUI thread share.
    struct Bell
    {
        std::atomic<bool> rung{false};
    };

    LivePlan m_plan;
    std::shared_ptr<Bell> m_bell = std::make_shared<Bell>();
    std::shared_ptr<live::LiveComparison> m_comparison;
    std::shared_ptr<live::LivePair> m_pair;
    QElapsedTimer m_clock;
    qint64 m_took = 0; ///< ms, once it is over
    std::atomic<std::uint64_t> m_rowsCompared{0};
    bool m_more = false; ///< something has come since the last step began
    bool m_broken = false;
    bool m_over = false;
    bool m_overTaken = false; ///< the step on its way began when both sides were over
    QTimer m_tick;            ///< rates change without rows too
    QTimer m_pause;           ///< between two steps
    LatestJob m_compareJob;
    LatestJob m_saveJob;
};

/// The two sides of a plan, each with a connection of its own. Errors: what is wrong with the plan,
/// the keys or the files that it names.
Result<live::PairOptions> pairOptionsOf(const LivePlan& plan);

} // namespace moire::widgets
