// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/ggml_types.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string_view>

namespace moire::capture {

namespace {

using numeric::DType;

enum Number : std::uint32_t
{
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q8_0 = 8,
    BF16 = 30,
};

constexpr std::size_t blockValues = 32; ///< of every packed type here
constexpr std::size_t halfBlock = blockValues / 2;
constexpr std::size_t scaleBytes = 2;

constexpr std::array readable{
    GgmlType{F32, 1, 4, DType::FP32, false},
    GgmlType{F16, 1, 2, DType::FP16, false},
    GgmlType{BF16, 1, 2, DType::BF16, false},
    GgmlType{Q4_0, blockValues, scaleBytes + halfBlock, DType::FP32, true},
    GgmlType{Q4_1, blockValues, 2 * scaleBytes + halfBlock, DType::FP32, true},
    GgmlType{Q8_0, blockValues, scaleBytes + blockValues, DType::FP32, true},
};

/// By number; "" for numbers that ggml has given up.
constexpr std::array<std::string_view, 42> names{
    "F32",     "F16",   "Q4_0",   "Q4_1",  "",      "",       "Q5_0", "Q5_1",    "Q8_0",
    "Q8_1",    "Q2_K",  "Q3_K",   "Q4_K",  "Q5_K",  "Q6_K",   "Q8_K", "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",   "I16",     "I32",
    "I64",     "F64",   "IQ1_M",  "BF16",  "",      "",       "",     "TQ1_0",   "TQ2_0",
    "",        "",      "",       "MXFP4", "NVFP4", "Q1_0"};

/// An fp16 scale, widened with the payload of a NaN kept, as NumPy does.
float scaleAt(const std::byte* bytes)
{
    constexpr std::uint32_t infinity = 0x7F800000;
    constexpr std::uint32_t exponent = 0x7C00;
    constexpr std::uint32_t mantissa = 0x03FF;
    constexpr std::uint32_t sign = 0x8000;
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, scaleBytes);
    if ((bits & exponent) != exponent)
        return numeric::floatFromFp16(bits);
    return std::bit_cast<float>((bits & sign) << 16U | infinity | (bits & mantissa) << 13U);
}

/// 16 bytes hold 32 values: the low nibbles are the first half, the high ones the second.
template <class Value>
void unpackNibbles(const std::byte* packed, float* out, Value value)
{
    for (std::size_t i = 0; i < halfBlock; ++i) {
        const auto pair = std::to_integer<unsigned>(packed[i]);
        out[i] = value(pair & 0xFU);
        out[i + halfBlock] = value(pair >> 4U);
    }
}

void unpackQ40(const std::byte* block, float* out)
{
    constexpr int zero = 8;
    const float scale = scaleAt(block);
    unpackNibbles(block + scaleBytes, out, [&](unsigned q) {
        return scale * static_cast<float>(static_cast<int>(q) - zero);
    });
}

void unpackQ41(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    const float least = scaleAt(block + scaleBytes);
    unpackNibbles(block + 2 * scaleBytes, out,
                  [&](unsigned q) { return scale * static_cast<float>(q) + least; });
    if (std::isfinite(scale))
        return;
    // Of two NaNs an addition keeps either, as the compiler orders them; NumPy keeps the product.
    unpackNibbles(block + 2 * scaleBytes, out, [&](unsigned q) {
        const float product = scale * static_cast<float>(q);
        return std::isnan(product) ? product : product + least;
    });
}

void unpackQ80(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    for (std::size_t i = 0; i < blockValues; ++i)
        out[i] = scale * static_cast<float>(std::to_integer<std::int8_t>(block[scaleBytes + i]));
}

template <class Unpack>
void eachBlock(std::uint32_t blockBytes, std::span<const std::byte> in, float* out, Unpack unpack)
{
    for (std::size_t begin = 0; begin < in.size(); begin += blockBytes, out += blockValues)
        unpack(in.data() + begin, out);
}

} // namespace

const GgmlType* findGgmlType(std::uint32_t number)
{
    const auto it = std::find_if(readable.begin(), readable.end(),
                                 [&](const GgmlType& type) { return type.number == number; });
    return it == readable.end() ? nullptr : &*it;
}

bool isGgmlType(std::uint32_t number)
{
    return number < names.size() && !names[number].empty();
}

std::string ggmlTypeName(std::uint32_t number)
{
    return isGgmlType(number) ? std::string(names[number]) : "number " + std::to_string(number);
}

std::string supportedGgmlTypes()
{
    std::string list;
    for (const GgmlType& type : readable)
        list += (list.empty() ? "" : ", ") + ggmlTypeName(type.number);
    return list;
}

void dequantise(const GgmlType& type, std::span<const std::byte> in, std::span<float> out)
{
    assert(type.packed && in.size() % type.blockBytes == 0
           && out.size() == in.size() / type.blockBytes * type.blockValues);
    switch (type.number) {
    case Q4_0:
        return eachBlock(type.blockBytes, in, out.data(), unpackQ40);
    case Q4_1:
        return eachBlock(type.blockBytes, in, out.data(), unpackQ41);
    default:
        return eachBlock(type.blockBytes, in, out.data(), unpackQ80);
    }
}

} // namespace moire::capture
