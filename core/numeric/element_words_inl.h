// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
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
    alignas(32) static constexpr std::int8_t place[32] = {-1, -1, 0,  1,  -1, -1, 2,  3,  -1, -1, 4,
                                                          5,  -1, -1, 6,  7,  -1, -1, 8,  9,  -1, -1,
                                                          10, 11, -1, -1, 12, 13, -1, -1, 14, 15};
    const __m256i words = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(bits)));
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

/// Folds the lanes of an integer vector by halves, once a chunk.
template <class D, class Fold>
HWY_INLINE hn::TFromD<D> overLanes(D d, hn::Vec<D> v, const Fold& fold)
{
    constexpr std::size_t half = hn::MaxLanes(d) / 2;
    if constexpr (half == 0) {
        return hn::GetLane(v);
    } else {
        const hn::CappedTag<hn::TFromD<D>, half> h;
        HWY_ALIGN hn::TFromD<D> lane[hn::MaxLanes(d)];
        hn::Store(v, d, lane);
        return overLanes(h, fold(hn::LoadU(h, lane), hn::LoadU(h, lane + half)), fold);
    }
}

/// The sum must fit the word.
template <class D>
HWY_INLINE std::uint64_t smallSumOfLanes(D d, hn::Vec<D> v)
{
    return static_cast<std::uint64_t>(
        overLanes(d, v, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); }));
}

template <class D>
HWY_INLINE std::uint64_t sumOfLanes(D d, hn::Vec<D> v)
{
    HWY_ALIGN hn::TFromD<D> lane[hn::MaxLanes(d)];
    hn::Store(v, d, lane);
    std::uint64_t sum = 0;
    for (const auto one : lane)
        sum += static_cast<std::uint64_t>(one);
    return sum;
}

template <class D>
HWY_INLINE std::uint64_t largestLane(D d, hn::Vec<D> v)
{
    return static_cast<std::uint64_t>(
        overLanes(d, v, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); }));
}

template <class D>
HWY_INLINE std::uint64_t smallestLane(D d, hn::Vec<D> v)
{
    return static_cast<std::uint64_t>(
        overLanes(d, v, [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); }));
}

/// Sums of unsigned words that may be as large as the word, at most elementChunk of them: modulo the
/// word, and of the high halves, which tell how often it overflowed (what they leave out fits one
/// word).
template <class D>
struct WideSum
{
    hn::Vec<D> low, high;
    static constexpr int half = sizeof(hn::TFromD<D>) * 4;

    // Written out: an implicit constructor would not be compiled for the target.
    HWY_INLINE WideSum()
        : low(hn::Zero(D()))
        , high(hn::Zero(D()))
    {}
    HWY_INLINE void add(hn::Vec<D> words)
    {
        low = hn::Add(low, words);
        high = hn::Add(high, hn::ShiftRight<half>(words));
        keepInRegisters(low, high);
    }
    HWY_INLINE std::uint64_t total() const
    {
        const auto rest = hn::Sub(low, hn::ShiftLeft<half>(high));
        return sumOfLanes(D(), rest) + (sumOfLanes(D(), high) << half);
    }
};

/// The same in fewer steps.
template <class D, bool sixteenBits = sizeof(hn::TFromD<D>) == 2>
class DistanceSum : public WideSum<D>
{
public:
    // Written out, as above.
    HWY_INLINE DistanceSum()
        : WideSum<D>()
    {}
};

/// Two neighbours times 1 are added by one instruction, which takes signed words: less 2¹⁵ each.
template <class D>
class DistanceSum<D, true>
{
public:
    HWY_INLINE DistanceSum()
        : m_first(hn::Zero(Pairs()))
        , m_second(hn::Zero(Pairs()))
        , m_words(0)
    {}
    HWY_INLINE void add(hn::Vec<D> words)
    {
        const auto less = hn::BitCast(S(), hn::Xor(words, hn::Set(D(), 0x8000)));
        m_first = hn::ReorderWidenMulAccumulate(Pairs(), less, hn::Set(S(), 1), m_first, m_second);
        m_words += hn::MaxLanes(D());
        keepInRegisters(m_first);
    }
    HWY_INLINE std::uint64_t total() const
    {
        return sumOfLanes(Pairs(), m_first) + sumOfLanes(Pairs(), m_second) + (m_words << 15U);
    }

private:
    using S = hn::RebindToSigned<D>;
    using Pairs = hn::RepartitionToWide<S>;
    hn::Vec<Pairs> m_first, m_second;
    std::uint64_t m_words;
};

/// One vector of a pair as integers.
template <class L>
struct WordPair
{
    using D = typename L::Tag;
    using S = typename L::SignedTag;
    hn::Vec<D> r, t;
    hn::Vec<S> rMagnitude, tMagnitude;

    HWY_INLINE WordPair(const typename L::Word* reference, const typename L::Word* target)
        : r(hn::LoadU(D(), reference))
        , t(hn::LoadU(D(), target))
        , rMagnitude(magnitude(r))
        , tMagnitude(magnitude(t))
    {}
    HWY_INLINE static hn::Vec<S> magnitude(hn::Vec<D> bits)
    {
        constexpr auto mask =
            static_cast<typename L::Word>((typename L::Word{1} << L::signBit) - 1);
        return hn::BitCast(S(), hn::And(bits, hn::Set(D(), mask)));
    }
    HWY_INLINE static hn::Vec<S> key(hn::Vec<D> bits, hn::Vec<S> m)
    {
        const auto sign = hn::ShiftRight<L::signBit>(hn::BitCast(S(), bits));
        return hn::Sub(hn::Xor(m, sign), sign);
    }
    /// All ones where the bits are equal.
    HWY_INLINE hn::Vec<S> equal() const
    {
        return hn::VecFromMask(S(), hn::Eq(hn::BitCast(S(), r), hn::BitCast(S(), t)));
    }
    /// |key − key|, which fits the unsigned word.
    HWY_INLINE hn::Vec<D> ulps() const
    {
        const auto a = key(r, rMagnitude);
        const auto b = key(t, tMagnitude);
        return hn::BitCast(D(), hn::Sub(hn::Max(a, b), hn::Min(a, b)));
    }
};

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
