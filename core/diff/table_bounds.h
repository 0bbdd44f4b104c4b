// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/grid.h"
#include "core/trace/run.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace moire::diff {

/// What a number that was not recorded can be.
struct Range
{
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
};

/// What two top-K tables of a row say of the measures over the whole vocabulary (METRICS.md, "Where
/// only the best tokens were recorded"). Each low and high is over all distributions that agree
/// with both tables: a listed token has its probability, one that is not listed at most that of
/// the table's last, and all of those together the recorded remaining mass.
struct TableBounds
{
    Range forwardKl, reverseKl, chiSquare, largestLogRatio; ///< no upper bound
    Range jensenShannon, totalVariation, hellinger, probabilitySquares, probabilityChange;
    Range entropyChange;
    // Of the logits; no upper bound.
    double squares = 0;          ///< Σd²
    double largest = 0;          ///< max |d|
    double relative = 0;         ///< max |d| / (|z_r| + 1e-8)
    double weightedVariance = 0; ///< Var_p(d)
    std::uint32_t vocabulary = 0;
    std::uint32_t rankAtLeast = 0; ///< the target's rank of the reference's best token
    std::array<std::optional<Range>, topKSizes.size()> targetMass; ///< E9: Σ q over the best K of r
};

/// Nothing where a logit of a table or its log-sum-exp is not finite, or a table is empty. Sums are
/// fp64 in the order of ids. Rounding can move a bound by 1e-14 of what is summed.
std::optional<TableBounds> boundsOf(const trace::TopKView& reference,
                                    const trace::LogitsInfo& referenceInfo,
                                    const trace::TopKView& target,
                                    const trace::LogitsInfo& targetInfo);

} // namespace moire::diff
