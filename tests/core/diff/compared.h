// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/comparison.h"
#include "tests/core/diff/plain_run.h"

#include <string>
#include <string_view>
#include <vector>

namespace moire::diff::test {

/// Builds both runs and compares them; fails the process where that is an error.
Report compared(const PlainRun& reference, const PlainRun& target, unsigned threads = 1,
                const ComparisonOptions& options = {}, const AlignmentOptions& alignment = {});

/// The measure of that id; fails the process when there is none.
const Measure& measureOf(const std::vector<Measure>& measures, std::string_view id);

/// "" when the measure has that value to within `relative`, else what it has instead.
std::string mismatch(const Measure& measure, long double value, double relative = 1e-9);

} // namespace moire::diff::test
