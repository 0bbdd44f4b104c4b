// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace moire::capture::device {

/// Elements as they lie in memory; float stands for itself.
struct Bf16
{
    std::uint16_t bits;
};
struct Fp16
{
    std::uint16_t bits;
};

/// Rows that one tile of a matrix product works on at once.
inline constexpr std::size_t tileRows = 6;

/// Stripes of a reduction over a row, and outputs of a panel.
inline constexpr std::size_t stripes = 16;

inline float widened(float value)
{
    return value;
}
inline float widened(Bf16 value)
{
    return numeric::floatFromBf16(value.bits);
}
inline float widened(Fp16 value)
{
    return numeric::floatFromFp16(value.bits);
}

/// Rounds to nearest even; NaN becomes the one positive quiet NaN.
inline void narrow(float value, float& out)
{
    out = std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}
inline void narrow(float value, Bf16& out)
{
    out.bits = std::isnan(value) ? std::uint16_t{0x7FC0} : numeric::bf16FromFloat(value);
}
inline void narrow(float value, Fp16& out)
{
    out.bits = std::isnan(value) ? std::uint16_t{0x7E00} : numeric::fp16FromFloat(value);
}

/// round(value) to T, widened again.
template <class T>
float roundedTo(float value)
{
    T narrowed;
    narrow(value, narrowed);
    return widened(narrowed);
}

/// Calls body(T{}) with the element type of `dtype`, which is one of the three that the kernels
/// know.
template <class Body>
decltype(auto) withStorage(numeric::DType dtype, Body&& body)
{
    assert(dtype == numeric::DType::FP32 || dtype == numeric::DType::BF16
           || dtype == numeric::DType::FP16);
    switch (dtype) {
    case numeric::DType::BF16:
        return body(Bf16{});
    case numeric::DType::FP16:
        return body(Fp16{});
    default:
        return body(float{});
    }
}

} // namespace moire::capture::device
