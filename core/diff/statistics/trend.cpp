// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/trend.h"

#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/proportion.h"
#include "core/numeric/counter_random.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace moire::diff::statistics {

namespace {

double meanOf(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

/// Sums of squares and products about the means.
struct Moments
{
    double meanX = 0, meanY = 0, xx = 0, yy = 0, xy = 0;
};

Moments momentsOf(std::span<const double> x, std::span<const double> y)
{
    Moments m{meanOf(x), meanOf(y), 0, 0, 0};
    for (std::size_t i = 0; i < x.size(); ++i) {
        m.xx += (x[i] - m.meanX) * (x[i] - m.meanX);
        m.yy += (y[i] - m.meanY) * (y[i] - m.meanY);
        m.xy += (x[i] - m.meanX) * (y[i] - m.meanY);
    }
    return m;
}

/// Σ k(k − 1)(2k + 5) over groups of k equal values.
double tieTerm(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (std::size_t i = 0; i < values.size();) {
        std::size_t end = i;
        while (end < values.size() && values[end] == values[i])
            ++end;
        const auto k = static_cast<double>(end - i);
        sum += k * (k - 1) * (2 * k + 5);
        i = end;
    }
    return sum;
}

std::vector<double> slopesOf(std::span<const double> x, std::span<const double> y, bool allPairs)
{
    std::vector<double> slopes;
    const auto add = [&](std::size_t i, std::size_t j) {
        if (x[i] != x[j])
            slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    };
    if (allPairs) {
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = i + 1; j < x.size(); ++j)
                add(i, j);
    } else {
        numeric::CounterRandom random(usualSeed, 0);
        const auto count = static_cast<std::uint32_t>(x.size());
        for (std::uint64_t pair = 0; pair < mostPairs; ++pair) {
            const std::uint32_t first = random.below(count);
            add(first, random.below(count));
        }
    }
    std::sort(slopes.begin(), slopes.end());
    return slopes;
}

/// The largest |Σ_{i≤k} (x_i − mean)| and its k.
std::pair<double, std::size_t> excursion(std::span<const double> values, double mean)
{
    double sum = 0;
    std::pair<double, std::size_t> largest{0, 0};
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += values[i] - mean;
        if (std::fabs(sum) > largest.first)
            largest = {std::fabs(sum), i + 1};
    }
    return largest;
}

} // namespace

std::optional<Line> lineThrough(std::span<const double> x, std::span<const double> y)
{
    if (x.size() < 2)
        return std::nullopt;
    const Moments m = momentsOf(x, y);
    if (!(m.xx > 0))
        return std::nullopt;
    const double slope = m.xy / m.xx;
    return Line{slope, m.meanY - slope * m.meanX, m.xy / (std::sqrt(m.xx) * std::sqrt(m.yy))};
}

std::optional<double> pearson(std::span<const double> x, std::span<const double> y)
{
    if (x.size() < 2)
        return std::nullopt;
    const Moments m = momentsOf(x, y);
    const double r = m.xy / (std::sqrt(m.xx) * std::sqrt(m.yy));
    return std::isfinite(r) ? std::optional(std::clamp(r, -1.0, 1.0)) : std::nullopt;
}

std::optional<RobustSlope> theilSen(std::span<const double> x, std::span<const double> y,
                                    double confidence)
{
    const auto n = static_cast<double>(x.size());
    const bool allPairs = n * (n - 1) / 2 <= static_cast<double>(mostPairs);
    const std::vector<double> slopes = slopesOf(x, y, allPairs);
    if (slopes.empty())
        return std::nullopt;
    RobustSlope found;
    found.allPairs = allPairs;
    found.slope = quantile(slopes, 0.5);
    constexpr double kendall = 18;
    const double variance =
        (n * (n - 1) * (2 * n + 5) - tieTerm({x.begin(), x.end()}) - tieTerm({y.begin(), y.end()}))
        / kendall;
    // Sen's equation 2.6, over the pairs there are; drawn pairs stand for all of them.
    const auto count = static_cast<double>(slopes.size());
    const double scale = allPairs ? 1 : count / (n * (n - 1) / 2);
    const double reach =
        -normalQuantile((1 - confidence) / 2) * std::sqrt(std::max(0.0, variance)) * scale;
    const double last = count - 1;
    const double low = std::clamp(std::nearbyint((count - reach) / 2) - 1, 0.0, last);
    const double high = std::clamp(std::nearbyint((count + reach) / 2), 0.0, last);
    found.bounds = {slopes[static_cast<std::size_t>(low)], slopes[static_cast<std::size_t>(high)]};
    return found;
}

std::optional<ChangePoint> changePoint(std::span<const double> values, unsigned shuffles)
{
    if (values.size() < 2)
        return std::nullopt;
    const double mean = meanOf(values);
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    if (!(squares > 0))
        return std::nullopt;
    const auto [largest, before] = excursion(values, mean);
    ChangePoint found{before, largest / std::sqrt(squares), 1};
    std::vector<double> shuffled(values.begin(), values.end());
    unsigned reached = 0;
    constexpr double sameStatistic = 1e-12;
    for (unsigned i = 0; i < shuffles; ++i) {
        numeric::CounterRandom random(usualSeed, i);
        for (std::size_t j = shuffled.size() - 1; j > 0; --j)
            std::swap(shuffled[j], shuffled[random.below(static_cast<std::uint32_t>(j + 1))]);
        reached += excursion(shuffled, mean).first >= largest * (1 - sameStatistic) ? 1U : 0U;
    }
    found.p = (1.0 + reached) / (1.0 + shuffles);
    return found;
}

} // namespace moire::diff::statistics
