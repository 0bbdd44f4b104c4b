// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_log_state.h"

#include "core/wire/protocol.h"
#include "core/wire/row_frames.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace moire::wire {

namespace {

/// Room may also come from other logs, which do not tell.
constexpr std::chrono::milliseconds lookAgain{2};
/// A block of at most so many messages is shared, a larger one copied piece by piece.
constexpr std::size_t sharedMessages = 2;

std::size_t rowBytesOf(const trace::RunHeader& header)
{
    std::size_t bytes = 0;
    for (const RowFrame& frame : rowFramesOf(header, {}))
        bytes += frame.rowBytes;
    return bytes;
}

/// Rows [begin, end) of a block as one of their own.
std::shared_ptr<const trace::RowBlock> pieceOf(const trace::RunHeader& header,
                                               const trace::RowBlock& block, std::size_t begin,
                                               std::size_t end)
{
    auto piece = std::make_shared<trace::RowBlock>();
    piece->rows.assign(block.rows.begin() + static_cast<std::ptrdiff_t>(begin),
                       block.rows.begin() + static_cast<std::ptrdiff_t>(end));
    piece->values.resize(block.values.size());
    piece->routing.resize(block.routing.size());
    for (const RowFrame& frame : rowFramesOf(header, {}))
        if (frame.kind != frame::rows)
            setBytes(*piece, frame,
                     bytesOf(block, frame)
                         .subspan(begin * frame.rowBytes, (end - begin) * frame.rowBytes));
    return piece;
}

} // namespace

RunLog::State::State(std::string name, std::shared_ptr<HoldLimit> limit)
    : run(std::move(name))
    , m_limit(std::move(limit))
{}

RunLog::State::~State()
{
    for (const Held& held : m_held)
        m_limit->held -= held.bytes;
}

void RunLog::State::begin(const trace::RunHeader& header, PlannedRows planned)
{
    {
        const std::lock_guard lock(m_mutex);
        m_header = std::make_shared<const trace::RunHeader>(header);
        m_rowBytes = rowBytesOf(header);
        m_rowsPerMessage = rowsPerMessage(header, {});
    }
    add(packBegin({run, size()}, header, planned));
}

void RunLog::State::add(Packed small, bool last)
{
    {
        const std::lock_guard lock(m_mutex);
        m_entries.push_back({std::make_shared<const Packed>(std::move(small)), 0, none, 0, 0});
        m_closed = m_closed || last;
    }
    tellGrowth();
}

Result<void> RunLog::State::addRows(std::shared_ptr<const trace::RowBlock> block,
                                    const std::stop_token& stop)
{
    assert(m_header);
    if (auto checked = trace::checkBlock(*m_header, *block); !checked)
        return checked;
    const std::size_t count = block->rows.size();
    if (count <= sharedMessages * m_rowsPerMessage)
        return count == 0 ? Result<void>() : addPiece(std::move(block), stop);
    for (std::size_t begin = 0; begin < count; begin += m_rowsPerMessage) {
        const std::size_t end = std::min(count, begin + m_rowsPerMessage);
        if (auto added = addPiece(pieceOf(*m_header, *block, begin, end), stop); !added)
            return added;
    }
    return {};
}

Result<void> RunLog::State::addPiece(std::shared_ptr<const trace::RowBlock> block,
                                     const std::stop_token& stop)
{
    const std::size_t count = block->rows.size();
    const std::size_t bytes = count * m_rowBytes;
    const auto room = makeRoom(bytes, stop);
    if (!room)
        return room.error();
    {
        const std::lock_guard lock(m_mutex);
        appendRowsLocked(count, *room ? m_firstHeld + m_held.size() : none);
        if (*room)
            m_held.push_back({std::move(block), bytes, m_entries.size(), m_rows});
    }
    tellGrowth();
    return {};
}

void RunLog::State::addStoredRows(std::size_t count)
{
    {
        const std::lock_guard lock(m_mutex);
        appendRowsLocked(count, none);
    }
    tellGrowth();
}

