// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace moire::numeric {

/// Element types of recorded tensors. The numbers are those of the file format: never renumber.
enum class DType : std::uint8_t
{
    BF16 = 1,
    FP16 = 2,
    FP32 = 3,
    FP64 = 4,
    E4M3FN = 5,   ///< OCP fp8, no infinity
    E5M2 = 6,     ///< OCP fp8
    E4M3FNUZ = 7, ///< AMD CDNA3 fp8
    E5M2FNUZ = 8, ///< AMD CDNA3 bf8
    I8 = 9,
    I16 = 10,
    I32 = 11,
    I64 = 12,
    U8 = 13,
    Bool = 14,
};

inline constexpr std::array allDTypes{DType::BF16,   DType::FP16, DType::FP32,     DType::FP64,
                                      DType::E4M3FN, DType::E5M2, DType::E4M3FNUZ, DType::E5M2FNUZ,
                                      DType::I8,     DType::I16,  DType::I32,      DType::I64,
                                      DType::U8,     DType::Bool};

/// Bytes of one element.
std::size_t sizeOf(DType dtype);
/// "bf16", "fp16", "fp32", "fp64", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "int8" … "uint8",
/// "bool".
std::string_view nameOf(DType dtype);
std::optional<DType> dtypeFromName(std::string_view name);
std::optional<DType> dtypeFromNumber(std::uint64_t number);
bool isFloat(DType dtype);

/// Exponent and mantissa field widths, bias, and what the largest exponent means.
struct FloatLayout
{
    int exponentBits;
    int mantissaBits;
    int bias;
    bool hasInfinity;
    bool negativeZeroIsNaN; ///< the fnuz kinds
};
/// Layout of a floating dtype (assert: isFloat).
FloatLayout layoutOf(DType dtype);

/// Bits of element i of a row, zero-extended. `data` need not be aligned.
std::uint64_t bitsAt(const std::byte* data, DType dtype, std::size_t i);

/// The value of `bits`, exactly (every dtype but int64 fits double; int64 rounds to nearest even).
double toDouble(std::uint64_t bits, DType dtype);

/// Rounds a float to bf16, to nearest, ties to even; NaN stays NaN (quiet, sign kept).
std::uint16_t bf16FromFloat(float value);
float floatFromBf16(std::uint16_t bits);
/// IEEE binary16, to nearest even, subnormals kept.
std::uint16_t fp16FromFloat(float value);
float floatFromFp16(std::uint16_t bits);

/// Value classes, in the order of the class matrix (A7).
enum class ValueClass : std::uint8_t
{
    Normal,
    Subnormal,
    Zero,
    PlusInf,
    MinusInf,
    NaN
};
inline constexpr std::size_t valueClassCount = 6;
std::string_view nameOf(ValueClass valueClass);
ValueClass classOf(std::uint64_t bits, DType dtype);

/// Sign-magnitude bits as a monotone integer: ±0 ↦ 0, the smallest positive subnormal ↦ 1, its
/// negative ↦ −1; integers map to themselves. NaN has no place in the order: see ulpDistance.
std::int64_t monotoneKey(std::uint64_t bits, DType dtype);

/// |key(a) − key(b)|: 0 for equal values (so −0 and +0); nothing when either is NaN and the bits
/// differ. Saturates at 2^63 − 1.
std::optional<std::uint64_t> ulpDistance(std::uint64_t a, std::uint64_t b, DType dtype);

} // namespace moire::numeric
