// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/decades.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace moire::report {

void RangeFinder::add(double size)
{
    constexpr double least = std::numeric_limits<float>::min();
    if (!(size >= least) || std::isinf(size))
        return;
    const int decade = static_cast<int>(std::floor(std::log10(size)));
    ++m_counts[static_cast<std::size_t>(std::clamp(decade, lowest, highest) - lowest)];
    ++m_total;
}

DecadeRange RangeFinder::range() const
{
    if (m_total == 0)
        return {};
    constexpr std::uint64_t rareBelow = 50;
    std::size_t low = 0;
    for (std::uint64_t below = m_counts[0]; below <= m_total / rareBelow;)
        below += m_counts[++low];
    std::size_t high = m_counts.size() - 1;
    while (m_counts[high] == 0)
        --high;
    DecadeRange range{lowest + static_cast<int>(low), lowest + static_cast<int>(high) + 1};
    range.low = std::max(range.low, range.high - maxDecades);
    return range;
}

std::string decadeText(int decade)
{
    return decade == 0 ? "1" : "1e" + std::to_string(decade);
}

} // namespace moire::report