void RunLog::State::appendRowsLocked(std::size_t count, std::uint64_t block)
{
    for (std::size_t begin = 0; begin < count; begin += m_rowsPerMessage) {
        const std::size_t rows = std::min(m_rowsPerMessage, count - begin);
        m_entries.push_back({nullptr, m_rows, block, static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(rows)});
        m_rows += rows;
    }
}

/// Gives up the oldest block, if it can be had from the spool or ends below that message.
bool RunLog::State::dropFrontLocked(std::uint64_t belowMessage)
{
    if (m_held.empty())
        return false;
    const Held& front = m_held.front();
    if (front.endRow > m_committed && front.endMessage > belowMessage)
        return false;
    m_limit->held -= front.bytes;
    m_held.pop_front();
    ++m_firstHeld;
    return true;
}

bool RunLog::State::reserveLocked(std::size_t bytes, std::uint64_t belowMessage)
{
    while (!m_limit->reserve(bytes))
        if (!dropFrontLocked(belowMessage))
            return false;
    return true;
}

void RunLog::State::giveUp(Rows which, std::size_t wanted)
{
    const std::lock_guard lock(m_mutex);
    if (which == Rows::Finished && !m_closed)
        return;
    const std::uint64_t below = which == Rows::Finished ? leastReceivedLocked() : 0;
    while (m_limit->isShort(wanted) && dropFrontLocked(below)) {
    }
}

Result<bool> RunLog::State::makeRoom(std::size_t bytes, const std::stop_token& stop)
{
    if (m_limit->reserve(bytes))
        return true;
    {
        const std::lock_guard lock(m_mutex);
        if (reserveLocked(bytes, 0))
            return true;
    }
    m_limit->askOthers(*this, Rows::Committed, bytes);
    m_limit->askOthers(*this, Rows::Finished, bytes);
    {
        const std::lock_guard lock(m_mutex);
        if (reserveLocked(bytes, leastReceivedLocked()))
            return true;
        if (m_readers.empty())
            return false;
    }
    return waitForRoom(bytes, stop);
}

Result<bool> RunLog::State::waitForRoom(std::size_t bytes, const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    m_waiting = true;
    m_waitBegan = m_progress = Clock::now();
    Result<bool> room = false;
    while (!m_readers.empty()) {
        const bool patient = Clock::now() - m_progress < m_limit->patience;
        if (reserveLocked(bytes, patient ? leastReceivedLocked() : leastHandedLocked())) {
            room = true;
            break;
        }
        if (stop.stop_requested()) {
            room = Error{Errc::Cancelled, "stopped while it waited for a client", run, {}};
            break;
        }
        lock.unlock();
        m_limit->askOthers(*this, Rows::Committed, bytes);
        m_limit->askOthers(*this, Rows::Finished, bytes);
        lock.lock();
        m_changed.wait_for(lock, lookAgain);
    }
    // The last reader has gone.
    if (room && !*room)
        room = reserveLocked(bytes, none);
    m_waiting = false;
    m_waited += Clock::now() - m_waitBegan;
    return room;
}

std::uint64_t RunLog::State::leastReceivedLocked() const
{
    std::uint64_t least = none;
    for (const auto& [reader, place] : m_readers)
        least = std::min(least, place.received);
    return least;
}

std::uint64_t RunLog::State::leastHandedLocked() const
{
    std::uint64_t least = none;
    for (const auto& [reader, place] : m_readers)
        least = std::min(least, place.handed);
    return least;
}

void RunLog::State::committed(trace::RowIndex rows, std::shared_ptr<RowSource> source)
{
    {
        const std::lock_guard lock(m_mutex);
        m_committed = std::max(m_committed, rows);
        m_source = std::move(source);
    }
    m_changed.notify_all();
}

void RunLog::State::onGrowth(std::function<void()> grown)
{
    const std::lock_guard lock(m_mutex);
    m_grown = std::make_shared<const std::function<void()>>(std::move(grown));
}

void RunLog::State::tellGrowth() const
{
    std::shared_ptr<const std::function<void()>> grown;
    {
        const std::lock_guard lock(m_mutex);
        grown = m_grown;
    }
    if (grown && *grown)
        (*grown)();
}

