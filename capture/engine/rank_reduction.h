// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/parallel_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moire::capture {

/// Elements [begin, end) of a message whose sum begins with rank `first` and goes on with the ranks
/// behind it, around to the one before it.
struct RankChunk
{
    std::size_t begin;
    std::size_t end;
    std::uint32_t first;
    friend bool operator==(const RankChunk&, const RankChunk&) = default;
};

/// What `auto` takes for a message of so many bytes: oneshot between two ranks, among up to four
/// below 512 KiB and among up to eight below 256 KiB, else twoshot. Others are what they are.
Reduction reductionFor(Reduction reduction, std::size_t messageBytes, std::uint32_t ranks);

/// Which rank the sum of each element begins with (not for the trees). seq, oneshot: rank 0.
/// twoshot: the message is cut into packs of 16 bytes, ⌊packs / ranks⌋ of them a rank, the last one
/// takes the rest; the sum begins with the owner. ring: chunks of ⌈elements / ranks⌉ rounded up to
/// whole packs; the sum of chunk c begins with rank c + 1 and ends with c. Empty chunks are left
/// out.
std::vector<RankChunk> chunksOf(Reduction reduction, std::size_t elements, std::size_t elementBytes,
                                std::uint32_t ranks);

/// The partial products of all ranks, of one shape and dtype and in rank order, put together as the
/// plan says, in `outType`. Elements are counted through the whole tensor, row by row: it is one
/// message. In fp32 with roundings to the partials' dtype as TENSOR_PARALLEL.md says. The same bits
/// on every device, since it is summed on the host.
at::Tensor reducedPartials(const ParallelPlan& plan, const std::vector<at::Tensor>& partials,
                           at::ScalarType outType);

} // namespace moire::capture
