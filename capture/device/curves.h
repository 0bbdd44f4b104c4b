// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <limits>

namespace moire::capture::device {

/// e^x = 2^n · e^r, n = x·log₂e to nearest, |r| ≤ ln2/2, e^r by its Taylor polynomial of degree 11
/// (truncation 2e-14 relative). ln2High has 32 bits, so n·ln2High is exact.
namespace expTable {
inline constexpr double limit = 700.0; ///< beyond: infinity and 0, as in fp32
inline constexpr double log2e = 0x1.71547652b82fep+0;
inline constexpr double roundingShift = 0x1.8p52; ///< adding it rounds to an integer
inline constexpr double ln2High = 0x1.62e42feep-1;
inline constexpr double ln2Low = 0x1.a39ef35793c76p-33;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::array coefficients{0x1.ae64567f544e4p-26,
                                         0x1.27e4fb7789f5cp-22,
                                         0x1.71de3a556c734p-19,
                                         0x1.a01a01a01a01ap-16,
                                         0x1.a01a01a01a01ap-13,
                                         0x1.6c16c16c16c17p-10,
                                         0x1.1111111111111p-7,
                                         0x1.5555555555555p-5,
                                         0x1.5555555555555p-3,
                                         0x1p-1,
                                         1.0,
                                         1.0};
} // namespace expTable

// Curves in fp64 by +, −, ·, /, √ alone, so that every build gives the same bits. Relative error
// below 1e-12 where the result is a normal fp32 number.

double exponential(double x);
double hyperbolicTangent(double x);
/// erfc: series of Abramowitz & Stegun 7.1.6 for |x| < 3, continued fraction 7.1.14 beyond.
double complementaryError(double x);
/// |x| ≤ 2²⁹ by subtracting multiples of π/2 in four parts; beyond, the C library's.
double sine(double x);
double cosine(double x);

} // namespace moire::capture::device
