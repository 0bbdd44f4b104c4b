// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

namespace moire::diff::statistics {

/// Both ends of an interval, low ≤ high.
struct Bounds
{
    double low = 0;
    double high = 0;
};

/// The share of intervals that hold what they estimate.
inline constexpr double usualConfidence = 0.95;

/// Linear interpolation between order statistics at fraction q (0 … 1) of ascending values (not
/// empty), as NumPy's default.
double quantile(const std::vector<double>& sorted, double q);

/// The middle `confidence` of the values, by quantile(). Values that are not finite are left out;
/// nothing when none is left.
std::optional<Bounds> middle(std::vector<double> values, double confidence = usualConfidence);

} // namespace moire::diff::statistics
