// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/quantile.h"

#include <cstdint>
#include <optional>
#include <span>

namespace moire::diff::statistics {

/// A straight line by least squares. Sums are taken about the means, fp64, in order.
struct Line
{
    double slope = 0;
    double intercept = 0;
    double correlation = 0; ///< Pearson's r; NaN when y is constant
};
/// Nothing for fewer than two points or equal x. `x` and `y` are of one length.
std::optional<Line> lineThrough(std::span<const double> x, std::span<const double> y);

/// Pearson's correlation; nothing for fewer than two points or when a side is constant.
std::optional<double> pearson(std::span<const double> x, std::span<const double> y);

struct RobustSlope
{
    double slope = 0;
    Bounds bounds;
    bool allPairs = true; ///< every pair of points was used
};
/// Theil's slope: the median of the slopes of all pairs with different x (Theil 1950; Sen 1968),
/// with Sen's interval from Kendall's statistic, ties corrected, as scipy.stats.theilslopes. Above
/// `mostPairs` pairs, that many are drawn with replacement (CounterRandom, usual seed) and their
/// quantiles stand for those of all. Nothing when no two x differ.
inline constexpr std::uint64_t mostPairs = 2'000'000;
std::optional<RobustSlope> theilSen(std::span<const double> x, std::span<const double> y,
                                    double confidence = usualConfidence);

/// Where a sequence most looks as if its mean had changed: the place k that maximises
/// |Σ_{i≤k} (x_i − mean)|, CUSUM (Page 1954); `before` is the number of values in front of the
/// change. p by (1 + #{reached}) / (1 + shuffles) over shuffled orders.
struct ChangePoint
{
    std::size_t before = 0;
    double statistic = 0; ///< the maximum over √n · standard deviation
    double p = 1;
};
std::optional<ChangePoint> changePoint(std::span<const double> values, unsigned shuffles);

} // namespace moire::diff::statistics
