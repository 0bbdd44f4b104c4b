// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::numeric {

/// What a pair of logits rows tells entry by entry beside distributions. d = t − r.
struct LogitsSpread
{
    std::uint32_t roundedEqual = 0;    ///< equal after rounding to bf16 (A2); NaNs by their bits
    std::uint32_t exponentMatched = 0; ///< finite, sign and exponent fields equal (A5)
    double mantissaDistance = 0;       ///< Σ|Δmantissa| over those, in units of the last place
    double maxRelative = 0;            ///< max |d|/(|r| + 1e-8) (B3); the 1e-8 is VeXact's
    std::uint32_t maxRelativeAt = 0;   ///< the first such entry
    double centredSquares = 0;         ///< Σ(d − mean)² over entries finite on both sides (B7)
};

/// `mean`: LogitsSums::meanDifference. Finite rows of bf16, fp16 and fp32 go through kernels, which
/// sum in the stripes of element_pair.h; exponent and mantissa are compared between equal dtypes
/// only.
LogitsSpread spreadOfLogits(const std::byte* reference, DType referenceType,
                            const std::byte* target, DType targetType, std::size_t count,
                            double mean);

/// A row in fp32, exactly for dtypes up to fp32. `out`: `count` places.
void widenToFloats(const std::byte* data, DType dtype, std::size_t count, float* out);

} // namespace moire::numeric
