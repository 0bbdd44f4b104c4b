// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_PASSES_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_PASSES_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_PASSES_INL_H
#endif

#include "core/numeric/element_words_inl.h"

#include <limits>

// The passes over the words of a block as integers: what is counted, ulps and value classes.
HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

/// Smallest and largest magnitude of a block, as bits.
struct Magnitudes
{
    std::uint64_t smallest, largest;
    template <class L>
    bool normal() const
    {
        return smallest >= static_cast<std::uint64_t>(L::smallestNormal)
               && largest < static_cast<std::uint64_t>(L::infinity);
    }
};

/// |key − key| of normal values: of one sign the difference of the magnitudes, else their sum,
/// which fits the unsigned word.
template <class L>
HWY_INLINE hn::Vec<typename L::Tag> normalDistance(const WordPair<L>& pair,
                                                   hn::Vec<typename L::SignedTag> high,
                                                   hn::Vec<typename L::SignedTag> low)
{
    const typename L::Tag d;
    const typename L::SignedTag s;
#if HWY_TARGET == HWY_AVX2
    // Negated once for each sign; neither value is zero.
    using V = hn::Vec<typename L::SignedTag>;
    if constexpr (sizeof(typename L::Word) == sizeof(std::uint16_t))
        low = V{_mm256_sign_epi16(_mm256_sign_epi16(low.raw, pair.r.raw), pair.t.raw)};
    else
        low = V{_mm256_sign_epi32(_mm256_sign_epi32(low.raw, pair.r.raw), pair.t.raw)};
#else
    const auto signs = hn::ShiftRight<L::signBit>(hn::BitCast(s, hn::Xor(pair.r, pair.t)));
    low = hn::Sub(hn::Xor(low, signs), signs);
#endif
    static_cast<void>(s);
    return hn::BitCast(d, hn::Sub(high, low));
}

/// The pass over a block whose values are all normal: nothing can change class, all is finite.
/// When some value was not, `out` is worth nothing.
template <class L>
Magnitudes normalPass(const typename L::Word* reference, const typename L::Word* target,
                      std::size_t count, ElementChunk& out)
{
    const typename L::Tag d;
    const typename L::SignedTag s;
    auto smallest = hn::Set(s, L::infinity);
    auto largest = hn::Zero(s);
    auto equal = hn::Zero(s); // counts down from 0
    auto maxUlp = hn::Zero(d);
    DistanceSum<typename L::Tag> ulps;
    for (std::size_t i = 0; i < count; i += L::lanes) {
        const WordPair<L> pair(reference + i, target + i);
        const auto high = hn::Max(pair.rMagnitude, pair.tMagnitude);
        const auto low = hn::Min(pair.rMagnitude, pair.tMagnitude);
        smallest = hn::Min(smallest, low);
        largest = hn::Max(largest, high);
        equal = hn::Add(equal, pair.equal());
        const auto distance = normalDistance<L>(pair, high, low);
        maxUlp = hn::Max(maxUlp, distance);
        ulps.add(distance);
        keepInRegisters(smallest, largest, equal, maxUlp);
    }
    out.finite = static_cast<std::uint32_t>(count);
    out.unequal = static_cast<std::uint32_t>(count - smallSumOfLanes(s, hn::Neg(equal)));
    out.maxUlp = largestLane(d, maxUlp);
    out.sumUlp = ulps.total();
    return {smallestLane(s, smallest), largestLane(s, largest)};
}

/// The same where all bits are equal.
template <class L>
Magnitudes normalEqualPass(const typename L::Word* values, std::size_t count, ElementChunk& out)
{
    const typename L::Tag d;
    const typename L::SignedTag s;
    auto smallest = hn::Set(s, L::infinity);
    auto largest = hn::Zero(s);
    for (std::size_t i = 0; i < count; i += L::lanes) {
        const auto magnitude = WordPair<L>::magnitude(hn::LoadU(d, values + i));
        smallest = hn::Min(smallest, magnitude);
        largest = hn::Max(largest, magnitude);
    }
    out.finite = static_cast<std::uint32_t>(count);
    return {smallestLane(s, smallest), largestLane(s, largest)};
}

