// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
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

/// The sums of a span of normal 16-bit words, widened once. They are multiples of `grid`: when no
/// |d| is above closest·grid, d is exact in fp32, and d² in fp64, fused or not.
class CloseSums
{
public:
    static constexpr double closest = 0x1p24;

    /// Largest |d|; when it is too large nothing was added.
    template <class L>
    HWY_INLINE double add(L layout, const std::uint16_t* reference, const std::uint16_t* target,
                          std::size_t count, double grid, ElementStripes& stripes)
    {
        const double maxAbs = widen(layout, reference, target, count);
        if (maxAbs > closest * grid)
            return maxAbs;
        alignas(64) double before[elementStripes];
        beforeProducts(stripes, before);
        for (std::size_t begin = 0; begin < elementStripes; begin += 4 * doubleLanes)
            addProducts(count, stripes, begin);
        addCrossProducts(count, before, stripes);
        addMagnitudes(count, maxAbs * (largestSpan / elementStripes) <= closest * grid, stripes);
        return maxAbs;
    }

private:
    template <class L>
    HWY_INLINE double widen(L layout, const std::uint16_t* reference, const std::uint16_t* target,
                            std::size_t count)
    {
        const ShortTag d;
        constexpr std::size_t vectors = elementStripes / shortLanes;
        auto largest = hn::Zero(d);
        for (std::size_t begin = 0; begin < elementStripes; begin += 2 * shortLanes) {
            auto low = hn::Zero(d);
            auto high = hn::Zero(d);
            const auto take = [&](std::size_t i, hn::Vec<ShortTag>& sum) HWY_ATTR {
                const auto r = widenShort(layout, reference + i);
                const auto t = widenShort(layout, target + i);
                hn::Store(r, d, m_reference + i);
                hn::Store(t, d, m_target + i);
                const auto magnitude = hn::Abs(hn::Sub(t, r));
                largest = hn::Max(largest, magnitude);
                sum = hn::Add(sum, magnitude);
            };
            for (std::size_t i = begin; i < count; i += elementStripes) {
                take(i, low);
                if constexpr (vectors > 1)
                    take(i + shortLanes, high);
            }
            hn::Store(low, d, m_magnitudes + begin);
            if constexpr (vectors > 1)
                hn::Store(high, d, m_magnitudes + begin + shortLanes);
        }
        return static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, largest)));
    }

    HWY_INLINE static hn::Vec<DoubleTag> load(const float* from)
    {
        return hn::PromoteTo(DoubleTag(), hn::Load(FloatTag(), from));
    }

    /// r² + t² − d² of the sums so far.
    HWY_INLINE static hn::Vec<DoubleTag> twiceDot(const ElementStripes& stripes, std::size_t begin)
    {
        const DoubleTag d;
        return hn::Sub(hn::Add(hn::Load(d, stripes.referenceSquares + begin),
                               hn::Load(d, stripes.targetSquares + begin)),
                       hn::Load(d, stripes.sumSquares + begin));
    }
    HWY_INLINE static void beforeProducts(const ElementStripes& stripes, double* before)
    {
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes)
            hn::Store(twiceDot(stripes, begin), DoubleTag(), before + begin);
    }

    /// 2·r·t = r² + t² − d². Sums of multiples of grid² below 2⁵⁰ of it are exact: the difference of
    /// the three is the same as the products one after the other. Else one after the other.
    HWY_INLINE void addCrossProducts(std::size_t count, const double* before,
                                     ElementStripes& stripes)
    {
        const DoubleTag d;
        const auto most = hn::Set(d, 0x1p50 * stripes.grid * stripes.grid);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            auto sum = hn::Load(d, stripes.dot + begin);
            const auto largest =
                hn::Max(hn::Max(hn::Load(d, stripes.referenceSquares + begin),
                                hn::Load(d, stripes.targetSquares + begin)),
                        hn::Max(hn::Load(d, stripes.sumSquares + begin), hn::Abs(sum)));
            if (HWY_LIKELY(hn::AllTrue(d, hn::Le(largest, most)))) {
                const auto twice = hn::Sub(twiceDot(stripes, begin), hn::Load(d, before + begin));
                sum = hn::MulAdd(twice, hn::Set(d, 0.5), sum);
            } else {
                for (std::size_t i = begin; i < count; i += elementStripes)
                    sum = hn::MulAdd(load(m_reference + i), load(m_target + i), sum);
            }
            hn::Store(sum, d, stripes.dot + begin);
        }
    }

    /// Multiples of stripes.grid below 2⁵³ of it add up exactly: the span's sums, when they are exact
    /// in fp32, are the same as one after the other. Else one after the other.
    HWY_INLINE void addMagnitudes(std::size_t count, bool exact, ElementStripes& stripes)
    {
        const DoubleTag d;
        const auto most = hn::Set(d, 0x1p53 * stripes.grid);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            const auto before = hn::Load(d, stripes.sumAbs + begin);
            auto sum = hn::Add(before, load(m_magnitudes + begin));
            if (HWY_UNLIKELY(!exact || !hn::AllTrue(d, hn::Le(sum, most)))) {
                sum = before;
                for (std::size_t i = begin; i < count; i += elementStripes)
                    sum = hn::Add(sum, hn::Abs(hn::Sub(load(m_target + i), load(m_reference + i))));
            }
            hn::Store(sum, d, stripes.sumAbs + begin);
        }
    }

    /// d², r² and t² of doubleLanes stripes.
    struct Products
    {
        hn::Vec<DoubleTag> dd, rr, tt;
        HWY_INLINE Products(const ElementStripes& stripes, std::size_t begin)
            : dd(hn::Load(DoubleTag(), stripes.sumSquares + begin))
            , rr(hn::Load(DoubleTag(), stripes.referenceSquares + begin))
            , tt(hn::Load(DoubleTag(), stripes.targetSquares + begin))
        {}
        HWY_INLINE void add(const float* reference, const float* target)
        {
            const auto r = load(reference);
            const auto t = load(target);
            const auto difference = hn::Sub(t, r);
            dd = hn::MulAdd(difference, difference, dd);
            rr = hn::MulAdd(r, r, rr);
            tt = hn::MulAdd(t, t, tt);
        }
        HWY_INLINE void store(ElementStripes& stripes, std::size_t begin) const
        {
            hn::Store(dd, DoubleTag(), stripes.sumSquares + begin);
            hn::Store(rr, DoubleTag(), stripes.referenceSquares + begin);
            hn::Store(tt, DoubleTag(), stripes.targetSquares + begin);
        }
    };

    /// 4·doubleLanes stripes, or all.
    HWY_INLINE void addProducts(std::size_t count, ElementStripes& stripes, std::size_t begin)
    {
        constexpr std::size_t vectors = std::min<std::size_t>(4, elementStripes / doubleLanes);
        static_assert(vectors == 2 || vectors == 4);
        Products a(stripes, begin);
        Products b(stripes, begin + doubleLanes);
        Products c(stripes, begin + (vectors - 2) * doubleLanes);
        Products e(stripes, begin + (vectors - 1) * doubleLanes);
        for (std::size_t i = begin; i < count; i += elementStripes) {
            const auto at = [&](std::size_t k, Products& sums) HWY_ATTR {
                sums.add(m_reference + i + k * doubleLanes, m_target + i + k * doubleLanes);
            };
            at(0, a);
            at(1, b);
            if constexpr (vectors == 4) {
                at(2, c);
                at(3, e);
            }
        }
        a.store(stripes, begin);
        b.store(stripes, begin + doubleLanes);
        if constexpr (vectors == 4) {
            c.store(stripes, begin + 2 * doubleLanes);
            e.store(stripes, begin + 3 * doubleLanes);
        }
    }

    alignas(64) float m_reference[largestSpan];
    alignas(64) float m_target[largestSpan];
    alignas(64) float m_magnitudes[elementStripes];
};

