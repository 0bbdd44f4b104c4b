// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/survival.h"

#include "core/diff/statistics/proportion.h"

#include <algorithm>
#include <cmath>

namespace moire::diff::statistics {

namespace {

constexpr double half = 0.5;
/// The product of a curve's steps may miss one half by rounding.
constexpr double rounding = 1e-12;

} // namespace

std::optional<double> SurvivalCurve::median() const
{
    for (const SurvivalStep& step : steps)
        if (step.survival <= half + rounding)
            return step.time;
    return std::nullopt;
}

double SurvivalCurve::at(double time) const
{
    double survival = 1;
    for (const SurvivalStep& step : steps) {
        if (step.time > time)
            break;
        survival = step.survival;
    }
    return survival;
}

SurvivalCurve kaplanMeier(std::vector<Duration> durations)
{
    std::sort(durations.begin(), durations.end(),
              [](const Duration& a, const Duration& b) { return a.time < b.time; });
    SurvivalCurve curve;
    double survival = 1;
    double greenwood = 0;
    for (std::size_t i = 0; i < durations.size();) {
        SurvivalStep step{durations[i].time, durations.size() - i, 0, survival, 0};
        for (; i < durations.size() && durations[i].time == step.time; ++i)
            step.events += durations[i].event ? 1 : 0;
        if (step.events == 0)
            continue;
        const auto risk = static_cast<double>(step.atRisk);
        const auto events = static_cast<double>(step.events);
        survival *= 1 - events / risk;
        if (step.events < step.atRisk)
            greenwood += events / (risk * (risk - events));
        step.survival = survival;
        step.variance = survival * survival * greenwood;
        curve.steps.push_back(step);
    }
    return curve;
}

MedianBounds medianBounds(const SurvivalCurve& curve, double confidence)
{
    const double z = normalQuantile((1 + confidence) / 2);
    MedianBounds bounds;
    for (const SurvivalStep& step : curve.steps) {
        const double s = step.survival;
        double lower = 0;
        double upper = 0;
        if (s > 0 && s < 1) {
            const double spread = z * std::sqrt(step.variance) / (s * std::fabs(std::log(s)));
            lower = std::pow(s, std::exp(spread));
            upper = std::pow(s, std::exp(-spread));
        }
        if (!bounds.low && lower <= half)
            bounds.low = step.time;
        if (!bounds.high && upper <= half)
            bounds.high = step.time;
    }
    return bounds;
}

} // namespace moire::diff::statistics
