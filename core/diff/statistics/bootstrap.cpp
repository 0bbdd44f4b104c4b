// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/bootstrap.h"

#include "core/numeric/counter_random.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <thread>

namespace moire::diff::statistics {

namespace {

/// Columns that are summed together: as many as stay in registers with SSE2.
constexpr std::size_t blockWidth = 8;
using Block = std::array<double, blockWidth>;

/// Columns in blocks of eight, cluster after cluster: what one resample reads in a row.
class Blocks
{
public:
    Blocks(std::span<const std::vector<double>> columns, std::size_t clusters)
        : m_clusters(clusters)
        , m_blocks((columns.size() + blockWidth - 1) / blockWidth)
        , m_values(m_blocks * clusters)
    {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            assert(columns[c].size() == clusters);
            for (std::size_t s = 0; s < clusters; ++s)
                m_values[(c / blockWidth) * clusters + s][c % blockWidth] = columns[c][s];
        }
    }
    std::size_t count() const { return m_blocks; }
    std::size_t clusters() const { return m_clusters; }

    void sum(std::size_t block, const std::vector<double>& counts, double* out) const
    {
        Block sums{};
        const Block* values = m_values.data() + block * m_clusters;
        for (std::size_t s = 0; s < m_clusters; ++s)
#pragma GCC unroll 8 // else the sums live in memory
            for (std::size_t i = 0; i < blockWidth; ++i)
                sums[i] += counts[s] * values[s][i];
        std::copy(sums.begin(), sums.end(), out);
    }

private:
    std::size_t m_clusters;
    std::size_t m_blocks;
    std::vector<Block> m_values;
};

/// How often each cluster is drawn in resample b.
void draw(std::uint64_t seed, std::size_t resample, std::vector<double>& counts)
{
    std::fill(counts.begin(), counts.end(), 0.0);
    numeric::CounterRandom random(seed, resample);
    const auto clusters = static_cast<std::uint32_t>(counts.size());
    for (std::uint32_t i = 0; i < clusters; ++i)
        counts[random.below(clusters)] += 1;
}

} // namespace

ClusterResamples::ClusterResamples(std::span<const std::vector<double>> columns,
                                   std::size_t clusters, const BootstrapOptions& options)
    : m_resamples(options.resamples)
    , m_stride((columns.size() + blockWidth - 1) / blockWidth * blockWidth)
    , m_sums(m_resamples * m_stride)
{
    const Blocks blocks(columns, clusters);
    const auto work = [&](std::size_t begin, std::size_t end) {
        std::vector<double> counts(clusters);
        for (std::size_t b = begin; b < end; ++b) {
            draw(options.seed, b, counts);
            for (std::size_t block = 0; block < blocks.count(); ++block)
                blocks.sum(block, counts, m_sums.data() + b * m_stride + block * blockWidth);
        }
    };
    const std::size_t workers =
        std::clamp<std::size_t>(options.threads, 1, std::max<std::size_t>(1, m_resamples));
    const auto edge = [&](std::size_t worker) { return m_resamples * worker / workers; };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers; ++i)
        others.emplace_back([&, i] { work(edge(i), edge(i + 1)); });
    work(0, edge(1));
}

} // namespace moire::diff::statistics
