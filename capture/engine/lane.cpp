// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/lane.h"

#include <algorithm>

namespace moire::capture {

namespace {

/// Tokens that the first pass takes (several passes when it goes in chunks). In steps it is the
/// prompt, as when decoding; a text that is scored without a response, and is no replay of a run
/// that took it whole, goes token by token from the start.
std::size_t firstPassOf(const Prompt& prompt, const RunOptions& options, std::size_t rows)
{
    const bool hasResponse = prompt.promptLength < prompt.ids.size();
    const bool once = options.construction == trace::Construction::Once;
    if (options.maxNew > 0)
        return hasResponse && !once ? prompt.promptLength : prompt.ids.size();
    if (once)
        return rows;
    return hasResponse || !prompt.sample.replaySource.empty() ? prompt.promptLength : 1;
}

} // namespace

std::uint64_t rowsOf(const Prompt& prompt, const RunOptions& options)
{
    const std::uint64_t toCome = std::uint64_t{options.maxNew} + options.liveTokens.value_or(0);
    const bool hasResponse = toCome > 0 || prompt.promptLength < prompt.ids.size();
    return prompt.ids.size() + toCome - (hasResponse ? 1 : 0);
}

Lane::Lane(const Prompt& prompt, const RunOptions& options, trace::SampleIndex sample,
           std::uint32_t batchSlot)
    : m_sample(sample)
    , m_batchSlot(batchSlot)
    , m_ids(prompt.ids)
    , m_promptLength(prompt.promptLength)
    , m_given(prompt.ids.size())
    , m_chunk(options.prefillChunk)
    , m_rows(options.liveTokens ? prompt.ids.size() : rowsOf(prompt, options))
    , m_open(options.liveTokens.has_value())
    , m_maxNew(options.maxNew)
    , m_ignoreEnd(options.ignoreEnd)
{
    m_firstPass = firstPassOf(prompt, options, m_rows);
}

bool Lane::ready() const
{
    // The row of a prompt of one token is marked as a step when another row follows it.
    const bool alone = m_fed == 0 && m_firstPass == 1;
    return !m_open || wholePassEnd() + (alone ? 1 : 0) < m_ids.size();
}

void Lane::take(std::span<const std::int32_t> ids, bool ended)
{
    m_ids.insert(m_ids.end(), ids.begin(), ids.end());
    m_rows = m_ids.size() - (m_ids.size() > m_promptLength ? 1 : 0);
    m_open = !ended;
}

std::size_t Lane::wholePassEnd() const
{
    if (m_fed >= m_firstPass)
        return m_fed + 1;
    return m_chunk > 0 ? std::min(m_fed + m_chunk, m_firstPass) : m_firstPass;
}

std::span<const std::int32_t> Lane::nextIds() const
{
    return std::span(m_ids).subspan(m_fed, passEnd() - m_fed);
}

std::vector<trace::Row> Lane::nextRows() const
{
    std::vector<trace::Row> rows(passEnd() - m_fed);
    const bool step = m_fed >= m_firstPass || (!isFree() && m_firstPass == 1 && m_rows > 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        trace::Row& row = rows[i];
        row.sample = m_sample;
        row.position = static_cast<std::uint32_t>(m_fed + i);
        row.step = m_step;
        row.batchSlot = m_batchSlot;
        row.phase = !isFree()                       ? trace::Phase::Forced
                    : row.position < m_promptLength ? trace::Phase::Prefill
                    : row.position < m_given        ? trace::Phase::Prefix
                                                    : trace::Phase::Decode;
        row.construction = step ? trace::Construction::Steps : trace::Construction::Once;
    }
    return rows;
}

std::vector<std::int32_t> Lane::nextTargets() const
{
    std::vector<std::int32_t> targets;
    for (std::size_t next = m_fed + 1; next <= passEnd(); ++next)
        targets.push_back(next < m_ids.size() ? m_ids[next] : -1);
    return targets;
}

bool Lane::generatesNext() const
{
    return isFree() && passEnd() >= m_ids.size();
}

void Lane::advance(std::int32_t generated, const std::vector<std::int32_t>& endTokens)
{
    m_fed = passEnd();
    ++m_step;
    if (generated < 0)
        return;
    m_ids.push_back(generated);
    const bool isEnd = std::find(endTokens.begin(), endTokens.end(), generated) != endTokens.end();
    if (isEnd && !m_ignoreEnd) {
        m_stopReason = "end";
        m_rows = m_fed;
    } else if (m_fed == m_rows) {
        m_stopReason = "length";
    }
}

} // namespace moire::capture
