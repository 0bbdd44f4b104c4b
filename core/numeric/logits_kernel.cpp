// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_kernel.h"

#include <algorithm>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/logits_kernel.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/logits_chunk_inl.h"
#include "core/numeric/logits_curves_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

LogitsCentre centreOf(const LogitsRows& rows, const LargestLogit& top, float targetAtTop)
{
    const ShortTag d;
    FloatChunk reference(rows.reference, rows.referenceType, rows.count, top.value - fillDepth);
    FloatChunk target(rows.target, rows.targetType, rows.count, targetAtTop - fillDepth);
    alignas(64) double weights[elementStripes] = {};
    alignas(64) double growths[elementStripes] = {};
    alignas(64) double sizes[elementStripes] = {};
    alignas(64) float lane[elementStripes];
    auto furthest = hn::Zero(d);
    const auto largest = hn::Set(d, top.value);
    const auto shift = hn::Set(d, targetAtTop - top.value);
    const auto addLanes = [&](hn::Vec<ShortTag> v, std::size_t begin, double* stripes) {
        hn::Store(v, d, lane);
        for (std::size_t j = 0; j < shortLanes; ++j)
            stripes[begin + j] += static_cast<double>(lane[j]);
    };
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const float* r = reference.at(at);
        const float* t = target.at(at);
        const std::size_t count = reference.filled(at);
        for (std::size_t begin = 0; begin < elementStripes; begin += shortLanes) {
            auto weight = hn::Zero(d);
            auto growth = hn::Zero(d);
            auto size = hn::Zero(d);
            for (std::size_t i = begin; i < count; i += elementStripes) {
                const auto a = hn::LoadU(d, r + i);
                const auto difference = hn::Sub(hn::Sub(hn::LoadU(d, t + i), a), shift);
                const auto w = powerFloat(d, hn::Sub(a, largest));
                const auto grown = hn::Mul(w, growthFloat(d, difference));
                furthest = hn::Max(furthest, hn::Abs(difference));
                weight = hn::Add(weight, w);
                growth = hn::Add(growth, grown);
                size = hn::Add(size, hn::Abs(grown));
            }
            addLanes(weight, begin, weights);
            addLanes(growth, begin, growths);
            addLanes(size, begin, sizes);
        }
    }
    hn::Store(furthest, d, lane);
    return {totalOf(weights), totalOf(growths), totalOf(sizes),
            static_cast<double>(*std::max_element(lane, lane + shortLanes))};
}

/// What the terms of a chunk are made of.
struct ChunkCurves
{
    alignas(64) double w[logitsChunk];
    alignas(64) double s[logitsChunk];
    alignas(64) double y[logitsChunk];
    alignas(64) double u[logitsChunk];
    alignas(64) double m[logitsChunk];
    alignas(64) double excess[logitsChunk];
};

using Stripes = std::array<std::array<double, elementStripes>, logitsTerms>;

template <bool all>
HWY_INLINE void makeCurves(const float* r, const float* t, std::size_t count, double largest,
                           double targetAtTop, const LogitsRequest& request, ChunkCurves& out)
{
    const DoubleTag d;
    const FloatTag f;
    const auto top = hn::Set(d, largest);
    const auto targetTop = hn::Set(d, targetAtTop);
    const auto exponent = hn::Set(d, request.exponent);
    const auto centre = hn::Set(d, request.centre);
    const auto load = [&](const float* from) { return hn::PromoteTo(d, hn::LoadU(f, from)); };
    for (std::size_t i = 0; i < count; i += doubleLanes) {
        const auto s = hn::Sub(load(r + i), top);
        const auto scaledS = hn::Mul(s, exponent);
        const auto y = hn::Sub(hn::Sub(hn::Sub(load(t + i), targetTop), scaledS), centre);
        const Growth<Doubles> g = growth(d, y);
        hn::Store(power(d, scaledS), d, out.w + i);
        hn::Store(y, d, out.y + i);
        hn::Store(g.m, d, out.m + i);
        hn::Store(g.excess, d, out.excess + i);
        if constexpr (all) {
            hn::Store(s, d, out.s + i);
            hn::Store(g.u, d, out.u + i);
        }
    }
}

/// One sum's stripes from `begin` on, in a register until it goes. (Loops over arrays of vectors
/// would stay loops: GCC does not unroll them at -O2.)
class TermSum
{
public:
    HWY_INLINE TermSum(Stripes& stripes, LogitsTerm term, std::size_t begin)
        : m_place(stripes[static_cast<std::size_t>(term)].data() + begin)
        , m_sum(hn::LoadU(DoubleTag(), m_place))
    {}
    HWY_INLINE void add(Doubles term) { m_sum = hn::Add(m_sum, term); }
    HWY_INLINE void store() const { hn::StoreU(m_sum, DoubleTag(), m_place); }

private:
    double* m_place;
    Doubles m_sum;
};

