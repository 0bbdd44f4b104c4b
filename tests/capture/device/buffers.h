// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"
#include "core/numeric/simd_target.h"

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace moire::capture::device {

/// A buffer of one of the three dtypes, as bytes and as the exact values that it holds.
struct Buffer
{
    numeric::DType dtype;
    std::vector<std::byte> bytes;

    Buffer(numeric::DType type, std::size_t count)
        : dtype(type)
        , bytes(count * numeric::sizeOf(type))
    {}

    std::size_t size() const { return bytes.size() / numeric::sizeOf(dtype); }
    void* at(std::size_t i) { return bytes.data() + i * numeric::sizeOf(dtype); }
    const void* at(std::size_t i) const { return bytes.data() + i * numeric::sizeOf(dtype); }
    void* data() { return bytes.data(); }
    const void* data() const { return bytes.data(); }

    float operator[](std::size_t i) const
    {
        return static_cast<float>(
            numeric::toDouble(numeric::bitsAt(bytes.data(), dtype, i), dtype));
    }
    void set(std::size_t i, float value)
    {
        if (dtype == numeric::DType::FP32) {
            std::memcpy(at(i), &value, sizeof value);
            return;
        }
        const std::uint16_t bits = dtype == numeric::DType::BF16 ? numeric::bf16FromFloat(value)
                                                                 : numeric::fp16FromFloat(value);
        std::memcpy(at(i), &bits, sizeof bits);
    }
    friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Normal values times `spread`.
inline Buffer randomBuffer(std::mt19937& generator, numeric::DType dtype, std::size_t count,
                           float spread = 1.0F)
{
    std::normal_distribution<float> normal(0.0F, spread);
    Buffer buffer(dtype, count);
    for (std::size_t i = 0; i < count; ++i)
        buffer.set(i, normal(generator));
    return buffer;
}

/// value rounded to dtype and widened, by the scalar conversions of core/numeric.
inline float roundedScalar(float value, numeric::DType dtype)
{
    Buffer one(dtype, 1);
    one.set(0, value);
    return one[0];
}

inline constexpr numeric::DType storageTypes[] = {numeric::DType::FP32, numeric::DType::BF16,
                                                  numeric::DType::FP16};

/// Calls body(name) with every instruction set of this processor forced in turn.
template <class Body>
void forEachTarget(const Body& body)
{
    for (const std::string& name : numeric::availableSimdTargets()) {
        numeric::forceSimdTarget(name);
        body(name);
    }
    numeric::forceSimdTarget("");
}

} // namespace moire::capture::device
