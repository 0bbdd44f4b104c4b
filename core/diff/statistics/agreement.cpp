// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/agreement.h"

#include "core/diff/statistics/proportion.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace moire::diff::statistics {

namespace {

/// A cluster's cases and the sum of their placements: for a positive the share of negatives below
/// it, for a negative the share of positives above it.
struct Placements
{
    double positives = 0, negatives = 0, above = 0, below = 0;
};

/// Obuchowski's variance of the area.
double clusteredVariance(const std::map<std::uint32_t, Placements>& clusters, double area,
                         double positives, double negatives)
{
    double s10 = 0;
    double s01 = 0;
    double s11 = 0;
    double withPositives = 0;
    double withNegatives = 0;
    for (const auto& [id, c] : clusters) {
        const double up = c.above - c.positives * area;
        const double down = c.below - c.negatives * area;
        s10 += up * up;
        s01 += down * down;
        s11 += up * down;
        withPositives += c.positives > 0 ? 1 : 0;
        withNegatives += c.negatives > 0 ? 1 : 0;
    }
    const auto all = static_cast<double>(clusters.size());
    return withPositives / (withPositives - 1) * s10 / (positives * positives)
           + withNegatives / (withNegatives - 1) * s01 / (negatives * negatives)
           + 2 * all / (all - 1) * s11 / (positives * negatives);
}

} // namespace

std::optional<Curve> rocCurve(std::vector<Scored> cases, double confidence)
{
    const auto positives = static_cast<double>(
        std::count_if(cases.begin(), cases.end(), [](const Scored& c) { return c.positive; }));
    const double negatives = static_cast<double>(cases.size()) - positives;
    if (positives == 0 || negatives == 0)
        return std::nullopt;
    std::sort(cases.begin(), cases.end(),
              [](const Scored& a, const Scored& b) { return a.score > b.score; });
    Curve curve;
    std::map<std::uint32_t, Placements> clusters;
    double seenPositives = 0;
    double seenNegatives = 0;
    for (std::size_t i = 0; i < cases.size();) {
        std::size_t end = i;
        double here = 0;
        for (; end < cases.size() && cases[end].score == cases[i].score; ++end)
            here += cases[end].positive ? 1 : 0;
        const double others = static_cast<double>(end - i) - here;
        const double above = (negatives - seenNegatives - others / 2) / negatives;
        const double below = (seenPositives + here / 2) / positives;
        for (; i < end; ++i) {
            Placements& cluster = clusters[cases[i].cluster];
            (cases[i].positive ? cluster.positives : cluster.negatives) += 1;
            (cases[i].positive ? cluster.above : cluster.below) +=
                cases[i].positive ? above : below;
        }
        curve.area += here * above;
        seenPositives += here;
        seenNegatives += others;
        curve.averagePrecision +=
            here / positives * seenPositives / (seenPositives + seenNegatives);
    }
    curve.area /= positives;
    const double variance = clusteredVariance(clusters, curve.area, positives, negatives);
    if (std::isfinite(variance)) {
        const double reach =
            normalQuantile((1 + confidence) / 2) * std::sqrt(std::max(0.0, variance));
        curve.bounds = Bounds{std::max(0.0, curve.area - reach), std::min(1.0, curve.area + reach)};
    }
    return curve;
}

std::optional<double> cohenKappa(double agreeing, std::span<const double> reference,
                                 std::span<const double> target)
{
    double n = 0;
    double product = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        n += reference[i];
        product += reference[i] * target[i];
    }
    const double chance = product / (n * n);
    const double kappa = (agreeing / n - chance) / (1 - chance);
    return std::isfinite(kappa) ? std::optional(kappa) : std::nullopt;
}

} // namespace moire::diff::statistics
