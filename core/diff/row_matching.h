// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/trace/run.h"

namespace moire::diff {

/// Which rows of the sample pairs stand for each other. Fills alignment.rows, the splits and blocks
/// of alignment.samples, the counts of rows that are left over or not comparable, and remarks.
/// Errors: Invalid for a manual point that is not in the runs, or that goes back behind another.
Result<void> matchRows(const trace::Run& reference, const trace::Run& target,
                       const AlignmentOptions& options, Alignment& alignment);

} // namespace moire::diff
