// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/quantile.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace moire::diff::statistics {

struct TailIndex
{
    double alpha = 0; ///< P[X > x] falls as x^−alpha; small means heavy tails
    Bounds bounds;    ///< alpha · (1 ± z/√k), the asymptotic interval for independent values
    std::size_t k = 0;
};

/// Hill's estimator (1975) from the k = ⌊share · n⌋ largest values (k ≥ 2, below the number of
/// positive ones): 1/alpha = (1/k) Σ_{i≤k} ln(X₍ᵢ₎ / X₍k+1₎), X₍₁₎ the largest. Nothing when there
/// are too few values or the largest k + 1 are equal.
std::optional<TailIndex> hill(std::vector<double> values, double share,
                              double confidence = usualConfidence);

} // namespace moire::diff::statistics
