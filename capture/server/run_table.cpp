// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/run_table.h"

#include "core/base/text.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <utility>

namespace moire::capture {

namespace {

/// Runs that ended and are in memory alone: their messages stay until others push them out.
constexpr std::size_t mostInMemory = 8;
/// Logs of runs in the spool that are kept although nobody reads them just now.
constexpr std::size_t mostRecent = 4;
/// Every run costs a file's worth of names and some memory, however small it is.
constexpr std::size_t mostRuns = 4096;

Error noSuchRun(const std::string& run)
{
    return {Errc::NotFound, "there is no such run, or no longer", base::visibleText(run),
            "Take one from the list of runs"};
}

std::uint64_t bytesOfPrompts(const std::vector<Prompt>& prompts)
{
    std::uint64_t bytes = 0;
    for (const Prompt& prompt : prompts) {
        bytes += sizeof(Prompt) + prompt.ids.size() * sizeof(std::int32_t)
                 + prompt.askedIds.size() * sizeof(std::int32_t) + prompt.sample.text.size();
        for (const std::string& choice : prompt.sample.choices)
            bytes += choice.size();
    }
    return bytes;
}

} // namespace

RunTable::RunTable(std::shared_ptr<Spool> spool, std::shared_ptr<wire::HoldLimit> hold)
    : m_spool(std::move(spool))
    , m_hold(std::move(hold))
{
    if (!m_spool)
        return;
    for (const SpooledRun& found : m_spool->found()) {
        Entry entry;
        entry.known = {.run = found.run,
                       .model = found.model,
                       .state = found.state,
                       .rows = found.rows,
                       .planned = found.planned,
                       .messages = found.messages,
                       .bytes = found.bytes,
                       .place = 0,
                       .seconds = found.seconds,
                       .waited = found.waited,
                       .spooled = true,
                       .sentence = found.sentence};
        m_runs.emplace(found.run, std::move(entry));
    }
}

RunTable::Entry* RunTable::find(const std::string& run)
{
    const auto found = m_runs.find(run);
    return found == m_runs.end() ? nullptr : &found->second;
}

const RunTable::Entry* RunTable::find(const std::string& run) const
{
    const auto found = m_runs.find(run);
    return found == m_runs.end() ? nullptr : &found->second;
}

Result<wire::Queued> RunTable::add(const std::shared_ptr<RunJob>& job)
{
    const std::lock_guard lock(m_mutex);
    if (m_stopping)
        return Error{Errc::Cancelled, "the daemon is about to end", {}, "Ask again later"};
    if (m_queue.size() >= wire::maxQueue)
        return Error{Errc::Io,
                     "the queue is full: " + std::to_string(wire::maxQueue) + " runs wait",
                     {},
                     "Ask again when one has ended"};
    Entry entry;
    entry.known.run = job->run;
    entry.known.model = job->model;
    entry.known.state = wire::state::queued;
    entry.known.planned = job->request.plan.rows;
    entry.job = job;
    entry.log = job->log;
    entry.prompts = job->request.prompts;
    entry.ticket = job->ticket;
    m_runs.emplace(job->run, std::move(entry));
    m_queue.push_back(job->run);
    trimLocked();
    m_changed.notify_all();
    const std::size_t place = m_queue.size() - (m_current.empty() ? 1 : 0);
    return wire::Queued{job->run, static_cast<std::uint32_t>(place), job->request.plan.rows,
                        job->request.plan.bytes};
}

std::optional<wire::Queued> RunTable::withTicket(const std::string& ticket) const
{
    const std::lock_guard lock(m_mutex);
    if (ticket.empty())
        return std::nullopt;
    for (const auto& [run, entry] : m_runs)
        if (entry.ticket == ticket)
            return wire::Queued{run, stateLocked(entry).place, entry.known.planned,
                                entry.job ? entry.job->request.plan.bytes : entry.known.bytes};
    return std::nullopt;
}

std::shared_ptr<RunJob> RunTable::next(std::stop_token stop, std::chrono::milliseconds patience)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, std::move(stop), patience, [this] { return !m_queue.empty(); });
    if (m_queue.empty() || m_stopping)
        return nullptr;
    m_current = m_queue.front();
    m_queue.pop_front();
    Entry& entry = m_runs.at(m_current);
    entry.known.state = wire::state::loading;
    entry.began = Clock::now();
    return entry.job;
}

