// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_LOGITS_CURVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_LOGITS_CURVES_INL_H
#undef MOIRE_CORE_NUMERIC_LOGITS_CURVES_INL_H
#else
#define MOIRE_CORE_NUMERIC_LOGITS_CURVES_INL_H
#endif

#include <hwy/highway.h>

#include <array>

// Curves over vectors, of multiplications and additions that are rounded one by one, so that every
// instruction set gives the same bits. The polynomials interpolate at Chebyshev nodes; errors are
// those of the polynomial, found with mpmath at 50 digits.
HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr double log2OfE = 1.4426950408889634;
/// ln 2 in two parts: products of the first with integers below 2¹² are exact.
inline constexpr double ln2High = 0.6931471805437468;
inline constexpr double ln2Low = 1.619851018665656e-11;
/// Adding and taking away 1.5·2⁵² rounds to an integer; the sum's low bits hold it.
inline constexpr double roundingShift = 6755399441055744.0;
inline constexpr float roundingShiftFloat = 12582912.0F; ///< 1.5·2²³

/// 0 where x < bound, else `value`.
template <class D, class V>
HWY_INLINE V zeroBelow(D d, V x, hn::TFromD<D> bound, V value)
{
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, bound)), value);
}

/// `yes` where x ≤ bound, else `no`.
template <class D, class V>
HWY_INLINE V whereAtMost(D d, V x, hn::TFromD<D> bound, V yes, V no)
{
    return hn::IfThenElse(hn::Le(x, hn::Set(d, bound)), yes, no);
}

template <class D, class V>
HWY_INLINE bool allAtMost(D d, V x, hn::TFromD<D> bound)
{
    return hn::AllTrue(d, hn::Le(x, hn::Set(d, bound)));
}

/// v·2ⁿ, n in the low bits of `shifted`; `mantissa` bits of the dtype.
template <int mantissa, class D, class V>
HWY_INLINE V scaled(D d, V v, V shifted)
{
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(
        d, hn::Add(hn::BitCast(du, v), hn::ShiftLeft<mantissa>(hn::BitCast(du, shifted))));
}

/// c[at] + c[at + 2]·x + c[at + 4]·x² + …; written as a recursion because GCC does not unroll short
/// loops at -O2.
template <std::size_t at, class D, class V, std::size_t N>
HWY_INLINE V everySecond(D d, V x, const std::array<hn::TFromD<D>, N>& c)
{
    if constexpr (at + 2 >= N)
        return hn::Set(d, c[at]);
    else
        return Add(Mul(everySecond<at + 2>(d, x, c), x), hn::Set(d, c[at]));
}

/// Σ c[i]·xⁱ, even and odd powers apart: two short chains in place of a long one.
template <class D, class V, std::size_t N>
HWY_INLINE V polynomial(D d, V x, const std::array<hn::TFromD<D>, N>& c)
{
    const V square = Mul(x, x);
    return Add(Mul(everySecond<1>(d, square, c), x), everySecond<0>(d, square, c));
}

/// (2ˣ − 1)/x on |x| ≤ ½, relative error 5e-12: 2e-12 of 2ˣ.
inline constexpr std::array<double, 8> powerCurve{
    0.6931471805568324,    0.24022650695888503,    0.055504109063258665,   0.00961812913523614,
    0.0013333478473685416, 0.00015403475186530786, 1.5303700711365693e-05, 1.325080551750225e-06};
/// The same in fp32, 5e-7.
inline constexpr std::array<float, 5> powerCurveFloat{0.6931471805599453F, 0.2402234903802036F,
                                                      0.05550381013796457F, 0.009666368515385448F,
                                                      0.0013381302537320797F};
/// (expm1(x) − x)/x² on |x| ≤ ½·ln 2, 6e-11.
inline constexpr std::array<double, 7> excessCurve{0.5,
                                                   0.166666667191548,
                                                   0.04166666671913807,
                                                   0.008333298413941455,
                                                   0.0013888853979832356,
                                                   0.00019899332056564083,
                                                   2.485963629410833e-05};
/// The same in fp32, 1.3e-7.
inline constexpr std::array<float, 5> excessCurveFloat{0.5F, 0.16666576845993977F,
                                                       0.04166655443768594F, 0.008363202971575855F,
                                                       0.0013926213466332444F};
/// ln cosh(x)/x² by x² on |x| ≤ ½·ln 2, 7e-15.
inline constexpr std::array<double, 7> coshCurve{
    0.4999999999999965,    -0.08333333333049903,   0.022222221844195034,  -0.006746012796286743,
    0.0021864949607295044, -0.0007329860346930138, 0.00022157160317643138};
/// (artanh(x)/x − 1)/x² by x² on |x| ≤ 0.2, 4e-15.
inline constexpr std::array<double, 7> artanhCurve{
    0.3333333333333347,  0.19999999999667778, 0.14285714418022774, 0.11111091388337241,
    0.09092305123147032, 0.07641851876201573, 0.07559243554362285};

