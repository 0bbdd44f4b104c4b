// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/trace/run.h"

namespace moire::diff {

/// Which samples of the two runs stand for each other: those of the same id and repeat with the
/// same prompt, then the same prompt under another id, then the same id though the prompts differ.
/// Prompts are the same when their ids are, or the bytes that these stand for. Fills
/// alignment.samples in the reference's order, what is left over, and a remark. Errors: Invalid for
/// a pattern that matches no sample of either run.
Result<void> matchSamples(const trace::Run& reference, const trace::Run& target,
                          const AlignmentOptions& options, Alignment& alignment);

} // namespace moire::diff
