// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/curves.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace moire::capture::device {

double exponential(double x)
{
    if (!(x <= expTable::limit))
        return std::isnan(x) ? x : expTable::infinity;
    if (x < -expTable::limit)
        return 0.0;
    const double shifted = x * expTable::log2e + expTable::roundingShift;
    const double n = shifted - expTable::roundingShift;
    const double r = x - n * expTable::ln2High - n * expTable::ln2Low;
    double p = expTable::coefficients[0];
    for (std::size_t i = 1; i < expTable::coefficients.size(); ++i)
        p = p * r + expTable::coefficients[i];
    constexpr unsigned mantissaBits = 52;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p)
                                 + (std::bit_cast<std::uint64_t>(shifted) << mantissaBits));
}

double hyperbolicTangent(double x)
{
    const double magnitude = std::fabs(x);
    if (magnitude < 0x1p-9) { // x − x³/3 + 2x⁵/15, the next term is below 2⁻⁵⁷ of x
        const double square = x * x;
        return x * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)));
    }
    const double tail = 2.0 / (exponential(2.0 * magnitude) + 1.0);
    return std::copysign(1.0 - tail, x);
}

double complementaryError(double x)
{
    constexpr double seriesEnd = 3.0;
    constexpr double twoOverRootPi = 0x1.20dd750429b6dp+0;
    const double square = x * x;
    if (std::isnan(x))
        return x;
    if (std::fabs(x) < seriesEnd && x < 1.0) { // erf = 2/√π·e^(−x²)·Σ 2ⁿx^(2n+1)/(2n+1)!!
        double term = x;
        double sum = x;
        for (int n = 1; std::fabs(term) > std::fabs(sum) * 0x1p-60; ++n) {
            term = term * (2.0 * square) / (2 * n + 1);
            sum = sum + term;
        }
        return 1.0 - twoOverRootPi * exponential(-square) * sum;
    }
    // erfc(y) = e^(−y²)/√π · 1/(y + (1/2)/(y + 1/(y + (3/2)/(y + …)))), y = |x|.
    constexpr int depth = 160; // 1e-13 at y = 1
    const double y = std::fabs(x);
    double fraction = y;
    for (int n = depth; n > 0; --n)
        fraction = y + (0.5 * n) / fraction;
    const double upper =
        std::isinf(y) ? 0.0 : exponential(-square) * (0.5 * twoOverRootPi) / fraction;
    return x < 0 ? 2.0 - upper : upper;
}

namespace {

/// x minus the nearest multiple n of π/2, and n mod 4.
struct Reduced
{
    double rest;
    unsigned quadrant;
};

constexpr double reducible = 0x1p29;

Reduced reduce(double x)
{
    const double n = (x * 0x1.45f306dc9c883p-1 + expTable::roundingShift) - expTable::roundingShift;
    // Three parts of 24, 22 and 22 bits times n are exact, the fourth carries the rest of π/2.
    const double rest =
        x - n * 0x1.921fb4p+0 - n * 0x1.4442dp-24 - n * 0x1.846988p-48 - n * 0x1.8cc51701b839ap-72;
    return {rest, static_cast<unsigned>(static_cast<std::int64_t>(n)) & 3U};
}

/// Taylor polynomials on |r| ≤ π/4: truncation below 1e-14 relative.
double sineOfRest(double r)
{
    const double s = r * r;
    return r
           * (1.0
              + s
                    * (-1.0 / 6
                       + s
                             * (1.0 / 120
                                + s
                                      * (-1.0 / 5040
                                         + s
                                               * (1.0 / 362880
                                                  + s
                                                        * (-1.0 / 39916800
                                                           + s * (1.0 / 6227020800.0)))))));
}

double cosineOfRest(double r)
{
    const double s = r * r;
    return 1.0
           + s
                 * (-0.5
                    + s
                          * (1.0 / 24
                             + s
                                   * (-1.0 / 720
                                      + s
                                            * (1.0 / 40320
                                               + s
                                                     * (-1.0 / 3628800
                                                        + s
                                                              * (1.0 / 479001600.0
                                                                 + s * (-1.0 / 87178291200.0)))))));
}

double inQuadrant(double r, unsigned quadrant)
{
    const double value = (quadrant & 1U) != 0 ? cosineOfRest(r) : sineOfRest(r);
    return (quadrant & 2U) != 0 ? -value : value;
}

} // namespace

double sine(double x)
{
    if (!(std::fabs(x) <= reducible))
        return std::sin(x);
    const Reduced reduced = reduce(x);
    return inQuadrant(reduced.rest, reduced.quadrant);
}

double cosine(double x)
{
    if (!(std::fabs(x) <= reducible))
        return std::cos(x);
    const Reduced reduced = reduce(x);
    return inQuadrant(reduced.rest, (reduced.quadrant + 1U) & 3U);
}

} // namespace moire::capture::device
