// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/live/run_host.h"
#include "core/live/side_state.h"
#include "core/wire/live_run.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace moire::live {

/// One side of a comparison: a capture, a run that a daemon has, or one that it is asked to make.
struct SideOptions
{
    std::filesystem::path file;    ///< a capture; empty: a daemon's run
    std::shared_ptr<RunHost> host; ///< the daemon
    std::string run;               ///< of the daemon's runs, to attach to; empty: `request` is made
    wire::RunRequest request;
    bool lossless = true;         ///< else rows may be lost, and the model never waits
    std::filesystem::path record; ///< the capture to make of it; empty: a temporary one
    std::filesystem::path folder; ///< of the temporary one; empty: the system's
};

class SideWorker;

/// Drives one side with a thread of its own. Any thread may call.
class LiveSide
{
public:
    /// Called on the side's threads, without a lock held, after rows have come (several messages
    /// at once when they come fast) and after every change of state.
    using Changed = std::function<void()>;
    /// Completes the request before it is sent, on the side's thread: it may block until `stop`.
    using Prepare =
        std::function<Result<void>(wire::RunRequest& request, const std::stop_token& stop)>;

    LiveSide(SideOptions options, Changed changed);
    ~LiveSide(); ///< stop()

    void setPrepare(Prepare prepare); ///< before start()
    /// Response tokens as they come, on the side's thread; before start().
    void onTokens(std::function<void(const wire::LiveRun::NewTokens&)> told);
    void start();
    /// Ends its threads; what has come stays. A daemon's run goes on unless it was cancelled.
    void stop();
    /// A run that was begun here is cancelled at its daemon, one that was attached to only left.
    /// Returns at once.
    void cancel();
    /// Response tokens for a run with `replay-live`, sent in order as soon as they can be.
    void feed(const wire::LiveRun::NewTokens& tokens);

    SideStatus status() const;
    /// Not older than the call; null before the header has come.
    Result<trace::RunPointer> snapshot();
    /// Keeps what there is as a capture. Errors: Invalid (nothing has come yet, or it is a file);
    /// those of CaptureStore::saveAs().
    Result<void> save(const std::filesystem::path& path);
    /// Waits until the daemon has given the run a name; "" when it never will.
    std::string waitForRun(const std::stop_token& stop);

private:
    std::unique_ptr<SideWorker> m_state;
};

} // namespace moire::live