HWY_INLINE void addCoreTerms(const ChunkCurves& c, std::size_t count, double near, Stripes& stripes,
                             std::size_t begin)
{
    const DoubleTag d;
    const auto bound = hn::Set(d, near);
    TermSum weight(stripes, LogitsTerm::Weight, begin);
    TermSum growth(stripes, LogitsTerm::Growth, begin);
    TermSum excesses(stripes, LogitsTerm::Excess, begin);
    TermSum reverse(stripes, LogitsTerm::Reverse, begin);
    TermSum magnitude(stripes, LogitsTerm::Magnitude, begin);
    TermSum sign(stripes, LogitsTerm::Sign, begin);
    TermSum nearWeight(stripes, LogitsTerm::Near, begin);
    for (std::size_t i = begin; i < count; i += elementStripes) {
        const auto w = hn::Load(d, c.w + i);
        const auto m = hn::Load(d, c.m + i);
        const auto excess = hn::Load(d, c.excess + i);
        const auto y = hn::Load(d, c.y + i);
        const auto wm = hn::Mul(w, m);
        weight.add(w);
        growth.add(wm);
        excesses.add(hn::Mul(w, excess));
        reverse.add(hn::Mul(w, hn::Sub(hn::Mul(y, m), excess)));
        magnitude.add(hn::Abs(wm));
        sign.add(hn::CopySignToAbs(w, m));
        nearWeight.add(hn::IfThenElseZero(hn::Le(hn::Abs(m), bound), w));
    }
    weight.store();
    growth.store();
    excesses.store();
    reverse.store();
    magnitude.store();
    sign.store();
    nearWeight.store();
}

HWY_INLINE void addSquareTerms(const ChunkCurves& c, std::size_t count, Stripes& stripes,
                               std::size_t begin)
{
    const DoubleTag d;
    TermSum square(stripes, LogitsTerm::Square, begin);
    TermSum weightSquare(stripes, LogitsTerm::WeightSquare, begin);
    TermSum weightGrowth(stripes, LogitsTerm::WeightGrowth, begin);
    TermSum growthSquare(stripes, LogitsTerm::GrowthSquare, begin);
    TermSum half(stripes, LogitsTerm::Half, begin);
    TermSum halfSquare(stripes, LogitsTerm::HalfSquare, begin);
    for (std::size_t i = begin; i < count; i += elementStripes) {
        const auto w = hn::Load(d, c.w + i);
        const auto m = hn::Load(d, c.m + i);
        const auto u = hn::Load(d, c.u + i);
        const auto wm = hn::Mul(w, m);
        const auto wu = hn::Mul(w, u);
        square.add(hn::Mul(wm, m));
        weightSquare.add(hn::Mul(w, w));
        weightGrowth.add(hn::Mul(w, wm));
        growthSquare.add(hn::Mul(wm, wm));
        half.add(wu);
        halfSquare.add(hn::Mul(wu, u));
    }
    square.store();
    weightSquare.store();
    weightGrowth.store();
    growthSquare.store();
    half.store();
    halfSquare.store();
}

HWY_INLINE void addShannonTerms(const ChunkCurves& c, std::size_t count, Stripes& stripes,
                                std::size_t begin)
{
    const DoubleTag d;
    TermSum shannon(stripes, LogitsTerm::Shannon, begin);
    TermSum slope(stripes, LogitsTerm::ShannonSlope, begin);
    TermSum distance(stripes, LogitsTerm::Distance, begin);
    TermSum growthBelow(stripes, LogitsTerm::GrowthBelow, begin);
    TermSum below(stripes, LogitsTerm::Below, begin);
    TermSum belowSquare(stripes, LogitsTerm::BelowSquare, begin);
    TermSum belowCube(stripes, LogitsTerm::BelowCube, begin);
    for (std::size_t i = begin; i < count; i += elementStripes) {
        const auto w = hn::Load(d, c.w + i);
        const auto m = hn::Load(d, c.m + i);
        const auto y = hn::Load(d, c.y + i);
        const auto s = hn::Load(d, c.s + i);
        const auto h = hn::Mul(y, hn::Set(d, 0.5));
        const auto cosh = logCoshOfHalf(d, y, m);
        shannon.add(hn::Mul(w, hn::Sub(hn::Mul(h, m), hn::Mul(hn::Add(m, hn::Set(d, 2.0)), cosh))));
        slope.add(hn::Mul(w, hn::Mul(hn::Add(m, hn::Set(d, 1.0)), hn::Sub(h, cosh))));
        distance.add(hn::Mul(w, hn::Mul(y, y)));
        growthBelow.add(hn::Mul(hn::Mul(w, m), s));
        const auto ws = hn::Mul(w, s);
        const auto wss = hn::Mul(ws, s);
        below.add(ws);
        belowSquare.add(wss);
        belowCube.add(hn::Mul(wss, s));
    }
    shannon.store();
    slope.store();
    distance.store();
    growthBelow.store();
    below.store();
    belowSquare.store();
    belowCube.store();
}

