// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <cmath>

namespace moire::diff::statistics {

double quantile(const std::vector<double>& sorted, double q)
{
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    if (below + 1 >= sorted.size())
        return sorted.back();
    return sorted[below]
           + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::optional<Bounds> middle(std::vector<double> values, double confidence)
{
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty())
        return std::nullopt;
    std::sort(values.begin(), values.end());
    const double tail = (1 - confidence) / 2;
    return Bounds{quantile(values, tail), quantile(values, 1 - tail)};
}

} // namespace moire::diff::statistics
