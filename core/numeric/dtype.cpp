// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/dtype.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace moire::numeric {

namespace {

struct DTypeFacts
{
    DType dtype;
    std::string_view name;
    std::size_t size;
};

constexpr std::array facts{
    DTypeFacts{DType::BF16, "bf16", 2},         DTypeFacts{DType::FP16, "fp16", 2},
    DTypeFacts{DType::FP32, "fp32", 4},         DTypeFacts{DType::FP64, "fp64", 8},
    DTypeFacts{DType::E4M3FN, "e4m3fn", 1},     DTypeFacts{DType::E5M2, "e5m2", 1},
    DTypeFacts{DType::E4M3FNUZ, "e4m3fnuz", 1}, DTypeFacts{DType::E5M2FNUZ, "e5m2fnuz", 1},
    DTypeFacts{DType::I8, "int8", 1},           DTypeFacts{DType::I16, "int16", 2},
    DTypeFacts{DType::I32, "int32", 4},         DTypeFacts{DType::I64, "int64", 8},
    DTypeFacts{DType::U8, "uint8", 1},          DTypeFacts{DType::Bool, "bool", 1},
};

const DTypeFacts& factsOf(DType dtype)
{
    const auto index = static_cast<std::size_t>(dtype) - 1;
    assert(index < facts.size());
    return facts[index];
}

/// The three fields of a float's bits.
struct Fields
{
    bool negative;
    std::uint64_t exponent;
    std::uint64_t mantissa;
    std::uint64_t magnitude;
};

Fields fieldsOf(std::uint64_t bits, const FloatLayout& layout)
{
    const int width = layout.exponentBits + layout.mantissaBits;
    const std::uint64_t magnitude = bits & ((1ULL << width) - 1);
    return {((bits >> width) & 1U) != 0, magnitude >> layout.mantissaBits,
            magnitude & ((1ULL << layout.mantissaBits) - 1), magnitude};
}

bool isNaNFields(const Fields& f, const FloatLayout& layout)
{
    if (layout.negativeZeroIsNaN)
        return f.negative && f.magnitude == 0;
    const std::uint64_t topExponent = (1ULL << layout.exponentBits) - 1;
    if (f.exponent != topExponent)
        return false;
    return layout.hasInfinity ? f.mantissa != 0 : f.mantissa == (1ULL << layout.mantissaBits) - 1;
}

} // namespace

std::size_t sizeOf(DType dtype)
{
    return factsOf(dtype).size;
}

std::string_view nameOf(DType dtype)
{
    return factsOf(dtype).name;
}

std::optional<DType> dtypeFromName(std::string_view name)
{
    for (const DTypeFacts& f : facts)
        if (f.name == name)
            return f.dtype;
    return std::nullopt;
}

std::optional<DType> dtypeFromNumber(std::uint64_t number)
{
    if (number == 0 || number > facts.size())
        return std::nullopt;
    return facts[number - 1].dtype;
}

bool isFloat(DType dtype)
{
    return dtype <= DType::E5M2FNUZ;
}

FloatLayout layoutOf(DType dtype)
{
    assert(isFloat(dtype));
    switch (dtype) {
    case DType::BF16:
        return {8, 7, 127, true, false};
    case DType::FP16:
        return {5, 10, 15, true, false};
    case DType::FP64:
        return {11, 52, 1023, true, false};
    case DType::E4M3FN:
        return {4, 3, 7, false, false};
    case DType::E5M2:
        return {5, 2, 15, true, false};
    case DType::E4M3FNUZ:
        return {4, 3, 8, false, true};
    case DType::E5M2FNUZ:
        return {5, 2, 16, false, true};
    default:
        return {8, 23, 127, true, false};
    }
}

namespace {

template <class Word>
Word read(const std::byte* data)
{
    Word word = 0;
    std::memcpy(&word, data, sizeof(word));
    return word;
}

} // namespace

std::uint64_t bitsAt(const std::byte* data, DType dtype, std::size_t i)
{
    // A size known to the compiler makes each a single load.
    switch (sizeOf(dtype)) {
    case 1:
        return read<std::uint8_t>(data + i);
    case 2:
        return read<std::uint16_t>(data + i * 2);
    case 4:
        return read<std::uint32_t>(data + i * 4);
    default:
        return read<std::uint64_t>(data + i * 8);
    }
}

namespace {

/// A NaN without its payload.
double finiteOr(float value)
{
    return std::isnan(value) ? std::copysign(std::numeric_limits<double>::quiet_NaN(), value)
                             : double{value};
}

/// Exponent and mantissa of an fp16 in the places of an fp32, whose bias is 112 larger; the product
/// is exact, of subnormals too.
double fromHalf(std::uint32_t bits)
{
    constexpr std::uint32_t largestFinite = 0x7BFF;
    constexpr std::uint32_t infinity = 0x7F800000;
    constexpr unsigned moreMantissa = 13;
    const std::uint32_t size = (bits & 0x7FFFU) << moreMantissa;
    const float value = (bits & 0x7FFFU) > largestFinite ? std::bit_cast<float>(infinity | size)
                                                         : std::bit_cast<float>(size) * 0x1p112F;
    return finiteOr((bits & 0x8000U) != 0 ? -value : value);
}

} // namespace

