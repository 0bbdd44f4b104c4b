// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cassert>
#include <cstddef>
#include <cstdint>

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
