// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/run_job.h"
#include "capture/server/spool.h"
#include "core/base/result.h"
#include "core/wire/requests.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::capture {

/// All runs of a daemon: those that wait, the one that is made, and those that ended as long as
/// they can be had. Any thread.
class RunTable
{
public:
    /// `spool`: null when there is none. Takes the runs that it found.
    RunTable(std::shared_ptr<Spool> spool, std::shared_ptr<wire::HoldLimit> hold);

    /// Puts a run at the end of the queue. Errors: Cancelled when the daemon stops, Io when the
    /// queue is full.
    Result<wire::Queued> add(const std::shared_ptr<RunJob>& job);
    /// The run that a ticket stands for already.
    std::optional<wire::Queued> withTicket(const std::string& ticket) const;
    /// The next run to make, once there is one; null when there is none after `patience`, or at the
    /// stop. It is `loading` from now on.
    std::shared_ptr<RunJob> next(std::stop_token stop, std::chrono::milliseconds patience);
    void running(const std::string& run, std::uint64_t planned);
    void ended(const std::string& run, const RunEnding& ending);

    // What clients ask. NotFound: there is no such run, or no longer.
    std::vector<wire::RunState> states() const;
    Result<wire::RunState> state(const std::string& run) const;
    /// Null when there is no such run.
    std::shared_ptr<wire::RunLog> log(const std::string& run);
    /// The run, when it waits or is made; else null.
    std::shared_ptr<RunJob> job(const std::string& run) const;
    /// The prompts of a run that is not in the spool alone.
    std::shared_ptr<const std::vector<Prompt>> prompts(const std::string& run) const;
    /// Ends a run that waits, asks one that is made to end, and leaves one that ended alone.
    Result<void> cancel(const std::string& run);
    /// Errors: Io when it is being made or read.
    Result<void> forget(const std::string& run);
    /// Forgets the oldest run in the spool that nobody reads; false when there is none.
    bool dropOldest();

    std::string current() const; ///< the run that is made, "" = none
    std::vector<std::string> queue() const;
    double secondsWaited() const; ///< of all runs that ended, and the present one
    std::uint64_t promptBytes() const;

    /// No run begins any more: those that wait end as lost, the one that is made is asked to.
    void stop();

private:
    using Clock = std::chrono::steady_clock;
    struct Entry
    {
        wire::RunState known; ///< what changes while it is made comes on top
        std::shared_ptr<RunJob> job;
        std::shared_ptr<wire::RunLog> log; ///< kept: it is made, or nowhere else
        std::weak_ptr<wire::RunLog> read;  ///< of one in the spool: somebody has it
        std::shared_ptr<const std::vector<Prompt>> prompts;
        std::string ticket;
        Clock::time_point began{};
    };

    Entry* find(const std::string& run);
    const Entry* find(const std::string& run) const;
    wire::RunState stateLocked(const Entry& entry) const;
    void endLocked(Entry& entry, const RunEnding& ending);
    void trimLocked();
    void eraseLocked(const std::string& run);
    static bool isReadLocked(const Entry& entry);

    std::shared_ptr<Spool> m_spool;
    std::shared_ptr<wire::HoldLimit> m_hold;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::map<std::string, Entry> m_runs; ///< by name, which begins with the time
    std::deque<std::string> m_queue;
    std::string m_current;
    std::deque<std::shared_ptr<wire::RunLog>> m_recent; ///< of the spool, read last
    double m_waited = 0;
    bool m_stopping = false;
};

} // namespace moire::capture
