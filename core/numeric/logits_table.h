// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/logits_kernel.h"
#include "core/numeric/logits_pair.h"

#include <cstdint>
#include <vector>

/// Pairs of rows of bf16 or fp16, whose few values have e^x in a table. In the terms of
/// logits_pair.h, with P = e^r, Q = e^(t − centre), y = t − r − centre and Δ = Q − P:
/// KL(p‖q) = E_p[Δ/P − y] − G + ln(1 + G), G = ΣΔ/ΣP, and so on. Where |y| is small Δ and Δ − P·y
/// would cancel: there they come from the series of expm1. Same stripes, same bits for every
/// instruction set.
namespace moire::numeric {

/// About the logarithm of ΣQ/ΣP (to a thousandth of itself or 1e-6 in common cases), centre 0, from
/// fp32. Also the largest element of every chunk of either row, into count / logitsChunk places,
/// rounded up: meaningful for finite rows.
double guessLogGrowth(const LogitsRows& rows, float* referencePeaks, float* targetPeaks);

struct TableRequest
{
    const double* table = nullptr; ///< of the rows' dtype, see exp_table.h
    float centre = 0;
    double scale = 1;     ///< e^−centre
    double threshold = 0; ///< for the sums over y > threshold
    float reach = 0;      ///< elements of |y − threshold| ≤ reach are listed
};

struct TableSums
{
    double weight = 0;               ///< ΣP
    double growth = 0;               ///< ΣΔ
    double excess = 0;               ///< Σ(Δ − P·y)
    double joint = 0;                ///< ΣΔ·y
    double aboveWeight = 0;          ///< ΣP over y > threshold
    double aboveGrowth = 0;          ///< ΣΔ over y > threshold
    std::vector<std::uint32_t> near; ///< elements within reach of the threshold, ascending
};
/// Sums that are not numbers: a value of the rows is not finite, or out of the table's range.
void sumByTable(const LogitsRows& rows, const TableRequest& request, TableSums& sums);

/// Δ of one element as sumByTable takes it, from e^r, e^t and y.
double growthByTable(double weight, double grown, double y, const TableRequest& request);

/// The KLs, total variation and log-sum-exps of two rows of one 16-bit dtype; fills `peaks` in any
/// case. False, and nothing set, when the rows are out of this form's reach: not finite, largest
/// logits beyond −60 … 80, log-sum-exps more than ln 16 apart, or a difference that is all but
/// constant.
bool compareByTable(const LogitsRows& rows, LogitsSums& sums, LogitsPeaks& peaks);

} // namespace moire::numeric
