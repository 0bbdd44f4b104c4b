// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/row_record.h"
#include "core/numeric/top_k.h"

#include <optional>
#include <span>

namespace moire::diff {

/// One side's ranking of a row: its best tokens, at least the largest of topKSizes where there are
/// that many, and the whole row or nothing (then the list is all that is known).
struct RankedSide
{
    std::span<const numeric::Ranked> top; ///< best first, ties by ascending id
    std::span<const float> all;
    std::optional<double> logSumExp;

    /// A token's logit, where it is known.
    std::optional<float> valueOf(std::int32_t id) const;
};

/// The mass that E11's sets hold.
inline constexpr double nucleusMass = 0.9;

/// Fills record.ranking, see METRICS.md, E5, E7, E8, E10 and E11. Needs record.referenceNext and
/// targetNext. Sums are fp64 in rank order.
void addRankings(const RankedSide& reference, const RankedSide& target, LogitsRecord& record);

/// Fills record.spread from two whole rows and the reference's ranking; needs record.sums and
/// centredSquares. Sums are fp64 in element order.
void addSpread(const RankedSide& reference, std::span<const float> target, LogitsRecord& record);

} // namespace moire::diff