double toDouble(std::uint64_t bits, DType dtype)
{
    switch (dtype) {
    case DType::I8:
        return static_cast<std::int8_t>(bits);
    case DType::I16:
        return static_cast<std::int16_t>(bits);
    case DType::I32:
        return static_cast<std::int32_t>(bits);
    case DType::I64:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    case DType::U8:
    case DType::Bool:
        return static_cast<double>(bits & 0xFFU);
    case DType::FP64:
        return std::bit_cast<double>(bits);
    case DType::FP32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::BF16:
        return finiteOr(std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0xFFFFU) << 16U));
    case DType::FP16:
        return fromHalf(static_cast<std::uint32_t>(bits & 0xFFFFU));
    default:
        break;
    }
    const FloatLayout layout = layoutOf(dtype);
    const Fields f = fieldsOf(bits, layout);
    const double sign = f.negative ? -1.0 : 1.0;
    if (isNaNFields(f, layout))
        return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    if (layout.hasInfinity && f.exponent == (1ULL << layout.exponentBits) - 1)
        return sign * std::numeric_limits<double>::infinity();
    const int scale =
        (f.exponent == 0 ? 1 : static_cast<int>(f.exponent)) - layout.bias - layout.mantissaBits;
    const std::uint64_t hidden = f.exponent == 0 ? 0 : 1ULL << layout.mantissaBits;
    return sign * std::ldexp(static_cast<double>(f.mantissa | hidden), scale);
}

std::uint16_t bf16FromFloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

float floatFromBf16(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t fp16FromFloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U)
        return static_cast<std::uint16_t>(sign | 0x7E00U | (magnitude >> 13U & 0x3FFU));
    if (magnitude >= 0x477FF000U) // rounds to 2^16 or is infinite
        return static_cast<std::uint16_t>(sign | 0x7C00U);
    if (magnitude < 0x38800000U) { // below 2^-14: adding 0.5 lets the hardware round at 2^-24
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<std::uint16_t>(sign
                                          | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
    }
    const std::uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13U & 1U);
    return static_cast<std::uint16_t>(sign | (rounded - 0x38000000U) >> 13U);
}

float floatFromFp16(std::uint16_t bits)
{
    return static_cast<float>(toDouble(bits, DType::FP16));
}

std::string_view nameOf(ValueClass valueClass)
{
    constexpr std::array<std::string_view, valueClassCount> names{"normal", "subnormal", "zero",
                                                                  "+Inf",   "-Inf",      "NaN"};
    return names[static_cast<std::size_t>(valueClass)];
}

ValueClass classOf(std::uint64_t bits, DType dtype)
{
    if (!isFloat(dtype))
        return bits == 0 ? ValueClass::Zero : ValueClass::Normal;
    const FloatLayout layout = layoutOf(dtype);
    const Fields f = fieldsOf(bits, layout);
    if (isNaNFields(f, layout))
        return ValueClass::NaN;
    if (layout.hasInfinity && f.exponent == (1ULL << layout.exponentBits) - 1)
        return f.negative ? ValueClass::MinusInf : ValueClass::PlusInf;
    if (f.exponent != 0)
        return ValueClass::Normal;
    return f.mantissa == 0 ? ValueClass::Zero : ValueClass::Subnormal;
}

std::int64_t monotoneKey(std::uint64_t bits, DType dtype)
{
    switch (dtype) {
    case DType::I8:
        return static_cast<std::int8_t>(bits);
    case DType::I16:
        return static_cast<std::int16_t>(bits);
    case DType::I32:
        return static_cast<std::int32_t>(bits);
    case DType::I64:
        return static_cast<std::int64_t>(bits);
    case DType::U8:
    case DType::Bool:
        return static_cast<std::int64_t>(bits & 0xFFU);
    default:
        break;
    }
    const Fields f = fieldsOf(bits, layoutOf(dtype));
    const auto magnitude = static_cast<std::int64_t>(f.magnitude);
    return f.negative ? -magnitude : magnitude;
}

std::optional<std::uint64_t> ulpDistance(std::uint64_t a, std::uint64_t b, DType dtype)
{
    if (a == b)
        return 0;
    if (isFloat(dtype)
        && (classOf(a, dtype) == ValueClass::NaN || classOf(b, dtype) == ValueClass::NaN))
        return std::nullopt;
    const std::int64_t keyA = monotoneKey(a, dtype);
    const std::int64_t keyB = monotoneKey(b, dtype);
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(keyA, keyB, &difference)
        || difference == std::numeric_limits<std::int64_t>::min())
        return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
}

} // namespace moire::numeric
