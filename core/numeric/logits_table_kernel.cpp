// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/logits_table_kernel.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/logits_chunk_inl.h"
#include "core/numeric/logits_curves_inl.h"
// clang-format on

#ifndef MOIRE_LOGITS_TABLE_ONCE
#define MOIRE_LOGITS_TABLE_ONCE
namespace moire::numeric::table {
using Word = std::uint16_t;

/// Below this |y| the form Q − P − P·y would lose more than 3e-8 of what it stands for.
inline constexpr float small = 0x1p-13F;
/// What fills the last chunk, −1000 in either dtype: e^x is 0 in the table, y is 0.
inline constexpr Word fillOf(DType dtype)
{
    return dtype == DType::BF16 ? Word{0xC47A} : Word{0xE3D0};
}
/// (e^y − 1 − y)/y² = ½ + y/6 + y²/24 for |y| ≤ small; the next term is below 1e-13 of it.
inline constexpr double third = 1.0 / 6;
inline constexpr double fourth = 1.0 / 24;
} // namespace moire::numeric::table
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
using table::Word;

/// A row's chunks, the last one filled up to whole stripes.
class WordChunk
{
public:
    WordChunk(const std::byte* data, std::size_t count, Word fill)
        : m_words(reinterpret_cast<const Word*>(data))
        , m_count(count)
    {
        const std::size_t begin = count / logitsChunk * logitsChunk;
        std::fill_n(m_rest, logitsChunk, fill);
        std::memcpy(m_rest, data + begin * sizeof(Word), (count - begin) * sizeof(Word));
    }
    const Word* at(std::size_t begin) const
    {
        return begin + logitsChunk <= m_count ? m_words + begin : m_rest;
    }
    std::size_t filled(std::size_t begin) const
    {
        const std::size_t count = std::min(logitsChunk, m_count - begin);
        return (count + elementStripes - 1) / elementStripes * elementStripes;
    }

private:
    const Word* m_words;
    std::size_t m_count;
    alignas(64) Word m_rest[logitsChunk];
};

/// e^x for x ≤ 80 within 0.5 %, almost 0 below −87: the integer nearest to x·2²³/ln 2 + 127·2²³
/// are the bits of a number 2ⁿ·g, 1 ≤ g < 2, that a curve makes 2ⁿ·2^(g − 1) (Schraudolph 1999).
HWY_INLINE hn::Vec<ShortTag> roughPower(hn::Vec<ShortTag> x)
{
    const ShortTag d;
    const hn::RebindToSigned<ShortTag> s;
    const auto place = hn::Add(hn::Mul(x, hn::Set(d, 12102203.0F)), hn::Set(d, 1065353216.0F));
    const auto bits = hn::NearestInt(hn::Max(place, hn::Zero(d)));
    const auto g =
        hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(s, 0x7FFFFF)), hn::Set(s, 0x3F800000)));
    const auto bent = hn::Sub(hn::Mul(g, hn::Set(d, 0.2236127F)), hn::Set(d, 0.66396748F));
    return hn::Mul(hn::BitCast(d, bits), hn::Add(hn::Mul(bent, g), hn::Set(d, 1.4356317F)));
}

HWY_INLINE float peakOf(hn::Vec<ShortTag> v)
{
    HWY_ALIGN float lane[shortLanes];
    hn::Store(v, ShortTag(), lane);
    return *std::max_element(lane, lane + shortLanes);
}

