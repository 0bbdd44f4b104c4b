// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/paired_test.h"

#include "core/numeric/counter_random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

namespace moire::diff::statistics {

namespace {

/// Places of `p` from its smallest value up; equal values keep their order.
std::vector<std::size_t> ascending(std::span<const double> p)
{
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    return order;
}

/// The tolerance within which a permuted statistic equals the observed one.
constexpr double sameStatistic = 1e-12;

} // namespace

double mcNemarExact(std::uint64_t b, std::uint64_t c)
{
    const auto n = static_cast<double>(b + c);
    const std::uint64_t fewer = std::min(b, c);
    // ln of the largest term, C(n, fewer) / 2ⁿ, with compensated sums; then down by ratios.
    double logTerm = -n * std::log(2.0);
    double lost = 0;
    for (std::uint64_t i = 1; i <= fewer; ++i) {
        const auto k = static_cast<double>(i);
        const double step = std::log((n - static_cast<double>(fewer) + k) / k) - lost;
        const double next = logTerm + step;
        lost = (next - logTerm) - step;
        logTerm = next;
    }
    double term = 1;
    double sum = 1;
    for (std::uint64_t i = fewer; i > 0 && term > 0; --i) {
        const auto k = static_cast<double>(i);
        term *= k / (n - k + 1);
        sum += term;
    }
    return std::min(1.0, 2 * std::exp(logTerm) * sum);
}

std::vector<double> holm(std::span<const double> p)
{
    std::vector<double> adjusted(p.size());
    double largest = 0;
    std::size_t left = p.size();
    for (const std::size_t i : ascending(p)) {
        largest = std::max(largest, p[i] * static_cast<double>(left--));
        adjusted[i] = std::min(1.0, largest);
    }
    return adjusted;
}

std::vector<double> benjaminiHochberg(std::span<const double> p)
{
    const std::vector<std::size_t> order = ascending(p);
    std::vector<double> adjusted(p.size());
    double smallest = 1;
    for (std::size_t rank = order.size(); rank > 0; --rank) {
        const double scaled =
            p[order[rank - 1]] * static_cast<double>(order.size()) / static_cast<double>(rank);
        smallest = std::min(smallest, scaled);
        adjusted[order[rank - 1]] = smallest;
    }
    return adjusted;
}

double labelSwapTest(std::span<const Share> a, std::span<const Share> b,
                     const BootstrapOptions& options)
{
    constexpr std::uint32_t wordBits = 32;
    const auto statistic = [&](auto swapped) {
        Share first;
        Share second;
        for (std::size_t s = 0; s < a.size(); ++s) {
            const bool other = swapped(s);
            const Share& x = other ? b[s] : a[s];
            const Share& y = other ? a[s] : b[s];
            first.numerator += x.numerator;
            first.denominator += x.denominator;
            second.numerator += y.numerator;
            second.denominator += y.denominator;
        }
        return std::fabs(first.numerator / first.denominator
                         - second.numerator / second.denominator);
    };
    const double observed = statistic([](std::size_t) { return false; });
    const double bound = observed * (1 - sameStatistic);
    std::atomic<unsigned> reached{0};
    const auto work = [&](unsigned begin, unsigned end) {
        unsigned own = 0;
        for (unsigned i = begin; i < end; ++i) {
            numeric::CounterRandom random(options.seed, i);
            std::uint32_t word = 0;
            const double permuted = statistic([&](std::size_t s) {
                if (s % wordBits == 0)
                    word = random.next();
                return (word >> (s % wordBits) & 1U) != 0;
            });
            own += permuted >= bound ? 1U : 0U;
        }
        reached += own;
    };
    const unsigned workers = std::clamp(options.threads, 1U, std::max(1U, options.resamples));
    const auto edge = [&](unsigned worker) {
        return static_cast<unsigned>(std::uint64_t{options.resamples} * worker / workers);
    };
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < workers; ++i)
            others.emplace_back([&, i] { work(edge(i), edge(i + 1)); });
        work(0, edge(1));
    }
    return (1.0 + reached.load()) / (1.0 + options.resamples);
}

} // namespace moire::diff::statistics
