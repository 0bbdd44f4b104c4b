// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_spread.h"

#include "core/numeric/logits_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace moire::numeric {

namespace {

constexpr double relativeFloor = 1e-8;

double valueAt(const std::byte* data, DType dtype, std::size_t i)
{
    return toDouble(bitsAt(data, dtype, i), dtype);
}

bool hasKernel(DType dtype)
{
    return dtype == DType::BF16 || dtype == DType::FP16 || dtype == DType::FP32;
}

/// B3 over [begin, end).
void takeRelative(const LogitsRows& rows, std::size_t begin, std::size_t end, LogitsSpread& spread)
{
    for (std::size_t i = begin; i < end; ++i) {
        const double r = valueAt(rows.reference, rows.referenceType, i);
        const double d = valueAt(rows.target, rows.targetType, i) - r;
        const double relative = std::fabs(d) / (std::fabs(r) + relativeFloor);
        if (std::isfinite(d) && relative > spread.maxRelative) {
            spread.maxRelative = relative;
            spread.maxRelativeAt = static_cast<std::uint32_t>(i);
        }
    }
}

LogitsSpread ofFiniteRows(const LogitsRows& rows, double mean)
{
    // fp32 is that sure of which chunks may hold the largest quotient.
    constexpr float reach = 1 - 1e-5F;
    LogitsSpread spread;
    std::vector<ChunkSpread> chunks((rows.count + logitsChunk - 1) / logitsChunk);
    spread.centredSquares =
        spreadOfChunks(rows, mean, static_cast<float>(relativeFloor), chunks.data());
    float largest = 0;
    for (const ChunkSpread& chunk : chunks) {
        spread.roundedEqual += chunk.roundedEqual;
        largest = std::max(largest, chunk.relative);
    }
    for (std::size_t i = 0; i < chunks.size(); ++i)
        if (chunks[i].relative >= reach * largest && chunks[i].relative > 0)
            takeRelative(rows, i * logitsChunk, std::min(rows.count, (i + 1) * logitsChunk),
                         spread);
    if (rows.referenceType != rows.targetType)
        return spread;
    const FieldSums fields =
        compareFields(rows.reference, rows.target, rows.referenceType, rows.count);
    spread.exponentMatched = static_cast<std::uint32_t>(fields.matched);
    spread.mantissaDistance = static_cast<double>(fields.distance);
    return spread;
}

/// A5 of one pair.
void addField(std::uint64_t a, std::uint64_t b, std::uint64_t mantissa, LogitsSpread& spread)
{
    if ((a & ~mantissa) != (b & ~mantissa))
        return;
    ++spread.exponentMatched;
    const std::uint64_t high = std::max(a & mantissa, b & mantissa);
    spread.mantissaDistance += static_cast<double>(high - std::min(a & mantissa, b & mantissa));
}

LogitsSpread oneByOne(const LogitsRows& rows, double mean)
{
    LogitsSpread spread;
    const bool sameFloat = rows.referenceType == rows.targetType && isFloat(rows.referenceType);
    const std::uint64_t mantissa =
        sameFloat
            ? (std::uint64_t{1} << static_cast<unsigned>(layoutOf(rows.referenceType).mantissaBits))
                  - 1
            : 0;
    for (std::size_t i = 0; i < rows.count; ++i) {
        const double r = valueAt(rows.reference, rows.referenceType, i);
        const double t = valueAt(rows.target, rows.targetType, i);
        spread.roundedEqual +=
            bf16FromFloat(static_cast<float>(r)) == bf16FromFloat(static_cast<float>(t)) ? 1U : 0U;
        if (!std::isfinite(r) || !std::isfinite(t))
            continue;
        const double centred = t - r - mean;
        if (std::isfinite(t - r))
            spread.centredSquares += centred * centred;
        if (sameFloat)
            addField(bitsAt(rows.reference, rows.referenceType, i),
                     bitsAt(rows.target, rows.targetType, i), mantissa, spread);
    }
    takeRelative(rows, 0, rows.count, spread);
    return spread;
}

} // namespace

LogitsSpread spreadOfLogits(const std::byte* reference, DType referenceType,
                            const std::byte* target, DType targetType, std::size_t count,
                            double mean)
{
    const LogitsRows rows{reference, referenceType, target, targetType, count};
    const bool fast = hasKernel(referenceType) && hasKernel(targetType) && count > 0
                      && allFinite(reference, referenceType, count)
                      && allFinite(target, targetType, count);
    return fast ? ofFiniteRows(rows, mean) : oneByOne(rows, mean);
}

void widenToFloats(const std::byte* data, DType dtype, std::size_t count, float* out)
{
    if (dtype == DType::FP32) {
        std::memcpy(out, data, count * sizeof(float));
    } else if (dtype == DType::BF16) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint16_t bits;
            std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
            out[i] = std::bit_cast<float>(std::uint32_t{bits} << 16U);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i)
            out[i] = static_cast<float>(valueAt(data, dtype, i));
    }
}

} // namespace moire::numeric
