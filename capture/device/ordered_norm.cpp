// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_rows.h"
#include "capture/device/storage.h"

#include <algorithm>
#include <memory>
#include <vector>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/ordered_norm.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/softmax_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_ORDERED_NORM_ONCE
#define MOIRE_CAPTURE_DEVICE_ORDERED_NORM_ONCE
namespace moire::capture::device {

/// Some rows to normalise; `weight` and `bias` widened, `weight` null when there are neither.
struct NormPiece
{
    Norm norm;
    const void* in;
    std::size_t inStride;
    const float* weight;
    const float* bias;
    float eps;
    void* out;
    std::size_t outStride;
    numeric::DType dtype;
    std::size_t width;
    std::size_t rowBegin, rowEnd;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

// References, since GCC 12.2 fails on the same vector passed twice by value.
float inverseDeviation(const float* values, std::size_t width, float eps)
{
    const float squares =
        stripedSum(values, width, 0.0F, [](const FloatVector& sum, const FloatVector& x) {
            return fused(FloatTag(), x, x, sum);
        });
    return 1.0F / std::sqrt(squares / static_cast<float>(width) + eps);
}

/// Llama's and OLMo-2's norms; `row` holds x widened.
template <class T>
void finishRms(const NormPiece& piece, const float* row, T* out)
{
    const float r = inverseDeviation(row, piece.width, piece.eps);
    overElements(piece.width, [&](auto d, std::size_t i) {
        auto value = hn::Mul(hn::LoadU(d, row + i), hn::Set(d, r));
        if (piece.norm == Norm::RmsRoundTwice)
            value = rounded<T>(d, value);
        if (piece.weight)
            value = hn::Mul(value, hn::LoadU(d, piece.weight + i));
        store(d, value, out + i);
    });
}

template <class T>
void finishLayer(const NormPiece& piece, float* row, T* out)
{
    const float sum = stripedSum(row, piece.width, 0.0F,
                                 [](FloatVector a, FloatVector x) { return hn::Add(a, x); });
    const float mean = sum / static_cast<float>(piece.width);
    for (std::size_t i = 0; i < piece.width; ++i)
        row[i] = row[i] - mean;
    const float r = inverseDeviation(row, piece.width, piece.eps);
    for (std::size_t i = 0; i < piece.width; ++i)
        row[i] = row[i] * r;
    if (!piece.weight) {
        overElements(piece.width,
                     [&](auto d, std::size_t i) { store(d, hn::LoadU(d, row + i), out + i); });
        return;
    }
    overElements(piece.width, [&](auto d, std::size_t i) {
        const auto weight = hn::LoadU(d, piece.weight + i);
        store(d, fused(d, hn::LoadU(d, row + i), weight, hn::LoadU(d, piece.bias + i)), out + i);
    });
}

void normalisePiece(const NormPiece& piece)
{
    std::vector<float> row(piece.width);
    withStorage(piece.dtype, [&](auto t) {
        using T = decltype(t);
        for (std::size_t r = piece.rowBegin; r < piece.rowEnd; ++r) {
            const T* in = static_cast<const T*>(piece.in) + r * piece.inStride;
            T* out = static_cast<T*>(piece.out) + r * piece.outStride;
            widenRow(in, piece.width, row.data());
            if (piece.norm == Norm::Layer)
                finishLayer(piece, row.data(), out);
            else
                finishRms(piece, row.data(), out);
        }
    });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(normalisePiece);

namespace {

/// `count` values widened, or as many times `otherwise` where there are none.
std::vector<float> widenedAll(const void* values, numeric::DType dtype, std::size_t count,
                              float otherwise)
{
    std::vector<float> wide(count, otherwise);
    withStorage(dtype, [&](auto t) {
        for (std::size_t i = 0; values && i < count; ++i)
            wide[i] = widened(static_cast<const decltype(t)*>(values)[i]);
    });
    return wide;
}

} // namespace

void normalise(Norm norm, const void* in, std::size_t inStride, const void* weight,
               const void* bias, float eps, void* out, std::size_t outStride, numeric::DType dtype,
               std::size_t rows, std::size_t width, Workers& workers)
{
    const std::vector<float> wideWeight = widenedAll(weight, dtype, width, 1.0F);
    const std::vector<float> wideBias = widenedAll(bias, dtype, width, 0.0F);
    const bool affine = weight || (bias && norm == Norm::Layer);
    const auto compute = HWY_DYNAMIC_DISPATCH(normalisePiece);
    constexpr std::size_t rowsEach = 8;
    workers.run((rows + rowsEach - 1) / rowsEach, [&](std::size_t i) {
        compute({norm, in, inStride, affine ? wideWeight.data() : nullptr, wideBias.data(), eps,
                 out, outStride, dtype, width, i * rowsEach, std::min(rows, (i + 1) * rowsEach)});
    });
}

} // namespace moire::capture::device
#endif
