// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/run_log.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>

namespace moire::wire {

/// What a RunLog is made of. Every function takes the lock itself, but those that are named Locked.
class RunLog::State : public RowHolder
{
public:
    using Clock = std::chrono::steady_clock;

    State(std::string name, std::shared_ptr<HoldLimit> limit);
    ~State() override;

    const std::string run;

    // --- by the maker ---
    void begin(const trace::RunHeader& header, PlannedRows planned);
    void add(Packed small, bool last = false);
    std::uint64_t size() const;
    Result<void> addRows(std::shared_ptr<const trace::RowBlock> block, const std::stop_token& stop);
    void addStoredRows(std::size_t count);
    void committed(trace::RowIndex rows, std::shared_ptr<RowSource> source);
    void onGrowth(std::function<void()> grown);

    // --- by readers ---
    bool closed() const;
    trace::RowIndex rows() const;
    std::shared_ptr<const trace::RunHeader> header() const;
    double secondsWaited() const;
    bool waiting() const;
    Result<LogMessage> take(std::uint64_t sequence, const ValueChoice& values) const;
    bool isHeld(std::uint64_t sequence) const;
    void keepFor(std::uint64_t reader, std::uint64_t received, std::uint64_t handed);
    void release(std::uint64_t reader);

    void giveUp(Rows which, std::size_t wanted) override;

private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    /// Message of the log: a small one, or rows.
    struct Entry
    {
        std::shared_ptr<const Packed> small; ///< null: rows
        trace::RowIndex first = 0;
        std::uint64_t block = none; ///< number of the held block
        std::uint32_t begin = 0;    ///< its row there
        std::uint32_t count = 0;
    };
    struct Held
    {
        std::shared_ptr<const trace::RowBlock> block;
        std::size_t bytes = 0;
        std::uint64_t endMessage = 0;
        trace::RowIndex endRow = 0;
    };
    struct Place
    {
        std::uint64_t received = 0;
        std::uint64_t handed = 0;
    };

    Result<void> addPiece(std::shared_ptr<const trace::RowBlock> block,
                          const std::stop_token& stop);
    /// Whether there is room for so many bytes, now that everything that may go has gone.
    Result<bool> makeRoom(std::size_t bytes, const std::stop_token& stop);
    Result<bool> waitForRoom(std::size_t bytes, const std::stop_token& stop);
    bool dropFrontLocked(std::uint64_t belowMessage);
    bool reserveLocked(std::size_t bytes, std::uint64_t belowMessage);
    void appendRowsLocked(std::size_t count, std::uint64_t block);
    std::uint64_t leastReceivedLocked() const;
    std::uint64_t leastHandedLocked() const;
    bool heldLocked(const Entry& entry) const;
    bool storedLocked(const Entry& entry) const;
    LogMessage gapLocked(std::uint64_t sequence) const;
    void tellGrowth() const;

    const std::shared_ptr<HoldLimit> m_limit;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed; ///< readers' places, or the spool
    std::shared_ptr<const trace::RunHeader> m_header;
    std::size_t m_rowBytes = 0;
    std::size_t m_rowsPerMessage = 1;
    std::deque<Entry> m_entries;
    std::deque<Held> m_held;
    std::uint64_t m_firstHeld = 0; ///< number of m_held.front()
    trace::RowIndex m_rows = 0;
    trace::RowIndex m_committed = 0;
    std::shared_ptr<RowSource> m_source;
    std::map<std::uint64_t, Place> m_readers;
    Clock::time_point m_progress{}; ///< a reader's place moved
    bool m_closed = false;
    bool m_waiting = false;
    Clock::time_point m_waitBegan{};
    Clock::duration m_waited{};
    std::shared_ptr<const std::function<void()>> m_grown;
};

} // namespace moire::wire
