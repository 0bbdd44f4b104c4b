// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/exp_table.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace moire::numeric {

namespace {

constexpr std::size_t entries = 1U << 16U;
/// Beyond these e^x is no normal number of fp64.
constexpr double leastExponent = -707;
constexpr double greatestExponent = 700;

std::vector<double> makeTable(DType dtype)
{
    std::vector<double> table(entries);
    for (std::size_t bits = 0; bits < entries; ++bits) {
        const double value = toDouble(bits, dtype);
        const bool known = std::isfinite(value) && value <= greatestExponent;
        table[bits] = known ? plainExp(value) : std::numeric_limits<double>::quiet_NaN();
    }
    return table;
}

} // namespace

/// x = n·ln 2 + f, |f| ≤ ½·ln 2; e^f = 1 + f + f²·(1/2! + f/3! + …), whose first term left out is
/// below 1e-17; the rounding of f and of the last addition is what remains.
double plainExp(double x)
{
    if (x < leastExponent)
        return 0;
    constexpr double log2OfE = 1.4426950408889634;
    // ln 2 in two parts: products of the first with integers below 2¹² are exact.
    constexpr double ln2High = 0.6931471805437468;
    constexpr double ln2Low = 1.619851018665656e-11;
    constexpr int degree = 14;
    const double n = std::nearbyint(x * log2OfE);
    const double f = (x - n * ln2High) - n * ln2Low;
    double tail = 1;
    for (int k = degree; k > 2; --k)
        tail = 1 + f / k * tail;
    const double power = 1 + (f + f * f * 0.5 * tail);
    return std::ldexp(power, static_cast<int>(n));
}

const double* expTable(DType dtype)
{
    assert(dtype == DType::BF16 || dtype == DType::FP16);
    static const std::vector<double> bf16 = makeTable(DType::BF16);
    if (dtype == DType::BF16)
        return bf16.data();
    static const std::vector<double> fp16 = makeTable(DType::FP16);
    return fp16.data();
}

} // namespace moire::numeric
