// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::capture::device {

/// Digest, value classes and statistics of one row, as a capture records them.
struct RowSummary
{
    std::uint64_t digest = 0; ///< numeric::rowDigest
    std::uint32_t finite = 0;
    std::uint32_t nan = 0;
    std::uint32_t infinite = 0;
    float min = 0; ///< over finite values, −0 below +0; NaN when there is none
    float max = 0;
    float mean = 0;
    float l2 = 0;
};

/// The host's twin of the device kernel, the same bits: element i goes to lane i mod 32, each lane
/// adds its values and their (exact) squares in fp64 in ascending i, the lanes are added 0+16,
/// 1+17, …, 0+8, …, 0+4, …, 0+2, …, 0+1; mean and L2 are rounded once to fp32 (L2 is infinite
/// beyond its range). Relative error of the sums ≤ (⌈n/32⌉ + 5)·2⁻⁵³ of the sum of magnitudes.
/// `rows`: `count` rows of `width` elements of bf16, fp16 or fp32, `strideBytes` apart.
void summariseRows(const void* rows, numeric::DType dtype, std::size_t count, std::size_t width,
                   std::size_t strideBytes, RowSummary* out);

/// The same on a GPU: `rows` and `out` are device memory, `stream` a cudaStream_t or hipStream_t;
/// the call only queues. Built when MOIRE_GPU is cuda or hip: compiled, not run, in the project's
/// own checks. Returns the runtime's error number, 0 = queued.
int queueRowSummaries(const void* rows, numeric::DType dtype, std::size_t count, std::size_t width,
                      std::size_t strideBytes, RowSummary* out, void* stream);

} // namespace moire::capture::device
