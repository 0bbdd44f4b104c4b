// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/curves.h"
#include "capture/device/ordered_rows.h"
#include "capture/device/storage.h"

namespace moire::capture::device {

namespace {

/// One head of one row. `in` and `out` may be the same.
template <class T>
void rotateHead(const T* in, T* out, std::size_t half, const float* cosines, const float* sines,
                RotaryRounding rounding)
{
    const auto round = [rounding](float value) {
        return rounding == RotaryRounding::Each ? roundedTo<T>(value) : value;
    };
    for (std::size_t i = 0; i < half; ++i) {
        const float first = widened(in[i]);
        const float second = widened(in[i + half]);
        narrow(round(first * cosines[i]) + round(-second * sines[i]), out[i]);
        narrow(round(second * cosines[i]) + round(first * sines[i]), out[i + half]);
    }
}

} // namespace

void rotaryTable(const std::int64_t* positions, std::size_t rows, const float* inverseFrequency,
                 std::size_t half, float attentionFactor, numeric::DType tableType, float* cosines,
                 float* sines)
{
    withStorage(tableType, [&](auto t) {
        using T = decltype(t);
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t i = 0; i < half; ++i) {
                const float angle = static_cast<float>(positions[r]) * inverseFrequency[i];
                const std::size_t place = r * half + i;
                cosines[place] = roundedTo<T>(static_cast<float>(cosine(angle)) * attentionFactor);
                sines[place] = roundedTo<T>(static_cast<float>(sine(angle)) * attentionFactor);
            }
        }
    });
}

void rotate(const void* in, std::size_t inStride, void* out, std::size_t outStride,
            numeric::DType dtype, std::size_t rows, std::size_t heads, std::size_t half,
            const float* cosines, const float* sines, RotaryRounding rounding, Workers& workers)
{
    workers.run(rows, [&](std::size_t r) {
        withStorage(dtype, [&](auto t) {
            using T = decltype(t);
            const T* from = static_cast<const T*>(in) + r * inStride;
            T* to = static_cast<T*>(out) + r * outStride;
            for (std::size_t h = 0; h < heads; ++h)
                rotateHead(from + h * 2 * half, to + h * 2 * half, half, cosines + r * half,
                           sines + r * half, rounding);
        });
    });
}

} // namespace moire::capture::device
