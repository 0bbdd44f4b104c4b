// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/measure.h"
#include "core/diff/statistics/log_histogram.h"
#include "core/trace/run.h"

#include <cstddef>
#include <vector>

namespace moire::diff {

/// How the elements of a tap pair differ, one by one, over many rows. Counts in fixed bins: parts
/// add up to the same whatever their order.
struct ElementHistograms
{
    statistics::LogHistogram absolute; ///< |t − r|, of elements finite on both sides
    statistics::LogHistogram ulps;     ///< of one dtype; pairs with a NaN left out

    void merge(const ElementHistograms& other);
    /// Takes parts away that were merged before.
    void remove(const ElementHistograms& other);
};

/// Counts a row of a tap pair of floats. Reads values: both runs must hold them. Errors: what the
/// runs say.
Result<void> countElements(const trace::Run& reference, const trace::Run& target,
                           const RowPair& rows, const TapPair& taps, ElementHistograms& counts);

/// Adds the quantiles over single elements to B2 and A4 as `elements_50_percent`, … 90, 95, 99,
/// 99.9: the middle of the bin that the quantile falls into, off by at most 0.4 % of itself.
/// Nothing where nothing was counted, or the measure has no value.
void addElementQuantiles(const ElementHistograms& counts, std::vector<Measure>& measures);

} // namespace moire::diff
