// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/diff/live_arguments.h"
#include "app/terminal/work_watch.h"
#include "core/live/live_comparison.h"
#include "core/live/live_pair.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace moire::app {

/// Two sides while they run, and their comparison as far as it goes. The calling thread compares;
/// the sides have threads of their own.
class PairWatch
{
public:
    PairWatch(live::PairOptions sides, const CompareArguments& compare, const LiveArguments& given);

    /// Compares until both sides are over, or nothing can change the exit status and that is
    /// enough. Errors: Cancelled (on request); Io (a side ended early, or its daemon is not to be
    /// reached); those of LiveComparison::advance().
    Result<void> follow(WorkWatch& watch);
    /// Cancels what was begun here and still runs, and waits until the daemons have heard of it.
    void end();

    const live::LiveComparison& comparison() const { return m_comparison; }
    Result<trace::RunPointer> snapshot(live::Which which) { return m_pair.snapshot(which); }
    live::SideStatus status(live::Which which) const { return m_pair.status(which); }

private:
    using Clock = std::chrono::steady_clock;
    /// Wakes the comparing thread when something has come.
    struct Bell
    {
        void ring();
        void wait(std::chrono::milliseconds most);

        std::mutex mutex;
        std::condition_variable rung;
        bool isRung = false;
    };
    struct Side
    {
        live::Which which;
        bool begins;              ///< a run is made for it
        bool met = false;         ///< its daemon has been there
        bool runTold = false;     ///< which run it is
        bool lossTold = false;    ///< that the link is lost
        bool missingTold = false; ///< that rows could not be had
        std::optional<Clock::time_point> lostSince{};
        live::SideStatus status{};
    };

    void look(WorkWatch& watch);
    void tellNews(Side& side) const;
    Result<void> compareNew(const std::stop_token& stop);
    std::optional<Error> trouble();
    std::optional<Error> linkTrouble(Side& side) const;
    Error withFindings(Error error) const;

    const CompareArguments& m_compare;
    const LiveArguments& m_given;
    Bell m_bell;
    live::LiveComparison m_comparison;
    std::uint64_t m_compared = 0; ///< pairs of rows
    Side m_reference;
    Side m_target;
    live::LivePair m_pair; ///< last: its threads ring the bell
};

} // namespace moire::app
