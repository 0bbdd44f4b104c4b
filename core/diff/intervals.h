// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/comparison.h"
#include "core/diff/measures.h"

#include <cstddef>

namespace moire::diff {

/// Gives every measure of a whole comparison that is a function of sums over samples its 95 %
/// interval by the cluster bootstrap (statistics/bootstrap.h), one pass for all of them, and the
/// parameters `question_mean` (ratios: the mean over samples of each sample's own ratio) and
/// `rule_of_three` (shares that are 0 or 100 %: what the unseen may still be, from the number of
/// samples). Measures that have an interval keep it; those that get none say why. `samples`: the
/// length of every measure's bySample.
void addIntervals(std::size_t samples, const ComparisonOptions& options, Measures& measures);

/// Says of each measure that has a value and no interval why.
void explainMissingIntervals(const char* why, Measures& measures);

} // namespace moire::diff
