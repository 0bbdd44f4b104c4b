// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/ggml_blocks.h"

#include "core/numeric/dtype.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace moire::capture {

namespace {

constexpr std::size_t smallBlock = 32; ///< values of a Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 block
constexpr std::size_t largeBlock = 256;
constexpr std::size_t scaleBytes = 2;

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

unsigned at(const std::byte* bytes, std::size_t index)
{
    return std::to_integer<unsigned>(bytes[index]);
}

/// Value `index` of an array of unsigned numbers of `Bits` bits. Each run of `Run` bytes holds
/// Run · 8/Bits of them: the first Run in the lowest bits of its bytes, the next Run above, ….
template <std::size_t Bits, std::size_t Run>
unsigned bitsAt(const std::byte* packed, std::size_t index)
{
    constexpr std::size_t perRun = Run * 8 / Bits;
    const std::size_t inRun = index % perRun;
    const unsigned byte = at(packed, index / perRun * Run + inRun % Run);
    return byte >> (inRun / Run * Bits) & ((1U << Bits) - 1U);
}

float centred(unsigned value, int zero)
{
    return static_cast<float>(static_cast<int>(value) - zero);
}

/// product + offset; of two NaNs the product's, as NumPy keeps it. (An addition alone keeps either,
/// as the compiler orders the two.)
float plus(float product, float offset)
{
    return std::isnan(product) ? product : product + offset;
}

/// Scale or offset `part` of the 2 · 8 numbers of 6 bits that Q4_K and Q5_K pack into 12 bytes:
/// bytes 0–3 hold the lower scales, 4–7 the lower offsets; their two top bits and the nibbles of
/// bytes 8–11 make up the upper ones.
struct SixBits
{
    const std::byte* packed;

    unsigned scale(std::size_t part) const { return number(part, 0, 0); }
    unsigned offset(std::size_t part) const { return number(part, 4, 4); }

private:
    unsigned number(std::size_t part, std::size_t first, unsigned nibble) const
    {
        if (part < 4)
            return at(packed, first + part) & 0x3FU;
        const unsigned top = at(packed, first + part - 4) >> 2U & 0x30U;
        return (at(packed, 4 + part) >> nibble & 0xFU) | top;
    }
};

/// Q4_K and Q5_K: eight parts of 32 values; `value` gives the number at an index.
template <class Value>
void unpackWithOffsets(const std::byte* block, float* out, Value value)
{
    constexpr std::size_t partValues = 32;
    const float scale = scaleAt(block);
    const float offset = scaleAt(block + scaleBytes);
    const SixBits parts{block + 2 * scaleBytes};
    for (std::size_t part = 0; part < largeBlock / partValues; ++part) {
        const float d = scale * static_cast<float>(parts.scale(part));
        const float m = offset * static_cast<float>(parts.offset(part));
        for (std::size_t i = part * partValues; i < (part + 1) * partValues; ++i)
            out[i] = d * static_cast<float>(value(i)) - m;
    }
}

constexpr std::size_t sixBitBytes = 12; ///< packed numbers of 6 bits of a large block
constexpr std::size_t partValues = 16;  ///< of Q2_K, Q3_K, Q6_K
constexpr std::size_t parts = largeBlock / partValues;

} // namespace

void unpackQ40(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    for (std::size_t i = 0; i < smallBlock; ++i)
        out[i] = scale * centred(bitsAt<4, 16>(block + scaleBytes, i), 8);
}

void unpackQ41(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    const float offset = scaleAt(block + scaleBytes);
    for (std::size_t i = 0; i < smallBlock; ++i)
        out[i] = plus(scale * static_cast<float>(bitsAt<4, 16>(block + 2 * scaleBytes, i)), offset);
}

void unpackQ50(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    const std::byte* fifthBits = block + scaleBytes;
    const std::byte* nibbles = fifthBits + smallBlock / 8;
    for (std::size_t i = 0; i < smallBlock; ++i)
        out[i] = scale * centred(bitsAt<4, 16>(nibbles, i) | bitsAt<1, 1>(fifthBits, i) << 4U, 16);
}

void unpackQ51(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    const float offset = scaleAt(block + scaleBytes);
    const std::byte* fifthBits = block + 2 * scaleBytes;
    const std::byte* nibbles = fifthBits + smallBlock / 8;
    for (std::size_t i = 0; i < smallBlock; ++i) {
        const unsigned value = bitsAt<4, 16>(nibbles, i) | bitsAt<1, 1>(fifthBits, i) << 4U;
        out[i] = plus(scale * static_cast<float>(value), offset);
    }
}

void unpackQ80(const std::byte* block, float* out)
{
    const float scale = scaleAt(block);
    for (std::size_t i = 0; i < smallBlock; ++i)
        out[i] = scale * static_cast<float>(std::to_integer<std::int8_t>(block[scaleBytes + i]));
}

void unpackQ2K(const std::byte* block, float* out)
{
    const std::byte* values = block + parts; // a byte a part: its scale and its offset
    const float scale = scaleAt(values + largeBlock / 4);
    const float offset = scaleAt(values + largeBlock / 4 + scaleBytes);
    for (std::size_t part = 0; part < parts; ++part) {
        const float d = scale * static_cast<float>(at(block, part) & 0xFU);
        const float m = offset * static_cast<float>(at(block, part) >> 4U);
        for (std::size_t i = part * partValues; i < (part + 1) * partValues; ++i)
            out[i] = d * static_cast<float>(bitsAt<2, 32>(values, i)) - m;
    }
}

void unpackQ3K(const std::byte* block, float* out)
{
    const std::byte* thirdBits = block; // set where nothing is to be taken off
    const std::byte* lowBits = block + largeBlock / 8;
    const std::byte* scales = lowBits + largeBlock / 4;
    const float scale = scaleAt(scales + sixBitBytes);
    for (std::size_t part = 0; part < parts; ++part) {
        const unsigned low = bitsAt<4, 8>(scales, part);
        const unsigned high = bitsAt<2, 4>(scales + 8, part);
        const float d = scale * centred(low | high << 4U, 32);
        for (std::size_t i = part * partValues; i < (part + 1) * partValues; ++i)
            out[i] = d * centred(bitsAt<2, 32>(lowBits, i) | bitsAt<1, 32>(thirdBits, i) << 2U, 4);
    }
}

void unpackQ4K(const std::byte* block, float* out)
{
    const std::byte* nibbles = block + 2 * scaleBytes + sixBitBytes;
    unpackWithOffsets(block, out, [&](std::size_t i) { return bitsAt<4, 32>(nibbles, i); });
}

void unpackQ5K(const std::byte* block, float* out)
{
    const std::byte* fifthBits = block + 2 * scaleBytes + sixBitBytes;
    const std::byte* nibbles = fifthBits + largeBlock / 8;
    unpackWithOffsets(block, out, [&](std::size_t i) {
        return bitsAt<4, 32>(nibbles, i) | bitsAt<1, 32>(fifthBits, i) << 4U;
    });
}

void unpackQ6K(const std::byte* block, float* out)
{
    const std::byte* highBits = block + largeBlock / 2;
    const std::byte* scales = highBits + largeBlock / 4;
    const float scale = scaleAt(scales + parts);
    for (std::size_t part = 0; part < parts; ++part) {
        const float d = scale * static_cast<float>(std::to_integer<std::int8_t>(scales[part]));
        for (std::size_t i = part * partValues; i < (part + 1) * partValues; ++i)
            out[i] = d * centred(bitsAt<4, 64>(block, i) | bitsAt<2, 32>(highBits, i) << 4U, 32);
    }
}

} // namespace moire::capture
