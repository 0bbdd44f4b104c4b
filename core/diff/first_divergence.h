// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

namespace moire::diff {

/// The first divergence of every kind over the records so far: smallest (sample, position, tap
/// order). Reads the values of the sites that it names, nothing else. Tolerance and floor stay
/// absent: no criterion was given.
FirstDivergences findFirst(const FoldView& view);

} // namespace moire::diff
