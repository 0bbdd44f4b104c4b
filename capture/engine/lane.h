// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace moire::capture {

/// Rows that a sample has, at most: T + N − 1 with T tokens in and N generated, scored as a
/// response or still to arrive, T when N is 0.
std::uint64_t rowsOf(const Prompt& prompt, const RunOptions& options);

/// One sample on its way through the model: which tokens the next pass takes, what it may still
/// generate, and why it ended. Knows nothing of tensors.
class Lane
{
public:
    Lane(const Prompt& prompt, const RunOptions& options, trace::SampleIndex sample,
         std::uint32_t batchSlot);

    trace::SampleIndex sample() const { return m_sample; }
    bool done() const { return m_fed == m_rows && !m_open; }

    /// Whether all that the next pass needs is known: false while the token after its last row is
    /// still to arrive.
    bool ready() const;
    /// Tokens of the response have arrived; with `ended` these are all.
    void take(std::span<const std::int32_t> ids, bool ended);

    /// "length", "end", or "" for a sample that was only scored.
    const std::string& stopReason() const { return m_stopReason; }

    /// The tokens of the next pass, and its rows.
    std::span<const std::int32_t> nextIds() const;
    std::vector<trace::Row> nextRows() const;
    /// The token after each of these rows, −1 where none is known yet.
    std::vector<std::int32_t> nextTargets() const;
    /// True when the next pass's last row decides the next token.
    bool generatesNext() const;

    /// The pass is over; `generated` is the token that its last row chose, −1 when generatesNext()
    /// was false.
    void advance(std::int32_t generated, const std::vector<std::int32_t>& endTokens);

private:
    std::size_t passEnd() const { return std::min(wholePassEnd(), m_rows); }
    std::size_t wholePassEnd() const;
    bool isFree() const { return m_maxNew > 0; }

    trace::SampleIndex m_sample;
    std::uint32_t m_batchSlot;
    std::vector<std::int32_t> m_ids;
    std::size_t m_promptLength;
    std::size_t m_given; ///< tokens known from the start; the model goes on by itself after them
    std::size_t m_firstPass; ///< tokens that come before those one by one
    std::size_t m_chunk;     ///< at most so many of them a pass; 0: all
    std::size_t m_fed = 0;   ///< tokens that the model has seen = rows recorded
    std::size_t m_rows;      ///< where it ends, as far as is known
    bool m_open;             ///< more of the response may arrive
    std::uint32_t m_maxNew;
    bool m_ignoreEnd;
    std::uint32_t m_step = 0;
    std::string m_stopReason;
};

} // namespace moire::capture
