// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

namespace moire::diff {

/// What a report says of one run, whatever the other is.
RunSummary summaryOf(const trace::Run& run);

/// The fields that differ and are not incidental, those of the reference first.
std::vector<EnvironmentDifference> environmentDifferences(const trace::Environment& reference,
                                                          const trace::Environment& target);

/// The report over the records of `view`, except for the grid of sites and logits, which its maker
/// copies in.
Report buildReport(const FoldView& view);

/// The sentence of the verdict and the exit status, from a report that is otherwise whole.
void addVerdict(const FoldView& view, Report& report);

} // namespace moire::diff
