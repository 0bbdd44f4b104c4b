// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_rows.h"
#include "capture/device/pieces.h"
#include "capture/device/storage.h"

#include <algorithm>
#include <vector>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/ordered_elements.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/softmax_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_ORDERED_ELEMENTS_ONCE
#define MOIRE_CAPTURE_DEVICE_ORDERED_ELEMENTS_ONCE
namespace moire::capture::device {

enum class Binary : std::uint8_t
{
    Add,
    Multiply
};

/// Elements [begin, end) of a sum or product of two buffers.
struct BinaryPiece
{
    Binary operation;
    const void* a;
    const void* b;
    void* out;
    numeric::DType dtype;
    std::size_t begin, end;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

/// Exp, Sigmoid and Silu, in fp64 with one rounding to fp32.
template <class T>
void expCurveAs(Curve curve, const T* in, T* out, std::size_t count)
{
    overNarrow(count, [&](auto narrowTag, std::size_t i) {
        const hn::Rebind<double, decltype(narrowTag)> d;
        const auto x = hn::PromoteTo(d, load(narrowTag, in + i));
        const auto one = hn::Set(d, 1.0);
        auto y = exponential(d, curve == Curve::Exp ? x : hn::Neg(x));
        if (curve != Curve::Exp)
            y = hn::Div(curve == Curve::Silu ? x : one, hn::Add(one, y));
        store(narrowTag, toFloat(d, y), out + i);
    });
}

void expCurve(Curve curve, const void* in, void* out, numeric::DType dtype, std::size_t begin,
              std::size_t end)
{
    withStorage(dtype, [&](auto t) {
        using T = decltype(t);
        expCurveAs(curve, static_cast<const T*>(in) + begin, static_cast<T*>(out) + begin,
                   end - begin);
    });
}

void binaryPiece(const BinaryPiece& piece)
{
    withStorage(piece.dtype, [&](auto t) {
        using T = decltype(t);
        const T* a = static_cast<const T*>(piece.a) + piece.begin;
        const T* b = static_cast<const T*>(piece.b) + piece.begin;
        T* out = static_cast<T*>(piece.out) + piece.begin;
        overElements(piece.end - piece.begin, [&](auto d, std::size_t i) {
            const auto x = load(d, a + i);
            const auto y = load(d, b + i);
            store(d, piece.operation == Binary::Add ? hn::Add(x, y) : hn::Mul(x, y), out + i);
        });
    });
}

void scaleRow(const void* in, float factor, void* out, numeric::DType dtype, std::size_t begin,
              std::size_t end)
{
    withStorage(dtype, [&](auto t) {
        using T = decltype(t);
        const T* a = static_cast<const T*>(in);
        T* result = static_cast<T*>(out);
        overElements(end - begin, [&](auto d, std::size_t i) {
            store(d, hn::Mul(load(d, a + begin + i), hn::Set(d, factor)), result + begin + i);
        });
    });
}

void softmaxRow(const void* in, numeric::DType inType, void* out, numeric::DType outType,
                std::size_t begin, std::size_t width)
{
    std::vector<float> row(width);
    withStorage(inType, [&](auto t) {
        widenRow(static_cast<const decltype(t)*>(in) + begin, width, row.data());
    });
    softmax(row.data(), width);
    withStorage(outType, [&](auto t) {
        auto* result = static_cast<decltype(t)*>(out) + begin;
        overElements(width, [&](auto d, std::size_t i) {
            store(d, hn::LoadU(d, row.data() + i), result + i);
        });
    });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(expCurve);
HWY_EXPORT(binaryPiece);
HWY_EXPORT(scaleRow);
HWY_EXPORT(softmaxRow);

void applyExpCurve(Curve curve, const void* in, void* out, numeric::DType dtype, std::size_t begin,
                   std::size_t end)
{
    HWY_DYNAMIC_DISPATCH(expCurve)(curve, in, out, dtype, begin, end);
}

namespace {

void combine(Binary operation, const void* a, const void* b, void* out, numeric::DType dtype,
             std::size_t count, Workers& workers)
{
    const auto compute = HWY_DYNAMIC_DISPATCH(binaryPiece);
    workers.run(pieces(count), [&](std::size_t i) {
        compute({operation, a, b, out, dtype, i * pieceSize, std::min(count, (i + 1) * pieceSize)});
    });
}

} // namespace

void addElements(const void* a, const void* b, void* out, numeric::DType dtype, std::size_t count,
                 Workers& workers)
{
    combine(Binary::Add, a, b, out, dtype, count, workers);
}

void multiplyElements(const void* a, const void* b, void* out, numeric::DType dtype,
                      std::size_t count, Workers& workers)
{
    combine(Binary::Multiply, a, b, out, dtype, count, workers);
}

void scaleElements(const void* a, float factor, void* out, numeric::DType dtype, std::size_t count,
                   Workers& workers)
{
    const auto compute = HWY_DYNAMIC_DISPATCH(scaleRow);
    workers.run(pieces(count), [&](std::size_t i) {
        compute(a, factor, out, dtype, i * pieceSize, std::min(count, (i + 1) * pieceSize));
    });
}

void scaleRows(const void* in, const float* factors, void* out, numeric::DType dtype,
               std::size_t rows, std::size_t width, Workers& workers)
{
    const auto compute = HWY_DYNAMIC_DISPATCH(scaleRow);
    workers.run(rows, [&](std::size_t r) {
        compute(in, factors[r], out, dtype, r * width, (r + 1) * width);
    });
}

void softmaxRows(const void* in, numeric::DType inType, void* out, numeric::DType outType,
                 std::size_t rows, std::size_t width, Workers& workers)
{
    const auto compute = HWY_DYNAMIC_DISPATCH(softmaxRow);
    workers.run(rows, [&](std::size_t r) { compute(in, inType, out, outType, r * width, width); });
}

} // namespace moire::capture::device
#endif
