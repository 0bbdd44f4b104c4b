// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/tail_index.h"

#include "core/diff/statistics/proportion.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace moire::diff::statistics {

std::optional<TailIndex> hill(std::vector<double> values, double share, double confidence)
{
    const auto k = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    std::sort(values.begin(), values.end(), std::greater<>());
    if (k < 2 || k >= values.size() || !(values[k] > 0))
        return std::nullopt;
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i)
        sum += std::log(values[i] / values[k]);
    if (!(sum > 0) || !std::isfinite(sum))
        return std::nullopt;
    const auto count = static_cast<double>(k);
    const double alpha = count / sum;
    const double reach = alpha * normalQuantile((1 + confidence) / 2) / std::sqrt(count);
    return TailIndex{alpha, {std::max(0.0, alpha - reach), alpha + reach}, k};
}

} // namespace moire::diff::statistics
