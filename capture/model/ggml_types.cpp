// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/ggml_types.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

namespace moire::capture {

namespace {

using numeric::DType;

constexpr std::uint32_t small = 32;  ///< values of a block of the older types
constexpr std::uint32_t large = 256; ///< of a "K" type

/// By number, value and bytes of a block.
constexpr std::array readable{
    GgmlType{0, 1, 4, DType::FP32, nullptr},                        // F32
    GgmlType{1, 1, 2, DType::FP16, nullptr},                        // F16
    GgmlType{30, 1, 2, DType::BF16, nullptr},                       // BF16
    GgmlType{2, small, 2 + 16, DType::FP32, unpackQ40},             // scale, nibbles
    GgmlType{3, small, 4 + 16, DType::FP32, unpackQ41},             // scale and offset, nibbles
    GgmlType{6, small, 2 + 4 + 16, DType::FP32, unpackQ50},         // scale, fifth bits, nibbles
    GgmlType{7, small, 4 + 4 + 16, DType::FP32, unpackQ51},         // scale and offset, the same
    GgmlType{8, small, 2 + 32, DType::FP32, unpackQ80},             // scale, bytes
    GgmlType{10, large, 16 + 64 + 4, DType::FP32, unpackQ2K},       // parts, 2 bits, scale, offset
    GgmlType{11, large, 32 + 64 + 12 + 2, DType::FP32, unpackQ3K},  // third bits, 2, parts, scale
    GgmlType{12, large, 4 + 12 + 128, DType::FP32, unpackQ4K},      // scale and offset, parts, 4
    GgmlType{13, large, 4 + 12 + 32 + 128, DType::FP32, unpackQ5K}, // the same with fifth bits
    GgmlType{14, large, 128 + 64 + 16 + 2, DType::FP32, unpackQ6K}, // 4 bits, 2, parts, scale
};

/// By number; "" for numbers that ggml has given up.
constexpr std::array<std::string_view, 42> names{
    "F32",     "F16",   "Q4_0",   "Q4_1",  "",      "",       "Q5_0", "Q5_1",    "Q8_0",
    "Q8_1",    "Q2_K",  "Q3_K",   "Q4_K",  "Q5_K",  "Q6_K",   "Q8_K", "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",   "I16",     "I32",
    "I64",     "F64",   "IQ1_M",  "BF16",  "",      "",       "",     "TQ1_0",   "TQ2_0",
    "",        "",      "",       "MXFP4", "NVFP4", "Q1_0"};

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
    assert(type.packed() && in.size() % type.blockBytes == 0
           && out.size() == in.size() / type.blockBytes * type.blockValues);
    float* block = out.data();
    for (std::size_t begin = 0; begin < in.size(); begin += type.blockBytes) {
        type.unpack(in.data() + begin, block);
        block += type.blockValues;
    }
}

} // namespace moire::capture
