// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::numeric {

/// The 64-bit finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t z)
{
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

inline constexpr std::uint64_t digestStep = 0x9E3779B97F4A7C15ULL;

/// What element i of a row adds to the row's digest.
constexpr std::uint64_t digestTerm(std::uint64_t bits, std::uint64_t i)
{
    return mix64(bits + (i + 1) * digestStep);
}

/// Row digest of core/store/FORMAT.md: Σᵢ mix(bitsᵢ + (i+1)·step) mod 2⁶⁴, free of order.
/// `data`: `width` elements of `dtype`, any alignment.
std::uint64_t rowDigest(const std::byte* data, DType dtype, std::size_t width);

/// Digest over a sequence of 64-bit words by the same rule (roll-up over a row's tap digests).
std::uint64_t wordsDigest(const std::uint64_t* words, std::size_t count);

/// Digest over bytes by the same rule, each byte an element.
std::uint64_t bytesDigest(const std::byte* data, std::size_t size);

} // namespace moire::numeric
