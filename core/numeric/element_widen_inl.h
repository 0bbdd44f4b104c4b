// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_WIDEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_WIDEN_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_WIDEN_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_WIDEN_INL_H
#endif

#include "core/numeric/element_kernel.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::CappedTag<double, 8>;
using FloatTag = hn::Rebind<float, DoubleTag>;
inline constexpr std::size_t doubleLanes = hn::MaxLanes(DoubleTag());

/// What the integer pass needs of a dtype. Magnitudes are compared as signed integers.
template <class Bits, Bits Infinity, Bits SmallestNormal>
struct Layout
{
    using Word = Bits;
    using Tag = hn::CappedTag<Bits, elementStripes>;
    using SignedTag = hn::RebindToSigned<Tag>;
    using Signed = hn::TFromD<SignedTag>;
    static constexpr Signed infinity = Infinity;
    static constexpr Signed smallestNormal = SmallestNormal;
    static constexpr std::size_t lanes = hn::MaxLanes(Tag());
    static constexpr int signBit = sizeof(Bits) * 8 - 1;
};
struct Bf16Layout : Layout<std::uint16_t, 0x7F80, 0x0080>
{
};
struct Fp16Layout : Layout<std::uint16_t, 0x7C00, 0x0400>
{
};
struct Fp32Layout : Layout<std::uint32_t, 0x7F800000, 0x00800000>
{
};

HWY_INLINE hn::Vec<FloatTag> widen(Fp32Layout, const std::uint32_t* bits)
{
    return hn::BitCast(FloatTag(), hn::LoadU(hn::RebindToUnsigned<FloatTag>(), bits));
}

HWY_INLINE hn::Vec<FloatTag> widen(Bf16Layout, const std::uint16_t* bits)
{
    const hn::Rebind<std::uint16_t, FloatTag> narrow;
    const hn::RebindToUnsigned<FloatTag> wide;
    const auto words = hn::PromoteTo(wide, hn::LoadU(narrow, bits));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(words));
}

/// Finite values only: one exact multiplication sets the exponent's bias right.
HWY_INLINE hn::Vec<FloatTag> widen(Fp16Layout, const std::uint16_t* bits)
{
    const FloatTag d;
    const hn::Rebind<std::uint16_t, FloatTag> narrow;
    const hn::RebindToUnsigned<FloatTag> wide;
    const auto words = hn::PromoteTo(wide, hn::LoadU(narrow, bits));
    const auto magnitude = hn::And(words, hn::Set(wide, 0x7FFFU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(words, magnitude));
    const auto small = hn::BitCast(d, hn::ShiftLeft<13>(magnitude));
    return hn::BitCast(d, hn::Or(hn::BitCast(wide, hn::Mul(small, hn::Set(d, 0x1p112F))), sign));
}

/// Two vectors of neighbours.
struct FloatPair
{
    hn::Vec<FloatTag> low, high;
};

template <class L>
HWY_INLINE FloatPair widenTwo(L layout, const typename L::Word* bits)
{
    return {widen(layout, bits), widen(layout, bits + doubleLanes)};
}

#if HWY_TARGET == HWY_AVX2
/// Zeros below each word: one step in place of two.
HWY_INLINE FloatPair widenTwo(Bf16Layout, const std::uint16_t* bits)
{
    const hn::FixedTag<std::uint16_t, 8> d;
    const auto words = hn::LoadU(d, bits);
    return {hn::BitCast(FloatTag(), hn::InterleaveLower(d, hn::Zero(d), words)),
            hn::BitCast(FloatTag(), hn::InterleaveUpper(d, hn::Zero(d), words))};
}
#endif

using ShortTag = hn::CappedTag<float, elementStripes>;
inline constexpr std::size_t shortLanes = hn::MaxLanes(ShortTag());

HWY_INLINE hn::Vec<ShortTag> widenShort(Bf16Layout, const std::uint16_t* bits)
{
#if HWY_TARGET == HWY_AVX2
    // One shuffle of eight words that a load has put into both halves.
    alignas(32) static constexpr std::int8_t place[32] = {
        -1, -1, 0, 1, -1, -1, 2,  3,  -1, -1, 4,  5,  -1, -1, 6,  7,
        -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15};
    const __m256i words =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bits)));
    const __m256i places = _mm256_load_si256(reinterpret_cast<const __m256i*>(place));
    return hn::Vec<ShortTag>{_mm256_castsi256_ps(_mm256_shuffle_epi8(words, places))};
#else
    const hn::RebindToUnsigned<ShortTag> wide;
    const hn::Rebind<std::uint16_t, ShortTag> narrow;
    return hn::BitCast(ShortTag(), hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(narrow, bits))));
#endif
}

/// Finite values only, as above.
HWY_INLINE hn::Vec<ShortTag> widenShort(Fp16Layout, const std::uint16_t* bits)
{
    const ShortTag d;
    const hn::RebindToUnsigned<ShortTag> wide;
    const hn::Rebind<std::uint16_t, ShortTag> narrow;
    const auto words = hn::PromoteTo(wide, hn::LoadU(narrow, bits));
    const auto magnitude = hn::And(words, hn::Set(wide, 0x7FFFU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(words, magnitude));
    const auto small = hn::BitCast(d, hn::ShiftLeft<13>(magnitude));
    return hn::BitCast(d, hn::Or(hn::BitCast(wide, hn::Mul(small, hn::Set(d, 0x1p112F))), sign));
}

/// Tells the compiler that these have better places than memory: one sum spilled costs a loop its
/// round trip, twice the latency of an addition.
template <class... V>
HWY_INLINE void keepInRegisters(V&... sums)
{
#if HWY_TARGET == HWY_AVX2
    (..., ([&] { asm("" : "+x"(sums.raw)); }()));
#else
    (..., static_cast<void>(sums));
#endif
}
} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
