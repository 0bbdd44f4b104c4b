// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/row_summary.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define MOIRE_HOST_DEVICE __host__ __device__
#else
#define MOIRE_HOST_DEVICE
#endif

namespace moire::capture::device {

/// Lanes that share a row.
inline constexpr unsigned rowLanes = 32;

/// The arithmetic that host and device share, line by line: what one lane knows of its row.
struct LaneFold
{
    std::uint64_t digest;
    double sum;
    double squares;
    std::int32_t minKey; ///< fp32 bits as a monotone integer
    std::int32_t maxKey;
    std::uint32_t finite;
    std::uint32_t nan;
    std::uint32_t infinite;
};

MOIRE_HOST_DEVICE inline std::uint64_t digestTermOf(std::uint64_t bits, std::uint64_t i)
{
    std::uint64_t z = bits + (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

MOIRE_HOST_DEVICE inline float floatOfBits(std::uint32_t bits)
{
    return __builtin_bit_cast(float,
                              bits); // std::bit_cast is not a device function to every compiler
}

/// fp32 bits of a 16-bit value; fp16 subnormals become normal numbers.
MOIRE_HOST_DEVICE inline std::uint32_t widenBits(std::uint16_t bits, bool half)
{
    if (!half)
        return static_cast<std::uint32_t>(bits) << 16U;
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude >= 0x7C00U)
        return sign | 0x7F800000U | magnitude << 13U;
    const float scaled = floatOfBits(magnitude << 13U) * 0x1p112F;
    return sign | __builtin_bit_cast(std::uint32_t, scaled);
}

MOIRE_HOST_DEVICE inline LaneFold emptyFold()
{
    return {0, 0.0, 0.0, 0x7FFFFFFF, -0x7FFFFFFF - 1, 0, 0, 0};
}

/// `bits`: the element's own, `wide`: its value as fp32 bits.
MOIRE_HOST_DEVICE inline void addElement(LaneFold& fold, std::uint64_t bits, std::uint32_t wide,
                                         std::uint64_t i)
{
    fold.digest += digestTermOf(bits, i);
    const std::uint32_t magnitude = wide & 0x7FFFFFFFU;
    if (magnitude >= 0x7F800000U) {
        ++(magnitude > 0x7F800000U ? fold.nan : fold.infinite);
        return;
    }
    ++fold.finite;
    const auto value = static_cast<double>(floatOfBits(wide));
    fold.sum += value;
    fold.squares += value * value;
    const auto word = static_cast<std::int32_t>(wide);
    const std::int32_t key = word < 0 ? word ^ 0x7FFFFFFF : word;
    fold.minKey = key < fold.minKey ? key : fold.minKey;
    fold.maxKey = key > fold.maxKey ? key : fold.maxKey;
}

MOIRE_HOST_DEVICE inline void mergeFolds(LaneFold& into, const LaneFold& from)
{
    into.digest += from.digest;
    into.sum += from.sum;
    into.squares += from.squares;
    into.minKey = from.minKey < into.minKey ? from.minKey : into.minKey;
    into.maxKey = from.maxKey > into.maxKey ? from.maxKey : into.maxKey;
    into.finite += from.finite;
    into.nan += from.nan;
    into.infinite += from.infinite;
}

MOIRE_HOST_DEVICE inline float floatOfKey(std::int32_t key)
{
    return floatOfBits(static_cast<std::uint32_t>(key < 0 ? key ^ 0x7FFFFFFF : key));
}

MOIRE_HOST_DEVICE inline RowSummary summaryOf(const LaneFold& fold)
{
    RowSummary summary;
    summary.digest = fold.digest;
    summary.finite = fold.finite;
    summary.nan = fold.nan;
    summary.infinite = fold.infinite;
    if (fold.finite == 0) {
        summary.min = summary.max = summary.mean = summary.l2 = floatOfBits(0x7FC00000U);
        return summary;
    }
    summary.min = floatOfKey(fold.minKey);
    summary.max = floatOfKey(fold.maxKey);
    summary.mean = static_cast<float>(fold.sum / fold.finite);
    summary.l2 = static_cast<float>(sqrt(fold.squares));
    return summary;
}

/// What lane `lane` makes of a row. `Word`: std::uint16_t or std::uint32_t.
template <class Word>
MOIRE_HOST_DEVICE inline LaneFold foldLane(const Word* row, std::size_t width, unsigned lane,
                                           bool half)
{
    LaneFold fold = emptyFold();
    for (std::size_t i = lane; i < width; i += rowLanes) {
        const Word bits = row[i];
        const std::uint32_t wide = sizeof(Word) == 4
                                       ? static_cast<std::uint32_t>(bits)
                                       : widenBits(static_cast<std::uint16_t>(bits), half);
        addElement(fold, bits, wide, i);
    }
    return fold;
}

} // namespace moire::capture::device
