// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_SUMS_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_SUMS_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_SUMS_INL_H
#endif

#include "core/numeric/element_widen_inl.h"

// The striped sums of any finite block in fp64.
HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

/// The striped fp64 sums of doubleLanes stripes, in registers. Products of two values are exact in
/// fp64, so the fused multiply-add gives what a multiplication and an addition give; d² is not
/// exact and is added apart.
class StripeSums
{
public:
    HWY_INLINE StripeSums(const ElementStripes& stripes, std::size_t begin)
        : m_sumAbs(hn::Load(DoubleTag(), stripes.sumAbs + begin))
        , m_sumSquares(hn::Load(DoubleTag(), stripes.sumSquares + begin))
        , m_rr(hn::Load(DoubleTag(), stripes.referenceSquares + begin))
        , m_tt(hn::Load(DoubleTag(), stripes.targetSquares + begin))
        , m_rt(hn::Load(DoubleTag(), stripes.dot + begin))
    {}
    HWY_INLINE void add(hn::Vec<FloatTag> reference, hn::Vec<FloatTag> target,
                        hn::Vec<DoubleTag>& largest)
    {
        const DoubleTag d;
        const auto r = hn::PromoteTo(d, reference);
        const auto t = hn::PromoteTo(d, target);
        const auto difference = hn::Sub(t, r);
        const auto magnitude = hn::Abs(difference);
        largest = hn::Max(largest, magnitude);
        m_sumAbs = hn::Add(m_sumAbs, magnitude);
        m_sumSquares = hn::Add(m_sumSquares, hn::Mul(difference, difference));
        m_rr = hn::MulAdd(r, r, m_rr);
        m_tt = hn::MulAdd(t, t, m_tt);
        m_rt = hn::MulAdd(r, t, m_rt);
        keepInRegisters(m_sumAbs, m_sumSquares, m_rr, m_tt, m_rt);
    }
    HWY_INLINE void store(ElementStripes& stripes, std::size_t begin) const
    {
        const DoubleTag d;
        hn::Store(m_sumAbs, d, stripes.sumAbs + begin);
        hn::Store(m_sumSquares, d, stripes.sumSquares + begin);
        hn::Store(m_rr, d, stripes.referenceSquares + begin);
        hn::Store(m_tt, d, stripes.targetSquares + begin);
        hn::Store(m_rt, d, stripes.dot + begin);
    }

private:
    hn::Vec<DoubleTag> m_sumAbs, m_sumSquares, m_rr, m_tt, m_rt;
};

/// A line of each side, of a block to come: memory works while this one is summed, across the
/// border of a page too.
template <class L>
HWY_INLINE void prefetch(const typename L::Word* reference, const typename L::Word* target)
{
    constexpr std::size_t ahead = 4096 / sizeof(typename L::Word);
    __builtin_prefetch(reference + ahead);
    __builtin_prefetch(target + ahead);
}

template <class L>
void sumDifferences(const typename L::Word* reference, const typename L::Word* target,
                    std::size_t count, ElementStripes& stripes, double& maxAbs)
{
    const DoubleTag d;
    auto largest = hn::Zero(d);
    for (std::size_t begin = 0; begin < elementStripes; begin += 2 * doubleLanes) {
        StripeSums low(stripes, begin);
        StripeSums high(stripes, begin + doubleLanes);
        for (std::size_t i = begin; i < count; i += elementStripes) {
            if (begin == 0)
                prefetch<L>(reference + i, target + i);
            const FloatPair r = widenTwo(L{}, reference + i);
            const FloatPair t = widenTwo(L{}, target + i);
            low.add(r.low, t.low, largest);
            high.add(r.high, t.high, largest);
        }
        low.store(stripes, begin);
        high.store(stripes, begin + doubleLanes);
    }
    maxAbs = hn::GetLane(hn::MaxOfLanes(d, largest));
}

/// The same where all bits are equal: every difference is zero and one product serves three sums.
template <class L>
void sumEqual(const typename L::Word* values, std::size_t count, ElementStripes& stripes)
{
    const DoubleTag d;
    for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
        auto rr = hn::Load(d, stripes.referenceSquares + begin);
        auto tt = hn::Load(d, stripes.targetSquares + begin);
        auto rt = hn::Load(d, stripes.dot + begin);
        for (std::size_t i = begin; i < count; i += elementStripes) {
            const auto v = hn::PromoteTo(d, widen(L{}, values + i));
            const auto square = hn::Mul(v, v);
            rr = hn::Add(square, rr);
            tt = hn::Add(square, tt);
            rt = hn::Add(square, rt);
        }
        hn::Store(rr, d, stripes.referenceSquares + begin);
        hn::Store(tt, d, stripes.targetSquares + begin);
        hn::Store(rt, d, stripes.dot + begin);
    }
}
} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
