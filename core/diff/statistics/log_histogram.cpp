// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/log_histogram.h"

#include <algorithm>

namespace moire::diff::statistics {

double LogHistogram::lowerEnd(std::size_t bin)
{
    if (bin == 0)
        return 0;
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>((bin - 1) << 16U)));
}

void LogHistogram::merge(const LogHistogram& other)
{
    for (std::size_t bin = 0; bin < other.m_counts.size(); ++bin)
        if (other.m_counts[bin] > 0)
            addToBin(bin, other.m_counts[bin]);
}

void LogHistogram::remove(const LogHistogram& other)
{
    for (std::size_t bin = 0; bin < other.m_counts.size(); ++bin)
        m_counts[bin] -= other.m_counts[bin];
    m_total -= other.m_total;
}

std::optional<double> LogHistogram::quantile(double q) const
{
    if (m_total == 0)
        return std::nullopt;
    const auto wanted =
        static_cast<std::uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(m_total))));
    std::uint64_t seen = 0;
    std::size_t bin = 0;
    while (bin + 1 < bins && (seen += m_counts[bin]) < wanted)
        ++bin;
    if (bin == 0 || bin + 1 == bins)
        return lowerEnd(bin);
    return (lowerEnd(bin) + lowerEnd(bin + 1)) / 2;
}

} // namespace moire::diff::statistics
