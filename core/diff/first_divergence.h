// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

namespace moire::diff {

/// The first divergence of every kind over the records so far: smallest (sample, position, tap
/// order). Reads the values of the sites that it names, nothing else. Floor stays absent without a
/// repeat; tolerance is addTolerance's.
FirstDivergences findFirst(const FoldView& view);

/// Judges the tolerance, where there is one: outcomes, first.tolerance, the profile's name.
void addTolerance(const FoldView& view, Report& report);

/// The flip class of first.argmax, by the bound that F4 was counted with.
void nameFlip(const FoldView& view, Report& report);

} // namespace moire::diff