template <class L>
void sumBlock(const typename L::Word* reference, const typename L::Word* target, std::size_t count,
              ElementStripes& stripes, ElementChunk& block, double grid)
{
    bool close = grid > 0;
    CloseSums sums;
    for (std::size_t i = 0; i < count; i += largestSpan) {
        const std::size_t span = std::min(largestSpan, count - i);
        double largest = 0;
        if constexpr (sizeof(typename L::Word) == sizeof(std::uint16_t)) {
            if (close)
                largest = sums.add(L{}, reference + i, target + i, span, grid, stripes);
            close = close && largest <= CloseSums::closest * grid;
        }
        if (!close)
            sumDifferences<L>(reference + i, target + i, span, stripes, largest);
        if (largest > block.maxAbs) {
            block.maxAbs = largest;
            block.largestBegin = i;
        }
    }
}

/// What normal values of 16 bits are multiples of: the last place of the smallest.
template <class L>
double gridOf(const Magnitudes& magnitudes)
{
    if constexpr (sizeof(typename L::Word) == sizeof(std::uint16_t)) {
        constexpr int mantissaBits = std::countr_zero(static_cast<std::uint16_t>(L::smallestNormal));
        constexpr int bias = (static_cast<int>(L::infinity) >> mantissaBits) / 2;
        return std::ldexp(1.0, static_cast<int>(magnitudes.smallest >> mantissaBits) - bias
                                   - mantissaBits);
    }
    return 0;
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
    const Magnitudes magnitudes =
        equal ? normalEqualPass<L>(r, count, block) : normalPass<L>(r, t, count, block);
    const bool normal = magnitudes.normal<L>();
    if (!normal) {
        block = {};
        block.normal = false;
        generalPass<L>(r, t, count, block, finiteReference, finiteTarget);
        r = finiteReference;
        t = finiteTarget;
    }
    const double grid = normal ? gridOf<L>(magnitudes) : 0;
    stripes.grid = std::min(stripes.grid, grid);
    if (block.unequal == 0)
        sumEqual<L>(r, count, stripes);
    else
        sumBlock<L>(r, t, count, stripes, block, grid);
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

void clearOf(ElementStripes& stripes)
{
    const DoubleTag d;
    for (double* sum : {stripes.sumAbs, stripes.sumSquares, stripes.referenceSquares,
                        stripes.targetSquares, stripes.dot})
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes)
            hn::Store(hn::Zero(d), d, sum + begin);
    stripes.grid = std::numeric_limits<double>::max();
}

