// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/workers.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::capture::device {

/// One sequence's attention: `queries` query rows over a buffer of keys and values.
/// Element (row r, head h, i) of q lies at q[r·qRowStride + h·qHeadStride + i], likewise k, v and
/// out, strides in elements; query head h reads key/value head h / (heads / kvHeads). All four have
/// `dtype`. Query row r sees the keys [keyBegin[r], keyEnd[r]): causal with a window W at position
/// p is [max(0, p + 1 − W), p + 1). Keys outside are never read, whatever the buffer holds.
struct Attention
{
    numeric::DType dtype = numeric::DType::FP32;
    std::size_t queries = 0;
    std::size_t heads = 0;
    std::size_t kvHeads = 0;
    std::size_t headDim = 0;
    const void* q = nullptr;
    std::size_t qRowStride = 0;
    std::size_t qHeadStride = 0;
    const void* k = nullptr;
    std::size_t kRowStride = 0;
    std::size_t kHeadStride = 0;
    const void* v = nullptr;
    std::size_t vRowStride = 0;
    std::size_t vHeadStride = 0;
    void* out = nullptr;
    std::size_t outRowStride = 0;
    std::size_t outHeadStride = 0;
    const std::uint32_t* keyBegin = nullptr; ///< `queries` entries
    const std::uint32_t* keyEnd = nullptr;   ///< `queries` entries, each > keyBegin
    double scale = 1.0;                      ///< rounded to fp32, not to dtype
};

/// Where it rounds to `dtype`, as transformers' eager attention does: the score q·k (one fp32
/// accumulator, ascending i), score × scale, the probability exp(s − max)/Σ (softmax in fp32 over
/// the visible keys, stripes counted from the first visible one), the output Σ p·v (one fp32
/// accumulator, keys ascending).
void attention(const Attention& job, Workers& workers);

} // namespace moire::capture::device
