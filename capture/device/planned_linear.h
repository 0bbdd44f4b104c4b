// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/ordered_linear.h"

namespace moire::capture::device {

/// How the groups of a sum are put together.
enum class Combine : std::uint8_t
{
    Sequential, ///< ascending, each sum rounded to the groups' dtype
    Wide,       ///< ascending in fp32
    Tree,       ///< neighbours first: (g0+g1)+(g2+g3), …, each sum rounded to the groups' dtype;
                ///< what has no neighbour waits for the next level
};

/// How the sum over the inner index of a matrix product is cut and put together. Leaves of `leaf`
/// inputs (the last may be shorter); a leaf is one fp32 accumulator from +0, ascending, by fused
/// multiply-add. Groups of `group` leaves (the last may have fewer).
struct SumPlan
{
    std::size_t leaf = 1;
    std::size_t group = 1;
    /// A group is one accumulator through its leaves; else each leaf is rounded to `leafType` and
    /// they are added in ascending order, each sum rounded to it.
    bool continuous = false;
    numeric::DType leafType = numeric::DType::FP32;
    numeric::DType groupType = numeric::DType::FP32; ///< that a group is rounded to
    Combine combine = Combine::Sequential;
};

/// Inputs [begin, begin + count) of a weight.
struct InputRange
{
    std::size_t begin;
    std::size_t count;
};

/// y = round(x·Wᵀ + bias) over a range of the weight's inputs, summed as planned: `rows` rows of x
/// (`inType`, `inStride` elements apart, which begin with the range's first input) to rows of y.
/// The bias is added in fp32 before the last rounding. An output depends on its row, its weights
/// and the plan alone. |error before the rounding| ≤ (γ(n) + γᵥ(r)·(1 + γ(n)))·(Σ|x·w| + |bias|)
/// with γ of fp32, n = inputs of one accumulator (leaf; leaf · group where continuous) + leaves +
/// 1; γᵥ of the narrowest dtype that partial sums are rounded to, zero for fp32, r = group + 1 +
/// (groups − 1, in a tree ⌈log₂ groups⌉) roundings on the way of a product.
void plannedLinear(const void* in, numeric::DType inType, std::size_t inStride, std::size_t rows,
                   const PackedLinear& weight, InputRange range, const SumPlan& plan, void* out,
                   numeric::DType outType, std::size_t outStride, Workers& workers);

} // namespace moire::capture::device
