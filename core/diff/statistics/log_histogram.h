// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace moire::diff::statistics {

/// Counts magnitudes in fixed bins, the same in every run, so that histograms of parts add up.
/// Exact zeros have a bin of their own. Any other value falls into the bin of its nearest fp32's
/// sign-free upper 15 bits: 128 bins an octave, each at most 1/128 = 0.79 % wide down to 2⁻¹²⁶
/// (wider below; all that is too small for fp32 is in the first of them).
class LogHistogram
{
public:
    static constexpr std::size_t bins = 32642; ///< the last one: infinite in fp32

    static std::size_t binOf(double magnitude)
    {
        if (magnitude == 0)
            return 0;
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::fabs(magnitude)));
        return 1 + (bits >> 16U);
    }
    /// The magnitudes of a bin: lower end (in it) and upper end (not in it).
    static double lowerEnd(std::size_t bin);

    void add(double magnitude, std::uint64_t count = 1) { addToBin(binOf(magnitude), count); }
    void addToBin(std::size_t bin, std::uint64_t count)
    {
        if (m_counts.empty())
            m_counts.resize(bins);
        m_counts[bin] += count;
        m_total += count;
    }
    void merge(const LogHistogram& other);
    /// Takes counts away that were merged before.
    void remove(const LogHistogram& other);

    std::uint64_t total() const { return m_total; }
    std::uint64_t count(std::size_t bin) const { return m_counts.empty() ? 0 : m_counts[bin]; }
    /// The smallest value whose bin holds the ⌈q · total⌉-th smallest one (at least the first), as
    /// the middle of that bin: off by at most 0.4 % of itself. Nothing when nothing was counted.
    std::optional<double> quantile(double q) const;

private:
    std::vector<std::uint64_t> m_counts; ///< empty until something is added
    std::uint64_t m_total = 0;
};

} // namespace moire::diff::statistics
