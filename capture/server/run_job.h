// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/token_feed.h"
#include "capture/server/requested_run.h"
#include "core/wire/run_log.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace moire::capture {

/// A run from its request to its end, shared by the thread that makes it and those who ask.
struct RunJob
{
    std::string run;
    std::string model;
    std::string ticket; ///< of the request, "" = none
    RequestedRun request;
    std::shared_ptr<wire::RunLog> log;
    std::stop_source stop;
    std::atomic<bool> daemonEnds{false}; ///< that is why it stops
    std::atomic<std::uint64_t> bytes{0}; ///< recorded so far
    std::atomic<bool> spooled{false};
};

/// How a run ended.
struct RunEnding
{
    std::string state;    ///< a word of wire::state
    std::string sentence; ///< why it is not finished
    double seconds = 0;   ///< of running
};

} // namespace moire::capture
