// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/curves.h"
#include "capture/device/ordered_rows.h"
#include "capture/device/pieces.h"
#include "capture/device/storage.h"

#include <algorithm>
#include <cmath>

namespace moire::capture::device {

namespace {

constexpr double rootHalf = 0x1.6a09e667f3bcdp-1;
constexpr double rootTwoOverPi = 0x1.9884533d43651p-1;
constexpr double cubeFactor = 0.044715;

double geluTanh(double x)
{
    return 0.5 * x * (1.0 + hyperbolicTangent(rootTwoOverPi * (x + cubeFactor * x * x * x)));
}

/// 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), each operation rounded to T (x³ is two).
template <class T>
float geluNew(float x)
{
    const auto round = [](float value) { return roundedTo<T>(value); };
    const float cube = round(round(x * x) * x);
    const float inner = round(x + round(static_cast<float>(cubeFactor) * cube));
    const float argument = round(static_cast<float>(rootTwoOverPi) * inner);
    const float tanh = round(static_cast<float>(hyperbolicTangent(argument)));
    return round(round(0.5F * x) * round(1.0F + tanh));
}

template <class T>
float valueOf(Curve curve, float x)
{
    switch (curve) {
    case Curve::Sin:
        return static_cast<float>(sine(x));
    case Curve::Cos:
        return static_cast<float>(cosine(x));
    case Curve::Tanh:
        return static_cast<float>(hyperbolicTangent(x));
    case Curve::Gelu:
        return static_cast<float>(0.5 * x * complementaryError(-rootHalf * x));
    case Curve::GeluTanh:
        return static_cast<float>(geluTanh(x));
    case Curve::GeluNew:
        return geluNew<T>(x);
    case Curve::ReluSquared: {
        const float positive = x < 0.0F ? 0.0F : x;
        return positive * positive;
    }
    default:
        return x < 0.0F ? 0.0F : x;
    }
}

bool isExpCurve(Curve curve)
{
    return curve == Curve::Exp || curve == Curve::Sigmoid || curve == Curve::Silu;
}

} // namespace

void applyCurve(Curve curve, const void* in, void* out, numeric::DType dtype, std::size_t count,
                Workers& workers)
{
    workers.run(pieces(count), [&](std::size_t piece) {
        const std::size_t begin = piece * pieceSize;
        const std::size_t end = std::min(count, begin + pieceSize);
        if (isExpCurve(curve)) {
            applyExpCurve(curve, in, out, dtype, begin, end);
            return;
        }
        withStorage(dtype, [&](auto t) {
            using T = decltype(t);
            for (std::size_t i = begin; i < end; ++i)
                narrow(valueOf<T>(curve, widened(static_cast<const T*>(in)[i])),
                       static_cast<T*>(out)[i]);
        });
    });
}

} // namespace moire::capture::device
