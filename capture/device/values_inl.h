// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CAPTURE_DEVICE_VALUES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CAPTURE_DEVICE_VALUES_INL_H
#undef MOIRE_CAPTURE_DEVICE_VALUES_INL_H
#else
#define MOIRE_CAPTURE_DEVICE_VALUES_INL_H
#endif

#include "capture/device/storage.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes of the fp32 vectors of this target: 16 stripes are a whole number of vectors.
using FloatTag = hn::CappedTag<float, stripes>;
inline constexpr std::size_t lanes = hn::MaxLanes(FloatTag());
inline constexpr std::size_t vectorsPerGroup = stripes / lanes;
using FloatVector = hn::Vec<FloatTag>;

/// round(a·b + c), rounded once on every target.
template <class D>
HWY_INLINE hn::Vec<D> fused(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c)
{
#if HWY_NATIVE_FMA
    (void)d;
    return hn::MulAdd(a, b, c);
#else
    HWY_ALIGN float x[lanes];
    HWY_ALIGN float y[lanes];
    HWY_ALIGN float z[lanes];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(c, d, z);
    for (std::size_t i = 0; i < hn::MaxLanes(d); ++i)
        z[i] = std::fma(x[i], y[i], z[i]);
    return hn::Load(d, z);
#endif
}

// The bits of a 16-bit value in the low half of each lane, widened.
template <class D, class U>
HWY_INLINE hn::Vec<D> widen(D d, Bf16, U bits)
{
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

template <class D, class U>
HWY_INLINE hn::Vec<D> widen(D d, Fp16, U bits)
{
    const hn::RebindToUnsigned<D> du;
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    // As if it were a bf16-biased exponent: one exact multiplication by 2^112 sets it right,
    // subnormals included; infinity and NaN get the largest exponent.
    const auto small = hn::BitCast(d, hn::ShiftLeft<13>(magnitude));
    const auto scaled = hn::BitCast(du, hn::Mul(small, hn::Set(d, 0x1p112F)));
    const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(du, 0x7F800000U));
    const auto isSpecial = hn::Gt(magnitude, hn::Set(du, 0x7BFFU));
    return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(isSpecial, special, scaled)));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* data)
{
    return hn::LoadU(d, data);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* data)
{
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToUnsigned<D> wide;
    return widen(
        d, T{},
        hn::PromoteTo(wide, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(data))));
}

/// Bits of the value rounded to bf16 or fp16, in the low half of each lane.
template <class D>
HWY_INLINE auto narrowBits(D, Bf16, hn::Vec<D> value)
{
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFU)), odd));
    return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), hn::Set(du, 0x7FC0U), rounded);
}

template <class D>
HWY_INLINE auto narrowBits(D d, Fp16, hn::Vec<D> value)
{
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFU));
    const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
    const auto normal = hn::ShiftRight<13>(
        hn::Sub(hn::Add(hn::Add(magnitude, hn::Set(du, 0xFFFU)), odd), hn::Set(du, 0x38000000U)));
    // Below 2^-14 adding 0.5 makes the adder round at 2^-24.
    const auto subnormal =
        hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F))),
                hn::Set(du, 0x3F000000U));
    const auto isSmall = hn::Gt(hn::Set(du, 0x38800000U), magnitude);
    const auto isHuge = hn::Gt(magnitude, hn::Set(du, 0x477FEFFFU)); // rounds to 2^16
    const auto finite = hn::IfThenElse(isSmall, subnormal, normal);
    const auto rounded = hn::Or(sign, hn::IfThenElse(isHuge, hn::Set(du, 0x7C00U), finite));
    return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), hn::Set(du, 0x7E00U), rounded);
}

/// round(value) to T, widened again; NaN in its one form.
template <class T, class D>
HWY_INLINE hn::Vec<D> rounded(D d, hn::Vec<D> value)
{
    if constexpr (std::is_same_v<T, float>) {
        const auto nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), 0x7FC00000U));
        return hn::IfThenElse(hn::IsNaN(value), nan, value);
    } else {
        return widen(d, T{}, narrowBits(d, T{}, value));
    }
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, float* data)
{
    hn::StoreU(rounded<float>(d, value), d, data);
}

template <class D, class T>
HWY_INLINE void store(D d, hn::Vec<D> value, T* data)
{
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToSigned<D> di;
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, narrowBits(d, T{}, value))), narrow,
               reinterpret_cast<std::uint16_t*>(data));
}

/// Calls body(D, offset, count) for whole vectors, then for single elements, of [0, count).
template <class Body>
HWY_INLINE void overElements(std::size_t count, const Body& body)
{
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        body(FloatTag(), i);
    for (; i < count; ++i)
        body(hn::CappedTag<float, 1>(), i);
}

template <class T>
HWY_INLINE void widenRow(const T* in, std::size_t count, float* out)
{
    overElements(count, [&](auto d, std::size_t i) { hn::StoreU(load(d, in + i), d, out + i); });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
