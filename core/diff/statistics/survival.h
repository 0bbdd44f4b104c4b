// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/quantile.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace moire::diff::statistics {

/// How long one was watched, and whether it ended in the event or was censored there.
struct Duration
{
    double time = 0;
    bool event = false;
};

/// A step of the survival curve: from `time` on, until the next step.
struct SurvivalStep
{
    double time = 0;
    std::uint64_t atRisk = 0; ///< just before `time`
    std::uint64_t events = 0;
    double survival = 1;
    double variance = 0; ///< Greenwood's; 0 where the survival is 0
};

/// The product-limit estimate of Kaplan and Meier (1958): S(t) = Π (1 − events/atRisk) over the
/// event times up to t; what is censored at a time is at risk there. Steps in ascending time.
struct SurvivalCurve
{
    std::vector<SurvivalStep> steps;

    /// The smallest time at which the curve is at or below one half; none when it stays above.
    std::optional<double> median() const;
    double at(double time) const;
};
SurvivalCurve kaplanMeier(std::vector<Duration> durations);

/// Brookmeyer and Crowley (1982) with Greenwood's variance on the log(−log) scale, as survival's
/// survfit(conf.type = "log-log"): the times at which the bounds of the curve cross one half.
/// An end that is not reached is absent.
struct MedianBounds
{
    std::optional<double> low, high;
};
MedianBounds medianBounds(const SurvivalCurve& curve, double confidence = usualConfidence);

} // namespace moire::diff::statistics
