// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/ranking_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace moire::diff {

namespace {

/// The bounds of B11: VeXact's for one machine, FlagScale's across vendors.
struct Allclose
{
    double rtol, atol;
};
constexpr std::array<Allclose, 2> bounds{{{1e-5, 1e-6}, {2e-3, 1e-2}}};
constexpr std::array<std::size_t, 2> gapSizes{1, 5};

/// The reference-gap loss: Σ_{i<k} (d[q_i] − d[q_{i+1}])² along the reference's ranking q and the
/// mean of (d[q_k] − d[j])² over the finite rest, by the squares about the row's mean.
double gapLoss(const RankedSide& reference, std::span<const float> target, std::size_t k,
               const LogitsRecord& record)
{
    if (reference.top.size() <= k)
        return notKnown;
    const auto difference = [&](std::size_t place) {
        const numeric::Ranked& entry = reference.top[place];
        return static_cast<double>(target[static_cast<std::size_t>(entry.id)])
               - static_cast<double>(entry.value);
    };
    const double edge = difference(k - 1);
    const auto finite =
        static_cast<double>(reference.all.size()) - static_cast<double>(record.sums.excluded);
    const double shift = record.sums.meanDifference - edge;
    double rest = record.centredSquares + finite * shift * shift;
    double steps = 0;
    for (std::size_t i = 0; i < k; ++i) {
        const double d = difference(i);
        rest -= (d - edge) * (d - edge);
        if (i + 1 < k)
            steps += (d - difference(i + 1)) * (d - difference(i + 1));
    }
    const double others = finite - static_cast<double>(k);
    // NaN where one of the best is not finite on a side.
    if (!(others > 0) || !std::isfinite(rest))
        return notKnown;
    return (steps + std::max(0.0, rest) / others) / static_cast<double>(k);
}

/// What of a row's elements the loop keeps.
struct Extremes
{
    double largest = -std::numeric_limits<double>::infinity();
    double smallest = std::numeric_limits<double>::infinity();
    double largestOfOthers = -std::numeric_limits<double>::infinity(); ///< without the best
};

void countOutside(float a, float b, double d, SpreadRecord& out)
{
    if (a == b || (std::isnan(a) && std::isnan(b)))
        return;
    for (std::size_t i = 0; i < bounds.size(); ++i)
        out.outside[i] +=
            std::fabs(d) <= bounds[i].atol + bounds[i].rtol * std::fabs(static_cast<double>(a))
                ? 0U
                : 1U;
}

void countCrowd(double below, SpreadRecord& out)
{
    if (below <= crowdWidths.back())
        for (std::size_t i = 0; i < crowdWidths.size(); ++i)
            out.crowd[i] += below <= crowdWidths[i] ? 1U : 0U;
}

} // namespace

void addSpread(const RankedSide& reference, std::span<const float> target, LogitsRecord& record)
{
    SpreadRecord& out = record.spread;
    const std::span<const float> r = reference.all;
    const auto best = static_cast<std::size_t>(reference.top.front().id);
    const auto top = static_cast<double>(reference.top.front().value);
    Extremes extremes;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const auto a = static_cast<double>(r[i]);
        const double d = static_cast<double>(target[i]) - a;
        countOutside(r[i], target[i], d, out);
        countCrowd(top - a, out);
        if (!std::isfinite(d))
            continue;
        out.referenceSum += a;
        out.targetSum += static_cast<double>(target[i]);
        extremes.largest = std::max(extremes.largest, d);
        extremes.smallest = std::min(extremes.smallest, d);
        if (i != best)
            extremes.largestOfOthers = std::max(extremes.largestOfOthers, d);
    }
    const double own = static_cast<double>(target[best]) - top;
    if (record.sums.comparable)
        out.halfRange = (extremes.largest - extremes.smallest) / 2;
    const double slack = record.row.referenceMargin - (extremes.largestOfOthers - own);
    if (std::isfinite(slack) && record.sums.excluded == 0)
        out.slack = slack;
    for (std::size_t i = 0; i < gapSizes.size(); ++i) {
        const double loss = gapLoss(reference, target, gapSizes[i], record);
        if (std::isfinite(loss))
            out.gapLoss[i] = loss;
    }
}

} // namespace moire::diff
