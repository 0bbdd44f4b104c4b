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

/// The element that stands for a site of differing values: a difference of class first, then the
/// largest |Δ|, then the lowest index whose bits differ. Fills element, values, bits and ulps.
void fillElement(const trace::Run& reference, const trace::Run& target, const RowPair& row,
                 const TapPair& tap, std::uint32_t element, Divergence& divergence);

} // namespace moire::diff
