// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/trace/run.h"

namespace moire::diff {

/// Which taps of the two runs stand for each other: what the user's mapping says, then equal names,
/// then names of other engines for the same module, then fused projections against separate ones.
/// Fills alignment.taps in the reference's execution order, the lists of what is left over, and
/// remarks. A tap has at most one counterpart, or none. Errors: Invalid for a mapping that names no
/// tap, reaches beyond a tap's width, or maps two taps to one.
Result<void> matchTaps(const trace::Run& reference, const trace::Run& target,
                       const AlignmentOptions& options, Alignment& alignment);

/// What each '*' of the pattern met, shortest first, when the whole name is like it.
std::optional<std::vector<std::string>> starsOf(std::string_view pattern, std::string_view name);

} // namespace moire::diff
