// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/live/run_host.h"
#include "core/wire/live_run.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace moire::live {

/// Response tokens on their way to a run that scores them. They gather while one request is on its
/// way, so that a slow link costs requests and not the order. Any thread may add; one sends.
class TokenSender
{
public:
    explicit TokenSender(std::shared_ptr<RunHost> host)
        : m_host(std::move(host))
    {}
    void setRun(std::string run) { m_run = std::move(run); } ///< by the thread that sends

    void add(const wire::LiveRun::NewTokens& tokens);
    bool hasTokens() const;
    /// Sends what has gathered, a request a sample. Errors: the daemon's; what was not answered is
    /// sent again by the next call, and says where it belongs, so that nothing is scored twice.
    Result<void> send();

private:
    std::shared_ptr<RunHost> m_host;
    std::string m_run;
    mutable std::mutex m_mutex;
    std::deque<wire::Feed> m_waiting;                   ///< at most one a sample
    std::map<trace::SampleIndex, std::int64_t> m_count; ///< tokens added
};

} // namespace moire::live
