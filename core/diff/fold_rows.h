// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/element_histograms.h"
#include "core/diff/fold_view.h"
#include "core/diff/row_comparer.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

/// What the folds of core/diff have in common: how a row's record is made and shown.
namespace moire::diff {

/// Parallel to an alignment's rows; null: not compared yet.
using RowRecords = std::vector<std::shared_ptr<const RowRecord>>;

/// Compares a row into a record that keeps its sites itself.
Result<std::shared_ptr<const RowRecord>> compareAlone(RowComparer& comparer, std::size_t taps,
                                                      std::size_t row);

/// The record of a row whose taps all are equal; rows passed over share one.
std::shared_ptr<const RowRecord> equalAlone(const Alignment& alignment);

/// The tap pair of the logits whose single elements are counted; none where their values are not
/// read.
std::optional<std::size_t> countedPair(const trace::Run& reference, const trace::Run& target,
                                       const Alignment& alignment,
                                       const ComparisonOptions& options);

FoldView viewOf(const trace::Run& reference, const trace::Run& target, const Alignment& alignment,
                const ComparisonOptions& options, const RowRecords& records);

/// Fills rows, pairs, logits and routes of the report's grid, not its sites.
void describeGrid(const Alignment& alignment, const RowRecords& records, Report& report);

} // namespace moire::diff
