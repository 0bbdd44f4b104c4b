// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace moire::report {

namespace {

/// to_chars never needs more for a double in any of its forms used here.
constexpr std::size_t numberBuffer = 64;

std::string notFinite(double value)
{
    if (std::isnan(value))
        return "NaN";
    return value < 0 ? "-Infinity" : "Infinity";
}

template <class Float, class... Form>
std::string printed(Float value, Form... form)
{
    std::array<char, numberBuffer> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, form...);
    return {buffer.data(), end.ptr};
}

std::string hex(std::uint64_t bits, int digits)
{
    std::array<char, numberBuffer> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "0x%0*llx", digits,
                  static_cast<unsigned long long>(bits));
    return buffer.data();
}

} // namespace

std::string shortest(double value)
{
    return std::isfinite(value) ? printed(value) : notFinite(value);
}

std::string figure(double value, int digits)
{
    if (!std::isfinite(value))
        return notFinite(value);
    constexpr double mostGrouped = 1e12;
    constexpr double leastGrouped = 1e4; // from here on an exponent would be harder to read
    const double size = std::abs(value);
    if (size < mostGrouped && (std::trunc(value) == value || size >= leastGrouped))
        return std::string(std::signbit(value) ? "-" : "")
            .append(grouped(static_cast<std::uint64_t>(std::round(size))));
    constexpr int mostDigits = 17; // enough to tell any two doubles apart
    constexpr double hundred = 100;
    std::string text = printed(value, std::chars_format::general, digits);
    while (digits < mostDigits && text == "100" && value != hundred)
        text = printed(value, std::chars_format::general, ++digits);
    return text;
}

std::string figureWithUnit(double value, std::string_view unit)
{
    std::string text = figure(value);
    if (unit.empty())
        return text;
    for (const std::string_view place : {"position", "token", "layer", "rank"})
        if (unit == place)
            return std::string(unit).append(" ").append(text);
    return text.append(" ").append(unit);
}

std::string valueText(double value, numeric::DType dtype)
{
    if (!std::isfinite(value))
        return notFinite(value);
    if (dtype == numeric::DType::FP64)
        return shortest(value);
    return printed(static_cast<float>(value));
}

std::string elementText(std::uint64_t bits, numeric::DType dtype)
{
    return numeric::isFloat(dtype) ? valueText(numeric::toDouble(bits, dtype), dtype)
                                   : std::to_string(numeric::monotoneKey(bits, dtype));
}

std::string bitsText(std::uint64_t bits, numeric::DType dtype)
{
    return hex(bits, static_cast<int>(2 * numeric::sizeOf(dtype)));
}

std::string fieldsText(std::uint64_t bits, numeric::DType dtype)
{
    const int width = static_cast<int>(8 * numeric::sizeOf(dtype));
    int exponentAt = width;
    int mantissaAt = width;
    if (numeric::isFloat(dtype)) {
        const numeric::FloatLayout layout = numeric::layoutOf(dtype);
        exponentAt = 1;
        mantissaAt = 1 + layout.exponentBits;
    }
    std::string text;
    for (int i = 0; i < width; ++i) {
        if (i == exponentAt || i == mantissaAt)
            text += ' ';
        text += ((bits >> static_cast<unsigned>(width - 1 - i)) & 1U) != 0 ? '1' : '0';
    }
    return text;
}

std::string digestText(std::uint64_t digest)
{
    return hex(digest, 16);
}

std::string grouped(std::uint64_t count)
{
    const std::string digits = std::to_string(count);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0)
            text += ',';
        text += digits[i];
    }
    return text;
}

std::string countOf(std::uint64_t count, std::string_view singular)
{
    return grouped(count).append(" ").append(singular).append(count == 1 ? "" : "s");
}

} // namespace moire::report
