// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

#include <string>
#include <string_view>
#include <vector>

/// The measures of METRICS.md, one function a group. Each appends its measures over the view's
/// rows; a measure that does not apply is appended without a value and says why. All sums over rows
/// are fp64 in row order.
namespace moire::diff {

using Measures = std::vector<Measure>;

enum class Detail
{
    Short, ///< values and parameters: what one tap or one sample gets
    Full   ///< with curves, percentiles and sites
};

/// A1, A3, A4, A6, A7, B1, B2, B4, B5 of one tap pair.
void addElementMeasures(const FoldView& view, std::size_t tapPair, Detail detail,
                        Measures& measures);
/// A2, A5, A8, B3, B6 to B13, I2, C and D: over the logits.
void addLogitsMeasures(const FoldView& view, Measures& measures);
/// C but C12; short form for samples is addKl.
void addDistributionMeasures(const FoldView& view, Measures& measures);
/// B10 to B13.
void addSpreadMeasures(const FoldView& view, Measures& measures);
/// D and C12.
void addChosenTokenMeasures(const FoldView& view, Measures& measures);
/// E1 to E4, E6, E9, G7; the others of E; F.
void addTopKMeasures(const FoldView& view, Measures& measures);
void addRankingMeasures(const FoldView& view, Measures& measures);
void addMarginMeasures(const FoldView& view, Measures& measures);
/// G but G7, J and K: from tokens, predictions and the environment.
void addTokenMeasures(const FoldView& view, Measures& measures);
void addTaskMeasures(const FoldView& view, Measures& measures);
void addCostMeasures(const FoldView& view, Measures& measures);
/// H.
void addRoutingMeasures(const FoldView& view, Measures& measures);
/// I1, I3; I4 to I7.
void addLayerMeasures(const FoldView& view, Measures& measures);
void addStateMeasures(const FoldView& view, Measures& measures);
/// A9 and L; reads what the others have made.
void addStatisticsMeasures(const FoldView& view, Measures& measures);

/// Where only top-K tables were compared: what they say of B1, B2, B3, B8, C, E6 and E9, as the
/// parameters `at_least` and `at_most` of measures that stay without a value. After the others.
void addTableBounds(const FoldView& view, Measures& measures);

/// What one sample gets: A1, B2, B4, C1, E1, E3 of the logits, H1 where there are routers.
void addSampleMeasures(const FoldView& view, Measures& measures);

/// Why values could not be compared, as a whyNull.
std::string whyNoValues(const FoldView& view);
inline constexpr std::string_view whyNothingFinite = "no element is finite on both sides";
/// Why a measure from top-K tables has no value.
inline constexpr const char* whyTableMisses = "in some row a table misses what it takes";
/// Why nothing is known of the logits at all.
std::string whyNoLogits(const FoldView& view);

/// Brings measures into METRICS.md order; those of one id keep theirs.
void sortMeasures(Measures& measures);

} // namespace moire::diff
