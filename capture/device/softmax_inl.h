// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CAPTURE_DEVICE_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CAPTURE_DEVICE_SOFTMAX_INL_H
#undef MOIRE_CAPTURE_DEVICE_SOFTMAX_INL_H
#else
#define MOIRE_CAPTURE_DEVICE_SOFTMAX_INL_H
#endif

#include "capture/device/curves.h"
#include "capture/device/values_inl.h"

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

using DoubleTag = hn::CappedTag<double, stripes / 2>;
/// fp32 vectors with as many lanes as the fp64 ones.
using NarrowTag = hn::Rebind<float, DoubleTag>;
inline constexpr std::size_t doubleLanes = hn::MaxLanes(DoubleTag());

/// e^x as exponential() of curves.h computes it: the same operations, the same bits.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x)
{
    const hn::RebindToUnsigned<D> du;
    const auto limit = hn::Set(d, expTable::limit);
    const auto low = hn::Neg(limit);
    const auto tooLarge = hn::Gt(x, limit);
    const auto tooSmall = hn::Lt(x, low);
    const auto isNaN = hn::Ne(x, x);
    auto y = hn::IfThenElse(tooLarge, limit, hn::IfThenElse(tooSmall, low, x));
    y = hn::IfThenElse(isNaN, hn::Zero(d), y);
    const auto shifted =
        hn::Add(hn::Mul(y, hn::Set(d, expTable::log2e)), hn::Set(d, expTable::roundingShift));
    const auto n = hn::Sub(shifted, hn::Set(d, expTable::roundingShift));
    const auto r = hn::Sub(hn::Sub(y, hn::Mul(n, hn::Set(d, expTable::ln2High))),
                           hn::Mul(n, hn::Set(d, expTable::ln2Low)));
    auto p = hn::Set(d, expTable::coefficients[0]);
    for (std::size_t i = 1; i < expTable::coefficients.size(); ++i)
        p = hn::Add(hn::Mul(p, r), hn::Set(d, expTable::coefficients[i]));
    const auto power = hn::ShiftLeft<52>(hn::BitCast(du, shifted));
    auto value = hn::BitCast(d, hn::Add(hn::BitCast(du, p), power));
    value = hn::IfThenElse(tooLarge, hn::Set(d, expTable::infinity), value);
    value = hn::IfThenElse(tooSmall, hn::Zero(d), value);
    return hn::IfThenElse(isNaN, x, value);
}

/// Rounds to fp32; infinities stay, which Highway's plain C++ form does not promise.
template <class D>
HWY_INLINE auto toFloat(D d, hn::Vec<D> x)
{
    const hn::Rebind<float, D> narrow;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    HWY_ALIGN double wide[doubleLanes];
    HWY_ALIGN float values[doubleLanes];
    hn::Store(x, d, wide);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i)
        values[i] = static_cast<float>(wide[i]);
    return hn::Load(narrow, values);
#else
    (void)d;
    return hn::DemoteTo(narrow, x);
#endif
}

/// e^x rounded to fp32 of fp32 lanes.
template <class NarrowD>
HWY_INLINE hn::Vec<NarrowD> exponentialOfFloat(NarrowD, hn::Vec<NarrowD> x)
{
    const hn::Rebind<double, NarrowD> d;
    return toFloat(d, exponential(d, hn::PromoteTo(d, x)));
}

/// Calls body(tag, offset) for vectors of doubleLanes, then for single elements, of [0, count).
template <class Body>
HWY_INLINE void overNarrow(std::size_t count, const Body& body)
{
    std::size_t i = 0;
    for (; i + doubleLanes <= count; i += doubleLanes)
        body(NarrowTag(), i);
    for (; i < count; ++i)
        body(hn::CappedTag<float, 1>(), i);
}

/// The stripes' sum as a balanced tree: 0+8, 1+9, …, 0+4, …, 0+2, …, 0+1.
HWY_INLINE float treeSum(const FloatVector* sums)
{
    HWY_ALIGN float stripe[stripes];
    const FloatTag d;
    for (std::size_t v = 0; v < vectorsPerGroup; ++v)
        hn::Store(sums[v], d, stripe + v * lanes);
    for (std::size_t half = stripes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            stripe[i] = stripe[i] + stripe[i + half];
    return stripe[0];
}

/// Calls add(sum, values) for each stripe vector of each group of 16 of values[0..count), a
/// last short group filled up with `filler`; then the tree.
template <class Add>
HWY_INLINE float stripedSum(const float* values, std::size_t count, float filler, const Add& add)
{
    const FloatTag d;
    FloatVector sums[vectorsPerGroup];
    for (std::size_t v = 0; v < vectorsPerGroup; ++v)
        sums[v] = hn::Zero(d);
    std::size_t i = 0;
    for (; i + stripes <= count; i += stripes)
        for (std::size_t v = 0; v < vectorsPerGroup; ++v)
            sums[v] = add(sums[v], hn::LoadU(d, values + i + v * lanes));
    if (i < count) {
        HWY_ALIGN float last[stripes];
        std::fill_n(std::copy(values + i, values + count, last), i + stripes - count, filler);
        for (std::size_t v = 0; v < vectorsPerGroup; ++v)
            sums[v] = add(sums[v], hn::Load(d, last + v * lanes));
    }
    return treeSum(sums);
}

/// The largest of values[0..count), NaN when there is one. Free of order but for the sign of a
/// zero, which exp(x − max) does not see.
HWY_INLINE float maximum(const float* values, std::size_t count)
{
    const FloatTag d;
    const auto larger = [](auto best, auto value) {
        return hn::IfThenElse(hn::Or(hn::Gt(value, best), hn::Ne(value, value)), value, best);
    };
    auto best = hn::Set(d, values[0]);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        best = larger(best, hn::LoadU(d, values + i));
    for (; i < count; ++i)
        best = larger(best, hn::Set(d, values[i]));
    HWY_ALIGN float candidates[lanes];
    hn::Store(best, d, candidates);
    float top = candidates[0];
    for (const float value : candidates)
        top = value > top || std::isnan(value) ? value : top;
    return top;
}

/// values ← exp(values − max)/Σ in fp32, in place. NaN anywhere, or an infinite maximum, makes NaN
/// as exp(x − max) does.
HWY_INLINE void softmax(float* values, std::size_t count)
{
    const float top = maximum(values, count);
    overNarrow(count, [&](auto d, std::size_t i) {
        const auto x = hn::Sub(hn::LoadU(d, values + i), hn::Set(d, top));
        hn::StoreU(exponentialOfFloat(d, x), d, values + i);
    });
    const float sum =
        stripedSum(values, count, 0.0F, [](FloatVector a, FloatVector b) { return hn::Add(a, b); });
    overElements(count, [&](auto d, std::size_t i) {
        hn::StoreU(hn::Div(hn::LoadU(d, values + i), hn::Set(d, sum)), d, values + i);
    });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
