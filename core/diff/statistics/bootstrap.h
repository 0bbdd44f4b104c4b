// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moire::diff::statistics {

/// Of every interval that Moire prints unless it says otherwise.
inline constexpr std::uint64_t usualSeed = 20260820;
inline constexpr unsigned usualResamples = 10'000;

struct BootstrapOptions
{
    unsigned resamples = usualResamples;
    std::uint64_t seed = usualSeed;
    unsigned threads = 1;
};

/// Bootstrap over whole clusters (Efron 1979; Davison and Hinkley 1997, 2.4 and 3.8): resample b
/// draws as many clusters as there are, with replacement, and sums every column over them. All
/// columns share the draws, so that a function of several columns (a ratio, the difference of two
/// targets, a slope) is resampled as a whole and comparisons are paired.
///
/// The draws of resample b are stream b of CounterRandom(seed); a sum adds count × value in
/// ascending cluster order in fp64, in which no term is fused. So every sum has the same bits on
/// every machine and at any number of threads.
class ClusterResamples
{
public:
    /// `columns`: each holds one value a cluster; all have `clusters` values (assert), fewer than
    /// 2³². Memory: 8 bytes × (columns + 7) × (clusters + resamples). Without clusters every sum
    /// is 0.
    ClusterResamples(std::span<const std::vector<double>> columns, std::size_t clusters,
                     const BootstrapOptions& options);

    std::size_t size() const { return m_resamples; }
    double sum(std::size_t resample, std::size_t column) const
    {
        return m_sums[resample * m_stride + column];
    }
    /// One number a resample: `of(sum)`, where sum(column) is that resample's sum.
    template <class Quantity>
    std::vector<double> values(Quantity of) const
    {
        std::vector<double> all(m_resamples);
        for (std::size_t b = 0; b < m_resamples; ++b)
            all[b] = of([&](std::size_t column) { return sum(b, column); });
        return all;
    }

private:
    std::size_t m_resamples;
    std::size_t m_stride;
    std::vector<double> m_sums; ///< resample-major
};

} // namespace moire::diff::statistics
