// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/quantile.h"

namespace moire::diff::statistics {

/// The standard normal distribution: P[Z ≤ z], by erfc.
double normalBelow(double z);
/// Its inverse at 0 < p < 1, by Wichura's algorithm AS 241 (Applied Statistics 37, 1988), about 16
/// digits.
double normalQuantile(double p);

/// Wilson's score interval for `events` of `n` (n > 0), as fractions (Wilson 1927):
/// (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).
Bounds wilson(double events, double n, double confidence = usualConfidence);

/// Upper 95 % bound for the rate of what was not seen once in n trials (n > 0): 3/n, at most 1
/// (Hanley and Lippman-Hand 1983).
double ruleOfThree(double n);

} // namespace moire::diff::statistics