template <class L>
double guessAs(const LogitsRows& rows, float* referencePeaks, float* targetPeaks)
{
    const ShortTag d;
    const Word fill = table::fillOf(rows.referenceType);
    const WordChunk reference(rows.reference, rows.count, fill);
    const WordChunk target(rows.target, rows.count, fill);
    alignas(64) double sums[2][elementStripes] = {};
    alignas(64) float lane[elementStripes];
    const auto addLanes = [&](hn::Vec<ShortTag> v, std::size_t begin, double* stripes) {
        hn::Store(v, d, lane);
        for (std::size_t j = 0; j < shortLanes; ++j)
            stripes[begin + j] += static_cast<double>(lane[j]);
    };
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const Word* r = reference.at(at);
        const Word* t = target.at(at);
        const std::size_t count = reference.filled(at);
        auto ours = hn::Set(d, std::numeric_limits<float>::lowest());
        auto theirs = ours;
        for (std::size_t begin = 0; begin < elementStripes; begin += shortLanes) {
            auto weight = hn::Zero(d);
            auto grown = hn::Zero(d);
            for (std::size_t i = begin; i < count; i += elementStripes) {
                const auto a = widenShort(L{}, r + i);
                const auto b = widenShort(L{}, t + i);
                ours = hn::Max(ours, a);
                theirs = hn::Max(theirs, b);
                const auto y = hn::Sub(b, a);
                const auto w = roughPower(a);
                // e^y − 1 by its series: larger y are rare, or the guess bad
                const auto bent = hn::Add(hn::Mul(y, hn::Set(d, 1.0F / 6)), hn::Set(d, 0.5F));
                const auto growth = hn::Mul(y, hn::Add(hn::Mul(bent, y), hn::Set(d, 1.0F)));
                weight = hn::Add(weight, w);
                grown = hn::Add(grown, hn::Mul(w, growth));
            }
            addLanes(weight, begin, sums[0]);
            addLanes(grown, begin, sums[1]);
        }
        *referencePeaks++ = peakOf(ours);
        *targetPeaks++ = peakOf(theirs);
    }
    return std::log1p(totalOf(sums[1]) / totalOf(sums[0]));
}

double guessOf(const LogitsRows& rows, float* referencePeaks, float* targetPeaks)
{
    return rows.referenceType == DType::BF16
               ? guessAs<Bf16Layout>(rows, referencePeaks, targetPeaks)
               : guessAs<Fp16Layout>(rows, referencePeaks, targetPeaks);
}

/// One look-up a lane. (AVX2's gather takes longer than loads and shuffles.)
HWY_INLINE Doubles lookUp(const double* values, const Word* bits)
{
#if HWY_TARGET == HWY_AVX2
    return Doubles{
        _mm256_set_pd(values[bits[3]], values[bits[2]], values[bits[1]], values[bits[0]])};
#else
    HWY_ALIGN double lane[doubleLanes];
    for (std::size_t i = 0; i < doubleLanes; ++i)
        lane[i] = values[bits[i]];
    return hn::Load(DoubleTag(), lane);
#endif
}

/// What a chunk's y need.
enum class Care
{
    None,   ///< y is exact in fp32, and zero or not small
    Series, ///< some are small, or not exact
};

/// Zero where fl(a − b) = difference is exact: of the two subtractions that undo it, the one of the
/// larger operand is exact itself (Dekker 1971).
HWY_INLINE hn::Vec<hn::RebindToUnsigned<ShortTag>>
roundingOf(hn::Vec<ShortTag> a, hn::Vec<ShortTag> b, hn::Vec<ShortTag> difference)
{
    const hn::RebindToUnsigned<ShortTag> u;
    return hn::Or(hn::BitCast(u, hn::Sub(hn::Sub(a, difference), b)),
                  hn::BitCast(u, hn::Sub(hn::Add(difference, b), a)));
}

