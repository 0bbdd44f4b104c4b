// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_receiver.h"

#include "core/wire/protocol.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

Error outOfOrder(const std::string& what)
{
    return {Errc::Damaged, "the daemon's messages do not follow each other: " + what, {}, {}};
}

std::string rowsText(trace::RowIndex first, std::uint64_t count)
{
    return count == 1
               ? "row " + std::to_string(first)
               : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

std::string messagesText(const Gap& gap)
{
    return "messages " + std::to_string(gap.from) + " to " + std::to_string(gap.to - 1);
}

constexpr std::uint64_t mostRows = std::numeric_limits<std::int64_t>::max();

} // namespace

RunReceiver::RunReceiver(SinkMaker maker)
    : m_maker(std::move(maker))
{}

RunReceiver::~RunReceiver() = default;

Result<void> RunReceiver::take(const Message& message)
{
    if (m_ending != Ending::None)
        return outOfOrder("one came behind the last");
    const auto place = placeOf(message);
    if (!place)
        return place.error();
    if (place->sequence != m_next)
        return outOfOrder("number " + std::to_string(place->sequence) + " came instead of "
                          + std::to_string(m_next));
    if (m_begin && place->run != m_run)
        return outOfOrder("one of another run came");
    try {
        auto read = readRunMessage(message, m_begin ? &m_begin->header : nullptr);
        if (!read)
            return read.error();
        // A run may also end before it began.
        if (!m_begin && !std::holds_alternative<Begin>(*read)
            && !std::holds_alternative<Broken>(*read))
            return outOfOrder("the first one is missing");
        m_run = place->run;
        m_next = place->sequence + 1;
        return std::visit([this](auto& content) { return takeIn(content); }, *read);
    } catch (const std::exception& exception) {
        return Error{Errc::Internal,
                     std::string("cannot take a message: ") + exception.what(),
                     {},
                     "Memory may have run out"};
    }
}

Result<void> RunReceiver::takeIn(Begin& begin)
{
    if (m_begin)
        return outOfOrder("a run began twice");
    auto sink = m_maker(begin.header, begin.planned);
    if (!sink)
        return sink.error();
    m_sink = *std::move(sink);
    m_begin = std::move(begin);
    return {};
}

Result<void> RunReceiver::takeIn(SampleBegin& sample)
{
    if (trace::indexOf(sample.index) != m_tokens.size())
        return outOfOrder("sample " + std::to_string(trace::indexOf(sample.index))
                          + " began instead of " + std::to_string(m_tokens.size()));
    const auto begun = m_sink->beginSample(sample.sample, sample.prompt);
    if (!begun)
        return begun.error();
    m_tokens.push_back(sample.prompt.size());
    return {};
}

Result<void> RunReceiver::knownSample(trace::SampleIndex sample) const
{
    if (trace::indexOf(sample) < m_tokens.size())
        return {};
    return outOfOrder("sample " + std::to_string(trace::indexOf(sample)) + " has not begun");
}

Result<void> RunReceiver::takeIn(TokensAdded& added)
{
    if (auto known = knownSample(added.sample); !known)
        return known;
    std::size_t& count = m_tokens[trace::indexOf(added.sample)];
    if (added.first != count)
        return outOfOrder("the token at position " + std::to_string(added.first)
                          + " came instead of " + std::to_string(count));
    count += added.tokens.size();
    return m_sink->addTokens(added.sample, added.tokens);
}

Result<void> RunReceiver::takeIn(RowsAdded& added)
{
    if (m_afterGap && added.first > m_nextRow)
        if (auto told = missRows(added.first - m_nextRow); !told)
            return told;
    m_afterGap = false;
    if (added.first != m_nextRow)
        return outOfOrder("row " + std::to_string(added.first) + " came instead of "
                          + std::to_string(m_nextRow));
    for (const trace::Row& row : added.block.rows)
        if (auto known = knownSample(row.sample); !known)
            return known;
    const std::size_t count = added.block.rows.size();
    if (auto appended = m_sink->append(std::move(added.block)); !appended)
        return appended;
    m_nextRow += count;
    m_rows += count;
    return {};
}

/// The sink numbers its rows without those that are missing.
trace::RowIndex RunReceiver::rowInSink(trace::RowIndex row) const
{
    std::uint64_t missing = 0;
    for (const Gap& gap : m_gaps)
        if (row > gap.firstRow)
            missing += std::min(gap.rows, row - gap.firstRow);
    return row - missing;
}

Result<void> RunReceiver::takeIn(trace::Event& event)
{
    event.row = rowInSink(event.row);
    return m_sink->addEvent(event);
}

Result<void> RunReceiver::takeIn(SampleEnd& end)
{
    if (auto known = knownSample(end.sample); !known)
        return known;
    return m_sink->endSample(end.sample, end.stopReason, end.prediction);
}

Result<void> RunReceiver::takeIn(Gap& gap)
{
    if (gap.to < m_next || gap.firstRow != m_nextRow || gap.rows > mostRows - m_nextRow)
        return outOfOrder("a gap does not lie where it says");
    m_next = gap.to;
    m_afterGap = true;
    m_gaps.push_back({gap.from, gap.to, gap.firstRow, 0, gap.sentence});
    if (gap.rows > 0)
        return missRows(gap.rows);
    return m_sink->addEvent({m_rows, "gap", messagesText(gap) + ": " + gap.sentence});
}

/// `count` rows from the next one on belong to the last gap. Who made the gap may not have known
/// (a client that lost published messages): then the next row that comes tells.
Result<void> RunReceiver::missRows(std::uint64_t count)
{
    Gap& gap = m_gaps.back();
    const std::string what = rowsText(m_nextRow, count);
    if (gap.rows == 0)
        gap.firstRow = m_nextRow;
    gap.rows += count;
    m_nextRow += count;
    m_lostRows += count;
    return m_sink->addEvent({m_rows, "gap", what + " of the run: " + gap.sentence});
}

Result<void> RunReceiver::takeIn(Finish& finish)
{
    if (m_gaps.empty()) {
        m_ending = Ending::Finished;
        return m_sink->finish(finish.closing);
    }
    // What lacks something is not presented as whole.
    m_ending = Ending::Broken;
    m_sentence = missing();
    return {};
}

Result<void> RunReceiver::takeIn(Broken& broken)
{
    m_ending = Ending::Broken;
    m_brokenState = broken.state;
    m_sentence = broken.sentence;
    return {};
}

std::string RunReceiver::missing() const
{
    if (m_gaps.empty())
        return {};
    constexpr std::size_t named = 8; ///< a sentence with more of them is not read
    std::string text;
    for (std::size_t i = 0; i < std::min(named, m_gaps.size()); ++i) {
        const Gap& gap = m_gaps[i];
        text += i == 0 ? "" : ", ";
        text += gap.rows > 0 ? rowsText(gap.firstRow, gap.rows) : messagesText(gap);
    }
    if (m_gaps.size() > named)
        text += " and " + std::to_string(m_gaps.size() - named) + " more gaps";
    const bool one = m_gaps.size() == 1 && m_gaps.front().rows == 1;
    return text + " of the run " + (one ? "is" : "are") + " missing: " + m_gaps.front().sentence;
}

} // namespace moire::wire