/// The place of a magnitude among the value classes: 0 zero, −1 subnormal, −2 normal, −3 infinite,
/// −4 NaN (the masks are all ones, so their sum counts the bounds reached).
template <class L>
HWY_INLINE hn::Vec<typename L::SignedTag> classOfMagnitude(hn::Vec<typename L::SignedTag> magnitude)
{
    const typename L::SignedTag s;
    const auto above = [&](typename L::Signed bound) {
        return hn::VecFromMask(s, hn::Gt(magnitude, hn::Set(s, bound)));
    };
    return hn::Add(
        hn::Add(above(0), above(static_cast<typename L::Signed>(L::smallestNormal - 1))),
        hn::Add(above(static_cast<typename L::Signed>(L::infinity - 1)), above(L::infinity)));
}

/// The pass over any chunk. Copies the words to finiteReference, finiteTarget, zero where a pair is
/// not finite on both sides: zeros change none of the sums.
template <class L>
void generalPass(const typename L::Word* reference, const typename L::Word* target,
                 std::size_t count, ElementChunk& out, typename L::Word* finiteReference,
                 typename L::Word* finiteTarget)
{
    using D = typename L::Tag;
    const D d;
    const typename L::SignedTag s;
    const auto infinity = hn::Set(s, L::infinity);
    auto equalCount = hn::Zero(s); // the three count down from 0
    auto changeCount = hn::Zero(s);
    auto finiteCount = hn::Zero(s);
    const auto beyond = hn::Set(s, std::numeric_limits<typename L::Signed>::max());
    auto firstChange = beyond;
    auto maxUlp = hn::Zero(d);
    WideSum<D> ulps;
    for (std::size_t i = 0; i < count; i += L::lanes) {
        const WordPair<L> pair(reference + i, target + i);
        const auto equal = pair.equal();
        const auto larger = hn::Max(pair.rMagnitude, pair.tMagnitude);
        const auto ordered = hn::VecFromMask(
            s, hn::Lt(larger, hn::Set(s, static_cast<typename L::Signed>(L::infinity + 1))));
        const auto finite = hn::VecFromMask(s, hn::Lt(larger, infinity));
        const auto sameClass = hn::VecFromMask(
            s, hn::Eq(classOfMagnitude<L>(pair.rMagnitude), classOfMagnitude<L>(pair.tMagnitude)));
        // Infinities of both signs share a magnitude but not a class.
        const auto bothInfinite = hn::VecFromMask(
            s, hn::And(hn::Eq(pair.rMagnitude, infinity), hn::Eq(pair.tMagnitude, infinity)));
        const auto change =
            hn::Or(hn::AndNot(sameClass, hn::Set(s, -1)), hn::AndNot(equal, bothInfinite));
        equalCount = hn::Add(equalCount, equal);
        changeCount = hn::Add(changeCount, change);
        const auto place = hn::Iota(s, static_cast<typename L::Signed>(i));
        firstChange =
            hn::Min(firstChange, hn::Or(hn::And(change, place), hn::AndNot(change, beyond)));
        finiteCount = hn::Add(finiteCount, finite);
        const auto distance = hn::And(pair.ulps(), hn::BitCast(d, ordered));
        maxUlp = hn::Max(maxUlp, distance);
        ulps.add(distance);
        hn::StoreU(hn::And(pair.r, hn::BitCast(d, finite)), d, finiteReference + i);
        hn::StoreU(hn::And(pair.t, hn::BitCast(d, finite)), d, finiteTarget + i);
    }
    const auto counted = [&](auto v) {
        return static_cast<std::uint32_t>(sumOfLanes(s, hn::Neg(v)));
    };
    out.unequal = static_cast<std::uint32_t>(count) - counted(equalCount);
    out.classChanges = counted(changeCount);
    out.finite = counted(finiteCount);
    out.firstChange = smallestLane(s, firstChange);
    out.maxUlp = largestLane(d, maxUlp);
    out.sumUlp = ulps.total();
}
} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
