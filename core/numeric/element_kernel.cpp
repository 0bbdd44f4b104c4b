// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_kernel.h"

#include <algorithm>
#include <cstring>
#include <limits>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/element_kernel.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/element_words_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
/// The pass over a chunk whose values are all normal: nothing can change class, all is finite.
/// False when some value was not; `out` is then worth nothing.
template <class L>
bool normalPass(const typename L::Word* reference, const typename L::Word* target,
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
        // Of one sign their difference, else their sum, which fits the unsigned word.
        const auto signs = hn::ShiftRight<L::signBit>(hn::BitCast(s, hn::Xor(pair.r, pair.t)));
        const auto distance = hn::BitCast(d, hn::Sub(high, hn::Sub(hn::Xor(low, signs), signs)));
        maxUlp = hn::Max(maxUlp, distance);
        ulps.add(distance);
    }
    const auto least = smallestLane(s, smallest);
    if (least < static_cast<std::uint64_t>(L::smallestNormal)
        || largestLane(s, largest) >= static_cast<std::uint64_t>(L::infinity))
        return false;
    out.finite = static_cast<std::uint32_t>(count);
    out.unequal = static_cast<std::uint32_t>(count - sumOfLanes(s, hn::Neg(equal)));
    out.maxUlp = largestLane(d, maxUlp);
    out.sumUlp = ulps.total();
    return true;
}

/// The same where all bits are equal.
template <class L>
bool normalEqualPass(const typename L::Word* values, std::size_t count, ElementChunk& out)
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
    return smallestLane(s, smallest) >= static_cast<std::uint64_t>(L::smallestNormal)
           && largestLane(s, largest) < static_cast<std::uint64_t>(L::infinity);
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

/// Words of a block: as many bytes of 255 as a lane of 16 bits can add.
template <class L>
constexpr std::size_t blockSize()
{
    return std::min(elementChunk, 256 * L::lanes);
}

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

template <class L>
void sumDifferences(const typename L::Word* reference, const typename L::Word* target,
                    std::size_t count, ElementStripes& stripes, double& maxAbs)
{
    const DoubleTag d;
    // The next block: memory works while this pass computes, across the border of a page too.
    constexpr std::size_t ahead = blockSize<L>();
    constexpr std::size_t line = 64 / sizeof(typename L::Word);
    for (std::size_t i = 0; i < count; i += line) {
        __builtin_prefetch(reference + i + ahead);
        __builtin_prefetch(target + i + ahead);
    }
    auto largest = hn::Zero(d);
    for (std::size_t begin = 0; begin < elementStripes; begin += 2 * doubleLanes) {
        StripeSums low(stripes, begin);
        StripeSums high(stripes, begin + doubleLanes);
        for (std::size_t i = begin; i < count; i += elementStripes) {
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

template <class L>
void sumBlock(const typename L::Word* reference, const typename L::Word* target, std::size_t count,
              ElementStripes& stripes, ElementChunk& block)
{
    for (std::size_t i = 0; i < count; i += largestSpan) {
        double largest = 0;
        sumDifferences<L>(reference + i, target + i, std::min(largestSpan, count - i), stripes,
                          largest);
        if (largest > block.maxAbs) {
            block.maxAbs = largest;
            block.largestBegin = i;
        }
    }
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

template <class L>
ElementChunk compareBlock(const typename L::Word* r, const typename L::Word* t, std::size_t count,
                          ElementStripes& stripes)
{
    HWY_ALIGN typename L::Word finiteReference[blockSize<L>()];
    HWY_ALIGN typename L::Word finiteTarget[blockSize<L>()];
    ElementChunk block;
    const bool equal = std::memcmp(r, t, count * sizeof *r) == 0;
    if (!(equal ? normalEqualPass<L>(r, count, block) : normalPass<L>(r, t, count, block))) {
        block = {};
        block.normal = false;
        generalPass<L>(r, t, count, block, finiteReference, finiteTarget);
        r = finiteReference;
        t = finiteTarget;
    }
    if (block.unequal == 0)
        sumEqual<L>(r, count, stripes);
    else
        sumBlock<L>(r, t, count, stripes, block);
    return block;
}

template <class L>
ElementChunk compareAs(const std::byte* reference, const std::byte* target, std::size_t count,
                       ElementStripes& stripes)
{
    const auto* r = reinterpret_cast<const typename L::Word*>(reference);
    const auto* t = reinterpret_cast<const typename L::Word*>(target);
    ElementChunk chunk;
    for (std::size_t i = 0; i < count; i += blockSize<L>()) {
        const ElementChunk block =
            compareBlock<L>(r + i, t + i, std::min(blockSize<L>(), count - i), stripes);
        if (chunk.classChanges == 0)
            chunk.firstChange = i + block.firstChange;
        if (block.maxAbs > chunk.maxAbs)
            chunk.largestBegin = i + block.largestBegin;
        chunk.unequal += block.unequal;
        chunk.classChanges += block.classChanges;
        chunk.finite += block.finite;
        chunk.normal = chunk.normal && block.normal;
        chunk.maxUlp = std::max(chunk.maxUlp, block.maxUlp);
        chunk.sumUlp += block.sumUlp;
        chunk.maxAbs = std::max(chunk.maxAbs, block.maxAbs);
    }
    return chunk;
}

ElementChunk compareChunkOf(const std::byte* reference, const std::byte* target, DType dtype,
                            std::size_t count, ElementStripes& stripes)
{
    switch (dtype) {
    case DType::BF16:
        return compareAs<Bf16Layout>(reference, target, count, stripes);
    case DType::FP16:
        return compareAs<Fp16Layout>(reference, target, count, stripes);
    default:
        return compareAs<Fp32Layout>(reference, target, count, stripes);
    }
}

template <class L>
std::size_t findAs(const std::byte* reference, const std::byte* target, std::size_t count,
                   double maxAbs)
{
    const DoubleTag d;
    const auto* r = reinterpret_cast<const typename L::Word*>(reference);
    const auto* t = reinterpret_cast<const typename L::Word*>(target);
    for (std::size_t i = 0; i < count; i += doubleLanes) {
        const auto difference =
            hn::Sub(hn::PromoteTo(d, widen(L{}, t + i)), hn::PromoteTo(d, widen(L{}, r + i)));
        const auto place = hn::FindFirstTrue(d, hn::Eq(hn::Abs(difference), hn::Set(d, maxAbs)));
        if (place >= 0)
            return i + static_cast<std::size_t>(place);
    }
    return count;
}

std::size_t findDifferenceOf(const std::byte* reference, const std::byte* target, DType dtype,
                             std::size_t count, double maxAbs)
{
    switch (dtype) {
    case DType::BF16:
        return findAs<Bf16Layout>(reference, target, count, maxAbs);
    case DType::FP16:
        return findAs<Fp16Layout>(reference, target, count, maxAbs);
    default:
        return findAs<Fp32Layout>(reference, target, count, maxAbs);
    }
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(compareChunkOf);
HWY_EXPORT(findDifferenceOf);

ElementChunk compareChunk(const std::byte* reference, const std::byte* target, DType dtype,
                          std::size_t count, ElementStripes& stripes)
{
    return HWY_DYNAMIC_DISPATCH(compareChunkOf)(reference, target, dtype, count, stripes);
}

std::size_t findDifference(const std::byte* reference, const std::byte* target, DType dtype,
                           std::size_t count, double maxAbs)
{
    return HWY_DYNAMIC_DISPATCH(findDifferenceOf)(reference, target, dtype, count, maxAbs);
}

} // namespace moire::numeric
#endif
