// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/row_record.h"
#include "core/numeric/logits_pair.h"
#include "core/numeric/top_k.h"
#include "core/trace/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace moire::diff {

/// A full-vocabulary row of logits.
struct FullLogits
{
    const std::byte* data;
    numeric::DType dtype;
    std::uint32_t width;
};

/// A recorded top-K table and the precision of its values.
struct TopKTable
{
    trace::TopKView view;
    numeric::DType dtype;
};

/// Everything of `record` that values can tell. Both rows have the same width. `claimed`: the
/// reference's next token, −1 when it is not a response token. Ranking is by the values widened or
/// rounded to fp32, ties by ascending id; sums are fp64 in element order. With
/// LogitsDetail::Divergences what families B, D and F need besides rankings is left out.
void compareFullLogits(const FullLogits& reference, const FullLogits& target, std::int32_t claimed,
                       numeric::LogitsDetail detail, LogitsRecord& record);

/// What two top-K tables tell exactly: sets, orders, margins, best tokens; masses, ranks and gaps
/// where the ids stand in the other side's table. No distribution measure.
void compareTopKTables(const TopKTable& reference, const TopKTable& target, std::int32_t claimed,
                       LogitsRecord& record);

/// Next tokens and, where both runs scored the same one, its log-probabilities.
void addChosenToken(const trace::Run& reference, const trace::Run& target, const RowPair& pair,
                    LogitsRecord& record);

/// The row in fp32: what ranking is done by. Exact for dtypes up to fp32.
std::vector<float> asFloats(const FullLogits& logits);

/// Distance of two logits in last places of the dtype that they were recorded in; nothing for NaN
/// and for dtypes other than bf16, fp16, fp32.
std::optional<std::uint64_t> ulpsBetween(float a, float b, numeric::DType dtype);

} // namespace moire::diff
