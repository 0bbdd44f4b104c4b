// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/live/growth_rate.h"
#include "core/live/live_side.h"
#include "core/live/token_sender.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace moire::live {

/// What LiveSide's thread does, and what it shares with those who ask.
class SideWorker
{
public:
    SideWorker(SideOptions wanted, LiveSide::Changed told)
        : options(std::move(wanted))
        , changed(std::move(told))
        , sender(options.host)
    {}

    /// The thread: connects, begins, receives until the run is over or `stop`.
    void work(const std::stop_token& stop);
    std::shared_ptr<wire::LiveRun> liveRun() const
    {
        const std::scoped_lock lock(mutex);
        return live;
    }

    SideOptions options;
    LiveSide::Changed changed;
    LiveSide::Prepare prepare;
    std::function<void(const wire::LiveRun::NewTokens&)> tokensTold;
    TokenSender sender;

    mutable std::mutex mutex; ///< of all that follows
    std::condition_variable_any happened;
    SideState state = SideState::Idle;
    std::string run;
    bool begun = false; ///< by us
    bool cancelWanted = false;
    bool grown = false; ///< since the thread looked last
    Error trouble{Errc::Internal, {}, {}, {}};
    wire::RunState heard; ///< from the daemon, last
    trace::RunPointer file;
    std::shared_ptr<wire::LiveRun> live;
    GrowthRate rate;

    std::jthread thread; ///< last: it ends before anything that it uses

private:
    void openFile();
    bool connect(const std::stop_token& stop);
    bool begin(const std::stop_token& stop);
    Result<wire::Queued> askForRun(const std::stop_token& stop);
    bool receive();
    void watch(const std::stop_token& stop);
    void ask();
    void cancelRun(const std::stop_token& stop);
    bool lookAtLive();
    void set(SideState now, Error why = {Errc::Internal, {}, {}, {}});
    void pause(const std::stop_token& stop, std::chrono::milliseconds time);
    bool stopped(const std::stop_token& stop) const;
    void noteGrowth();
};

} // namespace moire::live
