// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstddef>
#include <stop_token>

namespace moire::diff {

struct HeadCapacityOptions
{
    std::size_t mostRows = 512; ///< taken evenly from the compared rows where there are more
    std::size_t rank = 32;
    std::size_t folds = 5; ///< of the cross-validation; whole samples, by their order
};

/// B13: how much of the logits' error E = z_r − z_t a linear map of the head's inputs H in the
/// target could remove, as a share of ‖E‖²: value any map at all, `rank_32` the best one of that
/// rank, both fitted and judged on the same rows, `held_out` and `rank_32_held_out` judged on
/// samples that the fit has not seen (below 0 where the map makes it worse). With U a basis of H's
/// columns that is the spectrum of UᵀE, taken from EEᵀ, so that memory is rows² and rows × width of
/// H, not of the vocabulary. Pivots of H below ε · max(rows, width) of the largest count as none.
/// fp64.
///
/// The measure has no value, and says why, where logits or head inputs were not recorded. Errors:
/// Cancelled; what the runs' readers say.
Result<Measure> headCapacity(const trace::Run& reference, const trace::Run& target,
                             const Report& report, const HeadCapacityOptions& options,
                             std::stop_token stop);

} // namespace moire::diff