/// e^x for x ≤ 700; 0 below −707. e⁰ is 1 exactly.
template <class D, class V>
HWY_INLINE V power(D d, V x)
{
    constexpr double lowest = -1021;
    const V wanted = Mul(x, hn::Set(d, log2OfE));
    const V reached = Max(wanted, hn::Set(d, lowest));
    const auto shift = hn::Set(d, roundingShift);
    const V shifted = Add(reached, shift);
    const V f = Sub(reached, Sub(shifted, shift));
    const V p = Add(Mul(polynomial(d, f, powerCurve), f), hn::Set(d, 1.0));
    return zeroBelow(d, wanted, lowest, scaled<52>(d, p, shifted));
}

/// u = expm1(y/2), m = expm1(y) = u·(u + 2), and m − y without cancellation. |y| ≤ 1400.
template <class V>
struct Growth
{
    V u, m, excess;
};

/// |y| ≤ 2·direct, where nothing is to be reduced: below ln 2.
inline constexpr double direct = 0.34;

template <class D, class V>
HWY_INLINE Growth<V> growth(D d, V y)
{
    const auto two = hn::Set(d, 2.0);
    const V h = Mul(y, hn::Set(d, 0.5));
    if (HWY_LIKELY(allAtMost(d, Abs(h), direct))) {
        const V beyond = Mul(Mul(h, h), polynomial(d, h, excessCurve));
        const V u = Add(h, beyond);
        return {u, Mul(u, Add(u, two)), Add(Mul(u, u), Add(beyond, beyond))};
    }
    const auto shift = hn::Set(d, roundingShift);
    const V shifted = Add(Mul(h, hn::Set(d, log2OfE)), shift);
    const V n = Sub(shifted, shift);
    const V f = Sub(Sub(h, Mul(n, hn::Set(d, ln2High))), Mul(n, hn::Set(d, ln2Low)));
    const V beyond = Mul(Mul(f, f), polynomial(d, f, excessCurve));
    const V near = Add(f, beyond);
    const V scale = scaled<52>(d, hn::Set(d, 1.0), shifted);
    const V steps = Abs(n); // whole numbers
    const V u =
        whereAtMost(d, steps, 0.0, near, Add(Mul(scale, near), Sub(scale, hn::Set(d, 1.0))));
    const V m = Mul(u, Add(u, two));
    return {u, m, whereAtMost(d, steps, 0.0, Add(Mul(u, u), Add(beyond, beyond)), Sub(m, y))};
}

/// ln cosh(y/2), m = expm1(y).
template <class D, class V>
HWY_INLINE V logCoshOfHalf(D d, V y, V m)
{
    const V h = Mul(y, hn::Set(d, 0.5));
    const V size = Abs(h);
    const V square = Mul(h, h);
    const V near = Mul(square, polynomial(d, square, coshCurve));
    if (HWY_LIKELY(allAtMost(d, size, direct)))
        return near;
    // |h| − ln 2 + log1p(z), z = e^−|y|; log1p(z) = 2·artanh(z/(2 + z)), z ≤ e^−0.68.
    const V grown = Add(m, hn::Set(d, 1.0));
    const V z = whereAtMost(d, y, 0.0, grown, Div(hn::Set(d, 1.0), Max(grown, hn::Set(d, 0.5))));
    const V a = Div(z, Add(z, hn::Set(d, 2.0)));
    const V square2 = Mul(a, a);
    const V artanh = Add(a, Mul(Mul(a, square2), polynomial(d, square2, artanhCurve)));
    const V far = Add(Sub(size, hn::Set(d, 0.6931471805599453)), Add(artanh, artanh));
    return whereAtMost(d, size, direct, near, far);
}

/// e^x in fp32 for x ≤ 80, 0 below −87.
template <class D, class V>
HWY_INLINE V powerFloat(D d, V x)
{
    constexpr float lowest = -125;
    const V wanted = Mul(x, hn::Set(d, static_cast<float>(log2OfE)));
    const V reached = Max(wanted, hn::Set(d, lowest));
    const auto shift = hn::Set(d, roundingShiftFloat);
    const V shifted = Add(reached, shift);
    const V f = Sub(reached, Sub(shifted, shift));
    const V p = Add(Mul(polynomial(d, f, powerCurveFloat), f), hn::Set(d, 1.0F));
    return zeroBelow(d, wanted, lowest, scaled<23>(d, p, shifted));
}

/// expm1(x) in fp32, |x| ≤ 80; relative error 1e-6 around 0.
template <class D, class V>
HWY_INLINE V growthFloat(D d, V x)
{
    if (HWY_LIKELY(allAtMost(d, Abs(x), static_cast<float>(direct))))
        return Add(x, Mul(Mul(x, x), polynomial(d, x, excessCurveFloat)));
    const auto shift = hn::Set(d, roundingShiftFloat);
    const V shifted = Add(Mul(x, hn::Set(d, static_cast<float>(log2OfE))), shift);
    const V n = Sub(shifted, shift);
    const V f = Sub(x, Mul(n, hn::Set(d, 0.693147181F)));
    const V near = Add(f, Mul(Mul(f, f), polynomial(d, f, excessCurveFloat)));
    const V scale = scaled<23>(d, hn::Set(d, 1.0F), shifted);
    return Add(Mul(scale, near), Sub(scale, hn::Set(d, 1.0F)));
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