double totalOfStripes(const double* stripes)
{
    const hn::CappedTag<double, 2> d;
    constexpr std::size_t lanes = hn::MaxLanes(d);
    double s[elementStripes / 2];
    for (std::size_t i = 0; i < elementStripes / 2; i += lanes)
        hn::StoreU(hn::Add(hn::Load(d, stripes + i), hn::Load(d, stripes + i + elementStripes / 2)),
                   d, s + i);
    for (std::size_t half = elementStripes / 4; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            s[i] += s[i + half];
    return s[0];
}

void totalsOf(const ElementStripes& stripes, ElementSums& sums)
{
    sums.sumAbs = totalOfStripes(stripes.sumAbs);
    sums.sumSquares = totalOfStripes(stripes.sumSquares);
    sums.referenceSquares = totalOfStripes(stripes.referenceSquares);
    sums.targetSquares = totalOfStripes(stripes.targetSquares);
    sums.dot = totalOfStripes(stripes.dot);
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

HWY_EXPORT(clearOf);
HWY_EXPORT(totalsOf);
HWY_EXPORT(compareChunkOf);
HWY_EXPORT(findDifferenceOf);

void clearStripes(ElementStripes& stripes)
{
    HWY_DYNAMIC_DISPATCH(clearOf)(stripes);
}

void totalStripes(const ElementStripes& stripes, ElementSums& sums)
{
    HWY_DYNAMIC_DISPATCH(totalsOf)(stripes, sums);
}

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