/// y of a chunk in fp32; appends the elements near the threshold.
template <class L, bool shifted>
HWY_INLINE Care makeDifferences(const Word* r, const Word* t, std::size_t count, std::size_t at,
                                const TableRequest& request, float* out,
                                std::vector<std::uint32_t>& near)
{
    const ShortTag d;
    const hn::RebindToUnsigned<ShortTag> u;
    const auto centre = hn::Set(d, request.centre);
    const auto threshold = hn::Set(d, static_cast<float>(request.threshold));
    const auto reach = hn::Set(d, request.reach);
    const auto one = hn::Set(u, 1U);
    auto least = hn::Set(u, std::numeric_limits<std::uint32_t>::max()); // of |y| − 1, as integers
    auto lost = hn::Zero(u);
    for (std::size_t i = 0; i < count; i += shortLanes) {
        const auto a = widenShort(L{}, r + i);
        const auto b = widenShort(L{}, t + i);
        auto y = hn::Sub(b, a);
        lost = hn::Or(lost, roundingOf(b, a, y));
        if constexpr (shifted) {
            const auto centred = hn::Sub(y, centre);
            lost = hn::Or(lost, roundingOf(y, centre, centred));
            y = centred;
        }
        hn::Store(y, d, out + i);
        least = hn::Min(least, hn::Sub(hn::BitCast(u, hn::Abs(y)), one));
        if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Le(hn::Abs(hn::Sub(y, threshold)), reach))))
            for (std::size_t j = i; j < i + shortLanes; ++j)
                if (std::fabs(out[j] - static_cast<float>(request.threshold)) <= request.reach)
                    near.push_back(static_cast<std::uint32_t>(at + j));
    }
    const bool exact = largestLane(u, hn::And(lost, hn::Set(u, 0x7FFFFFFFU))) == 0;
    const bool large = smallestLane(u, least) >= std::bit_cast<std::uint32_t>(table::small) - 1;
    return exact && large ? Care::None : Care::Series;
}

struct TableStripes
{
    alignas(64) double sums[6][elementStripes] = {};
};

/// Δ and Δ − P·y by the series where y is small.
HWY_INLINE void takeSeries(Doubles p, Doubles y, Doubles& growth, Doubles& excess)
{
    const DoubleTag d;
    const auto curve = hn::Add(
        hn::Set(d, 0.5),
        hn::Mul(y, hn::Add(hn::Set(d, table::third), hn::Mul(y, hn::Set(d, table::fourth)))));
    const auto beyond = hn::Mul(p, hn::Mul(hn::Mul(y, y), curve));
    const auto isSmall = hn::Le(hn::Abs(y), hn::Set(d, static_cast<double>(table::small)));
    excess = hn::IfThenElse(isSmall, beyond, excess);
    growth = hn::IfThenElse(isSmall, hn::Add(hn::Mul(p, y), beyond), growth);
}

template <class L, bool shifted, Care care>
HWY_INLINE void addChunk(const Word* r, const Word* t, const float* differences, std::size_t count,
                         const TableRequest& request, TableStripes& stripes)
{
    const DoubleTag d;
    const FloatTag f;
    const auto threshold = hn::Set(d, request.threshold);
    const auto scale = hn::Set(d, request.scale);
    const auto centre = hn::Set(d, static_cast<double>(request.centre));
    for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
        auto weights = hn::Load(d, stripes.sums[0] + begin);
        auto growths = hn::Load(d, stripes.sums[1] + begin);
        auto excesses = hn::Load(d, stripes.sums[2] + begin);
        auto joint = hn::Load(d, stripes.sums[3] + begin);
        auto aboveWeight = hn::Load(d, stripes.sums[4] + begin);
        auto aboveGrowth = hn::Load(d, stripes.sums[5] + begin);
        for (std::size_t i = begin; i < count; i += elementStripes) {
            const auto p = lookUp(request.table, r + i);
            auto q = lookUp(request.table, t + i);
            auto y = hn::PromoteTo(d, hn::Load(f, differences + i));
            if constexpr (care == Care::Series)
                y = hn::Sub(hn::Sub(hn::PromoteTo(d, widen(L{}, t + i)),
                                    hn::PromoteTo(d, widen(L{}, r + i))),
                            centre);
            if constexpr (shifted)
                q = hn::Mul(q, scale);
            auto growth = hn::Sub(q, p);
            if constexpr (shifted)
                growth = hn::IfThenZeroElse(hn::Eq(y, hn::Zero(d)), growth);
            auto excess = hn::Sub(growth, hn::Mul(p, y));
            if constexpr (care == Care::Series)
                takeSeries(p, y, growth, excess);
            const auto above = hn::Gt(y, threshold);
            weights = hn::Add(weights, p);
            growths = hn::Add(growths, growth);
            excesses = hn::Add(excesses, excess);
            joint = hn::Add(joint, hn::Mul(growth, y));
            aboveWeight = hn::Add(aboveWeight, hn::IfThenElseZero(above, p));
            aboveGrowth = hn::Add(aboveGrowth, hn::IfThenElseZero(above, growth));
        }
        hn::Store(weights, d, stripes.sums[0] + begin);
        hn::Store(growths, d, stripes.sums[1] + begin);
        hn::Store(excesses, d, stripes.sums[2] + begin);
        hn::Store(joint, d, stripes.sums[3] + begin);
        hn::Store(aboveWeight, d, stripes.sums[4] + begin);
        hn::Store(aboveGrowth, d, stripes.sums[5] + begin);
    }
}

