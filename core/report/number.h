// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers as the writers print them. All are free of locale.
namespace moire::report {

/// The shortest decimal that reads back as the same double; "NaN", "Infinity", "-Infinity".
std::string shortest(double value);

/// For people: `digits` significant digits, never rounded to a round figure that it is not: what is
/// below 100 never reads as 100, what is not 0 never as 0. Whole numbers have all their digits, and
/// from 10,000 on everything is rounded to whole.
std::string figure(double value, int digits = 4);

/// figure() with its unit: "98.2 %", "3.1e-04 nats"; what is a place in an order has it in front:
/// "layer 12".
std::string figureWithUnit(double value, std::string_view unit);

/// An element's value, exact for 16-bit types and the shortest that tells fp32 values apart.
std::string valueText(double value, numeric::DType dtype);

/// The same from an element's bits: integers of every width with all their digits.
std::string elementText(std::uint64_t bits, numeric::DType dtype);

/// "0x3f59": as many hex digits as the dtype has.
std::string bitsText(std::uint64_t bits, numeric::DType dtype);

/// "0 01111110 1011001": sign, exponent, mantissa in binary; plain binary for integers.
std::string fieldsText(std::uint64_t bits, numeric::DType dtype);

/// "0x" and 16 hex digits.
std::string digestText(std::uint64_t digest);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t count);

/// "1 row", "2 rows".
std::string countOf(std::uint64_t count, std::string_view singular);

} // namespace moire::report
