// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CORE_NUMERIC_VECTOR_PAIR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CORE_NUMERIC_VECTOR_PAIR_INL_H
#undef MOIRE_CORE_NUMERIC_VECTOR_PAIR_INL_H
#else
#define MOIRE_CORE_NUMERIC_VECTOR_PAIR_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>

// One vector or two at a time under the same names.
HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Two vectors side by side: their operations take turns, so that two chains of dependent ones keep
/// the arithmetic units busy where one would wait.
template <class V>
struct Twin
{
    V a, b;
};

#define MOIRE_TWIN_OPERATION(NAME)                                                                 \
    template <class V>                                                                             \
    HWY_INLINE Twin<V> NAME(Twin<V> x, Twin<V> y)                                                  \
    {                                                                                              \
        return {hn::NAME(x.a, y.a), hn::NAME(x.b, y.b)};                                           \
    }                                                                                              \
    template <class V>                                                                             \
    HWY_INLINE Twin<V> NAME(Twin<V> x, V y)                                                        \
    {                                                                                              \
        return {hn::NAME(x.a, y), hn::NAME(x.b, y)};                                               \
    }
MOIRE_TWIN_OPERATION(Add)
MOIRE_TWIN_OPERATION(Sub)
MOIRE_TWIN_OPERATION(Mul)
MOIRE_TWIN_OPERATION(Div)
MOIRE_TWIN_OPERATION(Max)
#undef MOIRE_TWIN_OPERATION

template <class V>
HWY_INLINE Twin<V> Abs(Twin<V> x)
{
    return {hn::Abs(x.a), hn::Abs(x.b)};
}

/// 0 where x < bound, else `value`.
template <class D, class V>
HWY_INLINE V zeroBelow(D d, V x, hn::TFromD<D> bound, V value)
{
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, bound)), value);
}
template <class D, class V>
HWY_INLINE Twin<V> zeroBelow(D d, Twin<V> x, hn::TFromD<D> bound, Twin<V> value)
{
    return {zeroBelow(d, x.a, bound, value.a), zeroBelow(d, x.b, bound, value.b)};
}

/// `yes` where x ≤ bound, else `no`.
template <class D, class V>
HWY_INLINE V whereAtMost(D d, V x, hn::TFromD<D> bound, V yes, V no)
{
    return hn::IfThenElse(hn::Le(x, hn::Set(d, bound)), yes, no);
}
template <class D, class V>
HWY_INLINE Twin<V> whereAtMost(D d, Twin<V> x, hn::TFromD<D> bound, Twin<V> yes, Twin<V> no)
{
    return {whereAtMost(d, x.a, bound, yes.a, no.a), whereAtMost(d, x.b, bound, yes.b, no.b)};
}

template <class D, class V>
HWY_INLINE bool allAtMost(D d, V x, hn::TFromD<D> bound)
{
    return hn::AllTrue(d, hn::Le(x, hn::Set(d, bound)));
}
template <class D, class V>
HWY_INLINE bool allAtMost(D d, Twin<V> x, hn::TFromD<D> bound)
{
    return allAtMost(d, hn::Max(x.a, x.b), bound);
}

/// v·2ⁿ, n in the low bits of `shifted`; `mantissa` bits of the dtype.
template <int mantissa, class D, class V>
HWY_INLINE V scaled(D d, V v, V shifted)
{
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(
        d, hn::Add(hn::BitCast(du, v), hn::ShiftLeft<mantissa>(hn::BitCast(du, shifted))));
}
template <int mantissa, class D, class V>
HWY_INLINE Twin<V> scaled(D d, Twin<V> v, Twin<V> shifted)
{
    return {scaled<mantissa>(d, v.a, shifted.a), scaled<mantissa>(d, v.b, shifted.b)};
}

/// A constant as one vector or two.
template <class V, class D>
HWY_INLINE V constant(D d, hn::TFromD<D> value)
{
    if constexpr (requires(V v) { v.b; })
        return {hn::Set(d, value), hn::Set(d, value)};
    else
        return hn::Set(d, value);
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