template <class L, bool shifted>
void sumAs(const LogitsRows& rows, const TableRequest& request, TableSums& sums)
{
    const Word fill = table::fillOf(rows.referenceType);
    const WordChunk reference(rows.reference, rows.count, fill);
    const WordChunk target(rows.target, rows.count, fill);
    alignas(64) float differences[logitsChunk];
    TableStripes stripes;
    sums.near.clear();
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const Word* r = reference.at(at);
        const Word* t = target.at(at);
        const std::size_t count = reference.filled(at);
        const Care care =
            makeDifferences<L, shifted>(r, t, count, at, request, differences, sums.near);
        if (care == Care::None)
            addChunk<L, shifted, Care::None>(r, t, differences, count, request, stripes);
        else
            addChunk<L, shifted, Care::Series>(r, t, differences, count, request, stripes);
    }
    while (!sums.near.empty() && sums.near.back() >= rows.count)
        sums.near.pop_back(); // what fills the last chunk
    sums.weight = totalOf(stripes.sums[0]);
    sums.growth = totalOf(stripes.sums[1]);
    sums.excess = totalOf(stripes.sums[2]);
    sums.joint = totalOf(stripes.sums[3]);
    sums.aboveWeight = totalOf(stripes.sums[4]);
    sums.aboveGrowth = totalOf(stripes.sums[5]);
}

void sumOf(const LogitsRows& rows, const TableRequest& request, TableSums& sums)
{
    const bool shifted = request.centre != 0;
    if (rows.referenceType == DType::BF16)
        shifted ? sumAs<Bf16Layout, true>(rows, request, sums)
                : sumAs<Bf16Layout, false>(rows, request, sums);
    else
        shifted ? sumAs<Fp16Layout, true>(rows, request, sums)
                : sumAs<Fp16Layout, false>(rows, request, sums);
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(guessOf);
HWY_EXPORT(sumOf);

double guessLogGrowth(const LogitsRows& rows, float* referencePeaks, float* targetPeaks)
{
    return HWY_DYNAMIC_DISPATCH(guessOf)(rows, referencePeaks, targetPeaks);
}

void sumByTable(const LogitsRows& rows, const TableRequest& request, TableSums& sums)
{
    HWY_DYNAMIC_DISPATCH(sumOf)(rows, request, sums);
}

double growthByTable(double weight, double grown, double y, const TableRequest& request)
{
    if (!(std::fabs(y) <= static_cast<double>(table::small)))
        return (request.centre != 0 ? grown * request.scale : grown) - weight;
    const double curve = 0.5 + y * (table::third + y * table::fourth);
    return weight * y + weight * (y * y * curve);
}

} // namespace moire::numeric
#endif
