// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"
#include "core/wire/run_messages.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::wire {

/// Gives back recorded rows that a log no longer holds in memory.
class RowSource
{
public:
    virtual ~RowSource() = default;
    /// Rows [first, first + count), with all values.
    virtual Result<trace::RowBlock> rows(trace::RowIndex first, std::size_t count) = 0;
};

/// Somebody who holds rows in memory under a limit.
class RowHolder
{
public:
    virtual ~RowHolder() = default;
    enum class Rows
    {
        Committed, ///< that can be had from the spool
        Finished   ///< of a run that has ended, and no lossless reader needs
    };
    /// Gives up such rows, the oldest first, until `wanted` bytes fit under the limit.
    virtual void giveUp(Rows which, std::size_t wanted) = 0;
};

/// The memory that the rows of all logs of a daemon may hold together; one block of rows that is
/// larger than all of it is taken when nothing else is held. Any thread.
struct HoldLimit
{
    std::size_t bytes = std::size_t{256} << 20U;
    std::atomic<std::size_t> held{0};
    /// So long the maker waits for a reader that has been handed everything and does not say that
    /// it came, before it takes it for received.
    std::chrono::milliseconds patience{2000};

    bool reserve(std::size_t wanted);
    bool isShort(std::size_t wanted) const;
    void enter(const std::shared_ptr<RowHolder>& holder);
    /// Asks all but `asking`, the oldest first.
    void askOthers(const RowHolder& asking, RowHolder::Rows which, std::size_t wanted);

private:
    std::mutex m_mutex;
    std::vector<std::weak_ptr<RowHolder>> m_holders; ///< in the order in which they came
};

/// A message of a log, and the number of the one behind it (behind a gap).
struct LogMessage
{
    Packed packed;
    std::uint64_t next = 0;
};

/// The numbered messages of one run: made by the run's thread, read by others at any place, also
/// again. Rows stay in memory up to the limit; beyond it those go that the spool has committed, of
/// any run, then those of runs that have ended, then (with a lossless stream that still needs them)
/// the maker waits, else the oldest become a gap. Small messages stay. A message read twice has the
/// same bytes. A block of more than two messages is copied piece by piece, so that a message on its
/// way keeps little memory; smaller ones are shared.
class RunLog
{
public:
    RunLog(std::string run, std::shared_ptr<HoldLimit> limit);
    ~RunLog();

    const std::string& run() const;

    // --- by the maker, one thread ---
    void begin(const trace::RunHeader& header, PlannedRows planned);
    void beginSample(trace::SampleIndex index, const trace::Sample& sample,
                     std::span<const trace::Token> prompt);
    void addTokens(trace::SampleIndex sample, std::uint32_t first,
                   std::span<const trace::Token> tokens);
    /// Cuts the block into messages. Waits as described above, until `stop`: then Cancelled.
    Result<void> addRows(std::shared_ptr<const trace::RowBlock> block, const std::stop_token& stop);
    /// The next `count` rows, which committed() has given or will give a source for: a log that is
    /// made again after a restart gets the messages that addRows() made of such a block.
    void addStoredRows(std::size_t count);
    void addEvent(const trace::Event& event);
    void endSample(trace::SampleIndex sample, const std::string& stopReason,
                   const std::string& prediction);
    void finish(const trace::Environment& closing);
    void breakOff(std::string_view state, const std::string& sentence);
    /// Rows below `rows` can be had from `source` from now on.
    void committed(trace::RowIndex rows, std::shared_ptr<RowSource> source);
    /// Called (by the maker's thread) after every message, without a lock held.
    void onGrowth(std::function<void()> grown);

    // --- by readers, any thread ---
    std::uint64_t size() const; ///< messages so far
    bool closed() const;        ///< no more will come
    trace::RowIndex rows() const;
    /// The run's, null before begin().
    std::shared_ptr<const trace::RunHeader> header() const;
    double secondsWaited() const; ///< that the maker waited for a stream
    bool waiting() const;         ///< the maker waits now
    /// Message `sequence` < size(); what cannot be had any more comes as `gap` (its `to` says where
    /// to go on).
    Result<Packed> read(std::uint64_t sequence, const ValueChoice& values) const;
    Result<LogMessage> take(std::uint64_t sequence, const ValueChoice& values) const;
    /// Whether read() needs nothing but memory.
    bool isHeld(std::uint64_t sequence) const;

    /// A lossless reader's place: messages below `received` are no longer needed by it, those below
    /// `handed` have been given to the transport. The first call makes the reader known; release()
    /// forgets it.
    void keepFor(std::uint64_t reader, std::uint64_t received, std::uint64_t handed);
    void release(std::uint64_t reader);

private:
    class State;
    std::shared_ptr<State> m_state;
};

/// The sink of a run that is published: every call becomes messages of the log.
class RunPublisher : public trace::RunSink
{
public:
    /// `header` is the run's own.
    RunPublisher(std::shared_ptr<RunLog> log, const trace::RunHeader& header, PlannedRows planned,
                 std::stop_token stop);

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& promptTokens) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    Result<void> append(trace::RowBlock block) override;
    /// The same without a copy, for a caller that keeps the block too.
    Result<void> append(std::shared_ptr<const trace::RowBlock> block);
    Result<void> addEvent(const trace::Event& event) override;
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;

private:
    std::shared_ptr<RunLog> m_log;
    std::stop_token m_stop;
    std::vector<std::uint32_t> m_tokens; ///< of each sample so far
};

} // namespace moire::wire
