// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/quantile.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace moire::diff::statistics {

/// One case of a two-class decision: a score (higher means more likely positive), what it was, and
/// the cluster it belongs to.
struct Scored
{
    double score = 0;
    bool positive = false;
    std::uint32_t cluster = 0;
};

struct Curve
{
    double area = 0;              ///< under the ROC curve; ties count one half (Mann–Whitney)
    std::optional<Bounds> bounds; ///< Obuchowski (1997): clustered, normal; needs two clusters
    double averagePrecision = 0; ///< Σ (R_i − R_{i−1}) · P_i over the distinct scores, descending
};

/// Nothing unless both classes occur. n log n.
std::optional<Curve> rocCurve(std::vector<Scored> cases, double confidence = usualConfidence);

/// Cohen's κ (1960) = (p_o − p_e) / (1 − p_e) from the counts of agreeing cases and of each class
/// on both sides (one entry a class); nothing when p_e is 1 or there is no case.
std::optional<double> cohenKappa(double agreeing, std::span<const double> reference,
                                 std::span<const double> target);

} // namespace moire::diff::statistics
