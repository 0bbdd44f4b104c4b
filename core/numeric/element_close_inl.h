// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_ELEMENT_CLOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_ELEMENT_CLOSE_INL_H
#undef MOIRE_CORE_NUMERIC_ELEMENT_CLOSE_INL_H
#else
#define MOIRE_CORE_NUMERIC_ELEMENT_CLOSE_INL_H
#endif

#include "core/numeric/element_passes_inl.h"
#include "core/numeric/element_sums_inl.h"

#include <algorithm>
#include <bit>
#include <cmath>

// The same sums of blocks of 16-bit words that differ by little, in fewer steps.
HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

/// The sums of a span of normal 16-bit words, widened once. They are multiples of `grid`: when
/// every |d| is below closest·grid, d is exact in fp32 (also as it comes out: rounding keeps the
/// order), and d² in fp64, fused or not.
class CloseSums
{
public:
    static bool isClose(double maxAbs, double grid) { return maxAbs < closest * grid; }

    /// Largest |d|; when it is too large nothing was added.
    template <class L>
    HWY_INLINE double add(L layout, const std::uint16_t* reference, const std::uint16_t* target,
                          std::size_t count, double grid, ElementStripes& stripes)
    {
        const double maxAbs = widen(layout, reference, target, count);
        if (!isClose(maxAbs, grid))
            return maxAbs;
        for (std::size_t begin = 0; begin < elementStripes; begin += 4 * doubleLanes)
            addProducts(count, stripes, begin);
        addMagnitudes(count, maxAbs * (largestSpan / elementStripes) <= closest * grid, stripes);
        return maxAbs;
    }

private:
    static constexpr double closest = 0x1p24;

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
                const auto difference = hn::Sub(t, r);
                hn::Store(r, d, m_reference + i);
                hn::Store(difference, d, m_difference + i);
                const auto magnitude = hn::Abs(difference);
                largest = hn::Max(largest, magnitude);
                sum = hn::Add(sum, magnitude);
            };
            for (std::size_t i = begin; i < count; i += elementStripes) {
                if (begin == 0)
                    prefetch<L>(reference + i, target + i);
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

    /// Multiples of stripes.grid below 2⁵³ of it add up exactly: the span's sums, when they are
    /// exact in fp32, are the same as one after the other. Else one after the other.
    HWY_INLINE void addMagnitudes(std::size_t count, bool exact, ElementStripes& stripes)
    {
        const DoubleTag d;
        const auto most = hn::Set(d, 0x1p53 * stripes.grid);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            const auto before = hn::Load(d, stripes.sumAbs + begin);
            auto sum = hn::Add(before, load(m_magnitudes + begin));
            if (HWY_UNLIKELY(!exact || !hn::AllTrue(d, hn::Lt(sum, most)))) {
                sum = before;
                for (std::size_t i = begin; i < count; i += elementStripes)
                    sum = hn::Add(sum, hn::Abs(load(m_difference + i)));
            }
            hn::Store(sum, d, stripes.sumAbs + begin);
        }
    }

    /// The products of doubleLanes stripes. With t = r + d, r·t = r² + r·d and t² = r² + 2·r·d +
    /// d².
    struct Products
    {
        hn::Vec<DoubleTag> dd, rr, rd;
        HWY_INLINE Products(const ElementStripes& stripes, std::size_t begin)
            : dd(hn::Load(DoubleTag(), stripes.sumSquares + begin))
            , rr(hn::Load(DoubleTag(), stripes.referenceSquares + begin))
            , rd(hn::Zero(DoubleTag()))
        {}
        HWY_INLINE void add(const float* reference, const float* difference)
        {
            const auto r = load(reference);
            const auto d = load(difference);
            dd = hn::MulAdd(d, d, dd);
            rr = hn::MulAdd(r, r, rr);
            rd = hn::MulAdd(r, d, rd);
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
                sums.add(m_reference + i + k * doubleLanes, m_difference + i + k * doubleLanes);
            };
            at(0, a);
            at(1, b);
            if constexpr (vectors == 4) {
                at(2, c);
                at(3, e);
            }
        }
        store(a, count, stripes, begin);
        store(b, count, stripes, begin + doubleLanes);
        if constexpr (vectors == 4) {
            store(c, count, stripes, begin + 2 * doubleLanes);
            store(e, count, stripes, begin + 3 * doubleLanes);
        }
    }

    /// All terms are multiples of stripes.grid². When the sums of r², d² and t² stay within 2⁵¹ of
    /// it, so do those of |r·d| and |r·t| (no more than half the squares' each), nothing here
    /// reaches 2⁵³, and every sum is exact in any order: t² and r·t from the others are the same
    /// as one after the other. Else one after the other.
    HWY_INLINE void store(const Products& sums, std::size_t count, ElementStripes& stripes,
                          std::size_t begin) const
    {
        const DoubleTag d;
        const auto most = hn::Set(d, 0x1p51 * stripes.grid * stripes.grid);
        const auto squares = hn::Sub(sums.rr, hn::Load(d, stripes.referenceSquares + begin));
        const auto dotBefore = hn::Load(d, stripes.dot + begin);
        const auto targetBefore = hn::Load(d, stripes.targetSquares + begin);
        const auto both = hn::Add(squares, sums.rd);
        auto dot = hn::Add(dotBefore, both);
        auto target = hn::Add(targetBefore,
                              hn::Add(hn::Add(both, sums.rd),
                                      hn::Sub(sums.dd, hn::Load(d, stripes.sumSquares + begin))));
        const auto largest = hn::Max(hn::Max(sums.rr, sums.dd), target);
        if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Le(largest, most)))) {
            dot = dotBefore;
            target = targetBefore;
            for (std::size_t i = begin; i < count; i += elementStripes) {
                const auto r = load(m_reference + i);
                const auto t = hn::Add(r, load(m_difference + i));
                dot = hn::MulAdd(r, t, dot);
                target = hn::MulAdd(t, t, target);
            }
        }
        hn::Store(sums.dd, d, stripes.sumSquares + begin);
        hn::Store(sums.rr, d, stripes.referenceSquares + begin);
        hn::Store(target, d, stripes.targetSquares + begin);
        hn::Store(dot, d, stripes.dot + begin);
    }

    alignas(64) float m_reference[largestSpan];
    alignas(64) float m_difference[largestSpan];
    alignas(64) float m_magnitudes[elementStripes];
};

/// What normal values of 16 bits are multiples of: the last place of the smallest.
template <class L>
double gridOf(const Magnitudes& magnitudes)
{
    if constexpr (sizeof(typename L::Word) == sizeof(std::uint16_t)) {
        constexpr int mantissaBits =
            std::countr_zero(static_cast<std::uint16_t>(L::smallestNormal));
        constexpr int bias = (static_cast<int>(L::infinity) >> mantissaBits) / 2;
        return std::ldexp(1.0, static_cast<int>(magnitudes.smallest >> mantissaBits) - bias
                                   - mantissaBits);
    }
    return 0;
}
} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
