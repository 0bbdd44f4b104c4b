// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/planned_linear.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace moire::capture {

/// In which order `ordered` sums the inner index of a linear layer, K:
/// - K is cut into blocks of `block` (the last may be shorter; 0: no blocks), the blocks into
///   `split` slices of ⌈blocks / split⌉ each (the last may have fewer, or there may be fewer
///   slices); without blocks into slices of ⌈K / split⌉.
/// - A block is one fp32 accumulator, ascending, fused; the blocks of a slice are added in
///   ascending order in fp32.
/// - A slice's sum is rounded to `partial`; the slices are put together as `combine` says
///   (device::Combine).
/// - The bias is added in fp32, then the one rounding to the layer's dtype.
/// An output depends on its row, its weights and the plan alone, whatever else is computed.
struct KPlan
{
    std::uint32_t block = 0;
    std::uint32_t split = 1;
    device::Combine combine = device::Combine::Sequential;
    numeric::DType partial = numeric::DType::FP32;

    /// "" or "block=64,split=4,combine=seq|wide|tree,partial=fp32|bf16|fp16": what is not named
    /// stays as above. Errors: Invalid (unknown or repeated key, a bad value).
    static Result<KPlan> parse(std::string_view text);

    /// One accumulator from the first input to the last.
    bool isPlain() const { return block == 0 && split == 1 && partial == numeric::DType::FP32; }
    /// As parse() takes it, every key named.
    std::string text() const;
    device::SumPlan sumOf(std::uint64_t inputs) const;

    friend bool operator==(const KPlan&, const KPlan&) = default;
};

} // namespace moire::capture
