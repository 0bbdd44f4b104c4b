// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_WORDS_INL_H
#endif

#include "core/numeric/element_widen_inl.h"

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

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

/// Sums of unsigned words that may be as large as the word, at most elementChunk of them: modulo
/// the word, and of the high halves, which tell how often it overflowed (what they leave out fits
/// one word).
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
