// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/json_value.h"

#include "core/base/text.h"
#include "core/report/number.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace moire::report {

namespace {

/// The code point of 2 or 3 bytes at the start of well-formed UTF-8; 0 for others.
std::uint32_t shortCodePoint(std::string_view text)
{
    const auto part = [&text](std::size_t i, unsigned mask) {
        return static_cast<std::uint32_t>(static_cast<std::uint8_t>(text[i]) & mask);
    };
    constexpr unsigned tail = 0x3F;
    const auto lead = static_cast<std::uint8_t>(text[0]);
    if (lead >= 0xC2 && lead < 0xE0 && text.size() > 1)
        return (part(0, 0x1F) << 6) | part(1, tail);
    if (lead >= 0xE0 && lead < 0xF0 && text.size() > 2)
        return (part(0, 0x0F) << 12) | (part(1, tail) << 6) | part(2, tail);
    return 0;
}

bool isActive(std::uint32_t c)
{
    return (c >= 0x80 && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F
           || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Outside ASCII a JSON text has characters in its strings only: there they may be escaped.
std::string withoutActiveText(const std::string& json)
{
    std::string out;
    out.reserve(json.size());
    const auto escape = [&out](std::uint32_t c) {
        std::array<char, 8> text{};
        std::snprintf(text.data(), text.size(), "\\u%04x", c);
        out += text.data();
    };
    constexpr char del = 0x7F;
    for (std::size_t at = 0; at < json.size();) {
        const std::uint32_t c = shortCodePoint(std::string_view(json).substr(at));
        if (json[at] == del || isActive(c)) {
            escape(json[at] == del ? del : c);
            at += json[at] == del ? 1 : c < 0x800 ? 2 : 3;
        } else {
            out += json[at++];
        }
    }
    return out;
}

} // namespace

Json numberOf(double value)
{
    constexpr double exactIntegers = 9007199254740992.0; // 2^53
    if (!std::isfinite(value))
        return shortest(value);
    const bool negativeZero = value == 0 && std::signbit(value);
    if (std::trunc(value) == value && std::abs(value) < exactIntegers && !negativeZero)
        return static_cast<std::int64_t>(value);
    return value;
}

std::string stringOf(std::string_view bytes)
{
    return base::validUtf8(bytes);
}

Json environmentObject(const trace::Environment& environment)
{
    Json out = Json::object();
    for (const auto& [key, value] : environment.fields()) {
        Json& place = out[stringOf(key)];
        if (const auto* text = std::get_if<std::string>(&value))
            place = stringOf(*text);
        else if (const auto* number = std::get_if<double>(&value))
            place = numberOf(*number);
        else if (const auto* flag = std::get_if<bool>(&value))
            place = *flag;
        else
            place = std::get<std::int64_t>(value);
    }
    return out;
}

std::string printed(const Json& document)
{
    constexpr int indentation = 2;
    return withoutActiveText(document.dump(indentation)) + '\n';
}

} // namespace moire::report