std::uint64_t RunLog::State::size() const
{
    const std::lock_guard lock(m_mutex);
    return m_entries.size();
}

bool RunLog::State::closed() const
{
    const std::lock_guard lock(m_mutex);
    return m_closed;
}

trace::RowIndex RunLog::State::rows() const
{
    const std::lock_guard lock(m_mutex);
    return m_rows;
}

std::shared_ptr<const trace::RunHeader> RunLog::State::header() const
{
    const std::lock_guard lock(m_mutex);
    return m_header;
}

double RunLog::State::secondsWaited() const
{
    const std::lock_guard lock(m_mutex);
    const auto now = m_waiting ? Clock::now() - m_waitBegan : Clock::duration{};
    return std::chrono::duration<double>(m_waited + now).count();
}

bool RunLog::State::waiting() const
{
    const std::lock_guard lock(m_mutex);
    return m_waiting;
}

bool RunLog::State::heldLocked(const Entry& entry) const
{
    return entry.small || (entry.block != none && entry.block >= m_firstHeld);
}

bool RunLog::State::storedLocked(const Entry& entry) const
{
    return m_source && entry.first + entry.count <= m_committed;
}

bool RunLog::State::isHeld(std::uint64_t sequence) const
{
    const std::lock_guard lock(m_mutex);
    return sequence < m_entries.size() && heldLocked(m_entries[sequence]);
}

/// As far as rows follow each other that cannot be had.
LogMessage RunLog::State::gapLocked(std::uint64_t sequence) const
{
    Gap gap{sequence, sequence, m_entries[sequence].first, 0,
            "the daemon had no memory left for these rows, and they were not in its spool"};
    while (gap.to < m_entries.size() && !heldLocked(m_entries[gap.to])
           && !storedLocked(m_entries[gap.to]))
        gap.rows += m_entries[gap.to++].count;
    return {packGap(run, gap), gap.to};
}

Result<LogMessage> RunLog::State::take(std::uint64_t sequence, const ValueChoice& values) const
{
    std::unique_lock lock(m_mutex);
    if (sequence >= m_entries.size())
        return Error{
            Errc::NotFound, "the run has no message " + std::to_string(sequence) + " yet", run, {}};
    const Entry entry = m_entries[sequence];
    if (entry.small)
        return LogMessage{*entry.small, sequence + 1};
    const auto header = m_header;
    if (heldLocked(entry)) {
        const auto block = m_held[entry.block - m_firstHeld].block;
        lock.unlock();
        return LogMessage{packRows({run, sequence}, *header, block, entry.begin,
                                   std::size_t{entry.begin} + entry.count,
                                   entry.first - entry.begin, values),
                          sequence + 1};
    }
    if (!storedLocked(entry))
        return gapLocked(sequence);
    const auto source = m_source;
    lock.unlock();
    auto block = source->rows(entry.first, entry.count);
    if (block)
        if (auto checked = trace::checkBlock(*header, *block); !checked)
            block = checked.error();
    if (!block || block->rows.size() != entry.count) {
        const std::string sentence =
            block ? "the spool gave another number of rows" : block.error().sentence;
        return LogMessage{
            packGap(run, {sequence, sequence + 1, entry.first, entry.count, sentence}),
            sequence + 1};
    }
    return LogMessage{packRows({run, sequence}, *header,
                               std::make_shared<const trace::RowBlock>(*std::move(block)), 0,
                               entry.count, entry.first, values),
                      sequence + 1};
}

void RunLog::State::keepFor(std::uint64_t reader, std::uint64_t received, std::uint64_t handed)
{
    bool awaited = false;
    {
        const std::lock_guard lock(m_mutex);
        m_readers[reader] = {received, std::max(received, handed)};
        m_progress = Clock::now();
        awaited = m_waiting;
    }
    if (awaited) // or else this would cost every message a call of the system
        m_changed.notify_all();
}

void RunLog::State::release(std::uint64_t reader)
{
    {
        const std::lock_guard lock(m_mutex);
        m_readers.erase(reader);
    }
    m_changed.notify_all();
}

} // namespace moire::wire