/// The extremes of y among the entries worth showing, and the largest |w·m|.
struct Extremes
{
    double lowest, highest, change;
};
HWY_INLINE Extremes extremesOf(const ChunkCurves& c, std::size_t count, double shown)
{
    const DoubleTag d;
    const auto bound = hn::Set(d, shown);
    auto lowest = hn::Zero(d);
    auto highest = hn::Zero(d);
    auto change = hn::Zero(d);
    for (std::size_t i = 0; i < count; i += doubleLanes) {
        const auto w = hn::Load(d, c.w + i);
        const auto wm = hn::Mul(w, hn::Load(d, c.m + i));
        const auto visible = hn::Gt(hn::Max(w, hn::Add(w, wm)), bound);
        const auto y = hn::IfThenElseZero(visible, hn::Load(d, c.y + i));
        lowest = hn::Min(lowest, y);
        highest = hn::Max(highest, y);
        change = hn::Max(change, hn::Abs(wm));
    }
    HWY_ALIGN double lane[3][doubleLanes];
    hn::Store(lowest, d, lane[0]);
    hn::Store(highest, d, lane[1]);
    hn::Store(change, d, lane[2]);
    return {*std::min_element(lane[0], lane[0] + doubleLanes),
            *std::max_element(lane[1], lane[1] + doubleLanes),
            *std::max_element(lane[2], lane[2] + doubleLanes)};
}

template <bool all>
void accumulateTerms(const LogitsRows& rows, const LargestLogit& top, float targetAtTop,
                     const LogitsRequest& request, LogitsAccumulated& result)
{
    FloatChunk reference(rows.reference, rows.referenceType, rows.count, top.value - fillDepth);
    // Filled so that y stays small there.
    FloatChunk target(rows.target, rows.targetType, rows.count,
                      targetAtTop - fillDepth * static_cast<float>(request.exponent));
    ChunkCurves curves;
    alignas(64) Stripes stripes{};
    result.lowest = result.highest = 0;
    result.largestOfChunks.clear();
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const std::size_t count = reference.filled(at);
        makeCurves<all>(reference.at(at), target.at(at), count, static_cast<double>(top.value),
                        static_cast<double>(targetAtTop), request, curves);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            addCoreTerms(curves, count, request.near, stripes, begin);
            if constexpr (all) {
                addSquareTerms(curves, count, stripes, begin);
                addShannonTerms(curves, count, stripes, begin);
            }
        }
        if constexpr (all) {
            const Extremes extremes = extremesOf(curves, count, request.shown);
            result.lowest = std::min(result.lowest, extremes.lowest);
            result.highest = std::max(result.highest, extremes.highest);
            result.largestOfChunks.push_back(extremes.change);
        }
    }
    for (std::size_t k = 0; k < logitsTerms; ++k)
        result.sums[k] = totalOf(stripes[k].data());
}

void accumulateOf(const LogitsRows& rows, const LargestLogit& top, float targetAtTop,
                  const LogitsRequest& request, LogitsAccumulated& result)
{
    if (request.all)
        accumulateTerms<true>(rows, top, targetAtTop, request, result);
    else
        accumulateTerms<false>(rows, top, targetAtTop, request, result);
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(centreOf);
HWY_EXPORT(accumulateOf);

LogitsCentre centreOfLogits(const LogitsRows& rows, const LargestLogit& top, float targetAtTop)
{
    return HWY_DYNAMIC_DISPATCH(centreOf)(rows, top, targetAtTop);
}

void accumulateLogits(const LogitsRows& rows, const LargestLogit& top, float targetAtTop,
                      const LogitsRequest& request, LogitsAccumulated& result)
{
    HWY_DYNAMIC_DISPATCH(accumulateOf)(rows, top, targetAtTop, request, result);
}

} // namespace moire::numeric
#endif