void RunTable::running(const std::string& run, std::uint64_t planned)
{
    const std::lock_guard lock(m_mutex);
    Entry& entry = m_runs.at(run);
    entry.known.state = wire::state::running;
    entry.known.planned = planned;
    entry.began = Clock::now();
}

void RunTable::endLocked(Entry& entry, const RunEnding& ending)
{
    const RunJob& job = *entry.job;
    entry.known.state = ending.state;
    entry.known.sentence = ending.sentence;
    entry.known.seconds = ending.seconds;
    entry.known.rows = job.log->rows();
    entry.known.messages = job.log->size();
    entry.known.waited = job.log->secondsWaited();
    entry.known.bytes = job.bytes;
    entry.known.spooled = job.spooled;
    m_waited += entry.known.waited;
    entry.read = entry.log;
    if (entry.known.spooled) {
        entry.log.reset();
        entry.prompts.reset();
    }
    entry.job.reset();
}

void RunTable::ended(const std::string& run, const RunEnding& ending)
{
    const std::lock_guard lock(m_mutex);
    const auto log = m_runs.at(run).log;
    endLocked(m_runs.at(run), ending);
    if (m_current == run)
        m_current.clear();
    if (m_spool && m_runs.at(run).known.spooled) {
        m_recent.push_back(log);
        if (m_recent.size() > mostRecent)
            m_recent.pop_front();
    }
    trimLocked();
}

/// What ended longest ago goes when too much is kept.
void RunTable::trimLocked()
{
    const auto inMemory = [](const auto& entry) {
        return entry.second.job == nullptr && entry.second.log != nullptr;
    };
    while (std::count_if(m_runs.begin(), m_runs.end(), inMemory)
           > static_cast<std::ptrdiff_t>(mostInMemory)) {
        const auto oldest = std::find_if(m_runs.begin(), m_runs.end(), [&](const auto& entry) {
            return inMemory(entry) && !isReadLocked(entry.second);
        });
        if (oldest == m_runs.end())
            break;
        eraseLocked(std::string(oldest->first));
    }
    while (m_runs.size() > mostRuns) {
        const auto oldest = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& entry) {
            return entry.second.job == nullptr && !isReadLocked(entry.second);
        });
        if (oldest == m_runs.end())
            break;
        eraseLocked(std::string(oldest->first));
    }
}

/// Whether anybody but this table has its log. Nobody new can get it while the lock is held.
bool RunTable::isReadLocked(const Entry& entry)
{
    return entry.read.use_count() > (entry.log ? 1 : 0);
}

void RunTable::eraseLocked(const std::string& run)
{
    if (m_spool)
        m_spool->remove(run);
    m_runs.erase(run);
}

wire::RunState RunTable::stateLocked(const Entry& entry) const
{
    wire::RunState state = entry.known;
    if (!entry.job)
        return state;
    const wire::RunLog& log = *entry.job->log;
    state.rows = log.rows();
    state.messages = log.size();
    state.waited = log.secondsWaited();
    state.bytes = entry.job->bytes;
    state.spooled = entry.job->spooled;
    if (state.state == wire::state::running && log.waiting())
        state.state = wire::state::waiting;
    if (state.state == wire::state::queued) {
        const auto place = std::find(m_queue.begin(), m_queue.end(), state.run);
        state.place =
            static_cast<std::uint32_t>(place - m_queue.begin()) + (m_current.empty() ? 0U : 1U);
    } else {
        state.seconds = std::chrono::duration<double>(Clock::now() - entry.began).count();
    }
    return state;
}

std::vector<wire::RunState> RunTable::states() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<wire::RunState> states;
    for (const auto& [run, entry] : m_runs)
        states.push_back(stateLocked(entry));
    return states;
}

Result<wire::RunState> RunTable::state(const std::string& run) const
{
    const std::lock_guard lock(m_mutex);
    const Entry* entry = find(run);
    if (entry == nullptr)
        return noSuchRun(run);
    return stateLocked(*entry);
}

