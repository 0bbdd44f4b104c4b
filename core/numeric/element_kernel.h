// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/element_pair.h"

#include <cstddef>
#include <cstdint>

namespace moire::numeric {

/// Elements that the kernel takes in one go: its passes find them in the first-level cache. Their
/// sums begin at 0 and are added to the row's.
inline constexpr std::size_t elementChunk = 1024;

/// What one chunk adds to a row's sums, beside its stripes.
struct ElementChunk
{
    std::uint32_t unequal = 0;
    std::uint32_t classChanges = 0;
    std::uint32_t finite = 0;
    std::uint64_t maxUlp = 0;
    std::uint64_t sumUlp = 0;
    double maxAbs = 0;
    std::size_t firstChange = 0;  ///< of class; meaningful when there is one
    bool normal = true;           ///< every value is, on both sides
    std::size_t largestBegin = 0; ///< maxAbs is first met in [largestBegin, +largestSpan)
};

inline constexpr std::size_t largestSpan = 512;

/// Not initialised: clearStripes does it, faster than the language would.
struct ElementStripes
{
    alignas(64) double sumAbs[elementStripes];
    alignas(64) double sumSquares[elementStripes];
    alignas(64) double referenceSquares[elementStripes];
    alignas(64) double targetSquares[elementStripes];
    alignas(64) double dot[elementStripes];
    /// Of a chunk: what all values summed so far are multiples of; 0 when that is not known.
    double grid;
};
void clearStripes(ElementStripes& stripes);

/// Adds each sum's stripes as the balanced tree of element_pair.h.
void totalStripes(const ElementStripes& stripes, ElementSums& sums);

/// `count` elements, a multiple of elementStripes and at most elementChunk, of bf16, fp16 or fp32,
/// by the best instruction set. Any alignment.
ElementChunk compareChunk(const std::byte* reference, const std::byte* target, DType dtype,
                          std::size_t count, ElementStripes& stripes);

/// The first of `count` elements, a multiple of elementStripes, where |target − reference| =
/// maxAbs; `count` when there is none.
std::size_t findDifference(const std::byte* reference, const std::byte* target, DType dtype,
                           std::size_t count, double maxAbs);

} // namespace moire::numeric
