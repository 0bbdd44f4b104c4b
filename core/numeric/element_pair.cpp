// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace moire::numeric {

namespace {

using Stripes = std::array<double, elementStripes>;

/// Adds the stripes as the balanced tree of the header.
double total(Stripes s)
{
    for (std::size_t half = elementStripes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            s[i] += s[i + half];
    return s[0];
}

std::uint64_t saturatingAdd(std::uint64_t a, std::uint64_t b)
{
    return a > std::numeric_limits<std::uint64_t>::max() - b
               ? std::numeric_limits<std::uint64_t>::max()
               : a + b;
}

} // namespace

ElementSums compareElements(const std::byte* reference, DType referenceType,
                            const std::byte* target, DType targetType, std::size_t width)
{
    ElementSums sums;
    Stripes sumAbs{};
    Stripes sumSquares{};
    Stripes referenceSquares{};
    Stripes targetSquares{};
    Stripes dot{};
    bool worstIsClassChange = false;
    double worstAbs = -1;
    const bool sameType = referenceType == targetType;
    for (std::size_t i = 0; i < width; ++i) {
        const std::uint64_t a = bitsAt(reference, referenceType, i);
        const std::uint64_t b = bitsAt(target, targetType, i);
        const double r = toDouble(a, referenceType);
        const double t = toDouble(b, targetType);
        const bool unequal = sameType ? a != b : !(r == t || (std::isnan(r) && std::isnan(t)));
        sums.unequal += unequal ? 1 : 0;
        const bool classChange = unequal && classOf(a, referenceType) != classOf(b, targetType);
        if (classChange) {
            ++sums.classChanges;
            if (!worstIsClassChange) {
                worstIsClassChange = true;
                sums.worst = static_cast<std::uint32_t>(i);
            }
        }
        if (unequal && sameType) {
            if (const auto ulps = ulpDistance(a, b, referenceType)) {
                sums.maxUlp = std::max(sums.maxUlp, *ulps);
                sums.sumUlp = saturatingAdd(sums.sumUlp, *ulps);
            }
        }
        if (!std::isfinite(r) || !std::isfinite(t))
            continue;
        ++sums.finite;
        const double d = t - r;
        const std::size_t stripe = i % elementStripes;
        sumAbs[stripe] += std::fabs(d);
        sumSquares[stripe] += d * d;
        referenceSquares[stripe] += r * r;
        targetSquares[stripe] += t * t;
        dot[stripe] += r * t;
        sums.maxAbs = std::max(sums.maxAbs, std::fabs(d));
        if (unequal && !worstIsClassChange && std::fabs(d) > worstAbs) {
            worstAbs = std::fabs(d);
            sums.worst = static_cast<std::uint32_t>(i);
        }
    }
    sums.sumAbs = total(sumAbs);
    sums.sumSquares = total(sumSquares);
    sums.referenceSquares = total(referenceSquares);
    sums.targetSquares = total(targetSquares);
    sums.dot = total(dot);
    return sums;
}

void countClasses(const std::byte* reference, DType referenceType, const std::byte* target,
                  DType targetType, std::size_t width, std::uint64_t* matrix)
{
    for (std::size_t i = 0; i < width; ++i) {
        const auto from =
            static_cast<std::size_t>(classOf(bitsAt(reference, referenceType, i), referenceType));
        const auto to =
            static_cast<std::size_t>(classOf(bitsAt(target, targetType, i), targetType));
        ++matrix[from * valueClassCount + to];
    }
}

} // namespace moire::numeric