std::shared_ptr<wire::RunLog> RunTable::log(const std::string& run)
{
    const std::lock_guard lock(m_mutex);
    Entry* entry = find(run);
    if (entry == nullptr)
        return nullptr;
    if (entry->log)
        return entry->log;
    if (auto log = entry->read.lock())
        return log;
    auto made = m_spool ? m_spool->read(run, m_hold)
                        : Result<std::shared_ptr<wire::RunLog>>(noSuchRun(run));
    if (!made)
        return nullptr;
    entry->read = *made;
    m_recent.push_back(*made);
    if (m_recent.size() > mostRecent)
        m_recent.pop_front();
    return *made;
}

std::shared_ptr<RunJob> RunTable::job(const std::string& run) const
{
    const std::lock_guard lock(m_mutex);
    const Entry* entry = find(run);
    return entry == nullptr ? nullptr : entry->job;
}

std::shared_ptr<const std::vector<Prompt>> RunTable::prompts(const std::string& run) const
{
    const std::lock_guard lock(m_mutex);
    const Entry* entry = find(run);
    return entry == nullptr ? nullptr : entry->prompts;
}

Result<void> RunTable::cancel(const std::string& run)
{
    constexpr auto sentence = "cancelled before it began";
    const std::lock_guard lock(m_mutex);
    Entry* entry = find(run);
    if (entry == nullptr)
        return noSuchRun(run);
    if (!entry->job)
        return {};
    entry->job->stop.request_stop();
    const auto waiting = std::find(m_queue.begin(), m_queue.end(), run);
    if (waiting == m_queue.end())
        return {};
    m_queue.erase(waiting);
    entry->log->breakOff(wire::state::cancelled, sentence);
    endLocked(*entry, {std::string(wire::state::cancelled), sentence, 0});
    return {};
}

Result<void> RunTable::forget(const std::string& run)
{
    const std::lock_guard lock(m_mutex);
    const Entry* entry = find(run);
    if (entry == nullptr)
        return noSuchRun(run);
    std::erase_if(m_recent, [&](const auto& log) { return log->run() == run; });
    if (entry->job || isReadLocked(*entry))
        return Error{Errc::Io,
                     entry->job ? "the run is being made" : "somebody is reading the run",
                     {},
                     entry->job ? "Cancel it first" : "Ask again when nobody does"};
    eraseLocked(run);
    return {};
}

bool RunTable::dropOldest()
{
    const std::lock_guard lock(m_mutex);
    for (const auto& [run, entry] : m_runs) {
        if (entry.job || !entry.known.spooled)
            continue;
        // Kept for the next reader only: that is no reader.
        std::erase_if(m_recent, [&, name = run](const auto& log) { return log->run() == name; });
        if (isReadLocked(entry))
            continue;
        eraseLocked(std::string(run));
        return true;
    }
    return false;
}

std::string RunTable::current() const
{
    const std::lock_guard lock(m_mutex);
    return m_current;
}

std::vector<std::string> RunTable::queue() const
{
    const std::lock_guard lock(m_mutex);
    return {m_queue.begin(), m_queue.end()};
}

double RunTable::secondsWaited() const
{
    const std::lock_guard lock(m_mutex);
    const Entry* entry = find(m_current);
    return m_waited + (entry != nullptr && entry->job ? entry->job->log->secondsWaited() : 0);
}

std::uint64_t RunTable::promptBytes() const
{
    const std::lock_guard lock(m_mutex);
    std::uint64_t bytes = 0;
    for (const auto& [run, entry] : m_runs)
        if (entry.prompts)
            bytes += bytesOfPrompts(*entry.prompts);
    return bytes;
}

void RunTable::stop()
{
    constexpr auto sentence = "the daemon ended before the run began";
    const std::lock_guard lock(m_mutex);
    m_stopping = true;
    for (const std::string& run : std::exchange(m_queue, {})) {
        Entry& entry = m_runs.at(run);
        entry.log->breakOff(wire::state::lost, sentence);
        endLocked(entry, {std::string(wire::state::lost), sentence, 0});
    }
    if (Entry* entry = find(m_current); entry != nullptr && entry->job) {
        entry->job->daemonEnds = true;
        entry->job->stop.request_stop();
    }
    m_changed.notify_all();
}

} // namespace moire::capture
