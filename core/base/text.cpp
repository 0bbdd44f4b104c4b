// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"

#include <cstdint>
#include <cstdio>

namespace moire::base {

namespace {

/// One well-formed code point (size ≥ 1, valid) or the maximal ill-formed part (valid = false).
struct Decoded
{
    std::uint32_t codePoint = 0xFFFD;
    std::size_t size = 1;
    bool valid = false;
};

/// Table 3-7 of the Unicode Standard: which second bytes a lead byte allows.
Decoded decodeAt(std::string_view text, std::size_t at)
{
    const auto byteAt = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byteAt(at);
    if (lead < 0x80)
        return {lead, 1, true};
    std::size_t length = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    std::uint32_t codePoint = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        codePoint = lead & 0x1FU;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        codePoint = lead & 0x0FU;
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        codePoint = lead & 0x07U;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return {};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i >= text.size() || byteAt(at + i) < low || byteAt(at + i) > high)
            return {0xFFFD, i, false};
        codePoint = codePoint << 6U | (byteAt(at + i) & 0x3FU);
        low = 0x80;
        high = 0xBF;
    }
    return {codePoint, length, true};
}

bool isBidiMark(std::uint32_t c)
{
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E)
           || (c >= 0x2066 && c <= 0x2069);
}

} // namespace

bool globMatches(std::string_view pattern, std::string_view name)
{
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

std::string validUtf8(std::string_view bytes)
{
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        const Decoded d = decodeAt(bytes, at);
        if (d.valid)
            out.append(bytes, at, d.size);
        else
            out += "\xEF\xBF\xBD";
        at += d.size;
    }
    return out;
}

bool isValidUtf8(std::string_view bytes)
{
    for (std::size_t at = 0; at < bytes.size();) {
        const Decoded d = decodeAt(bytes, at);
        if (!d.valid)
            return false;
        at += d.size;
    }
    return true;
}

std::string visibleText(std::string_view bytes)
{
    std::string out;
    const auto escape = [&out](const char* format, unsigned value) {
        char buffer[16];
        std::snprintf(buffer, sizeof buffer, format, value);
        out += buffer;
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const Decoded d = decodeAt(bytes, at);
        if (!d.valid) {
            for (std::size_t i = 0; i < d.size; ++i)
                escape("<0x%02X>", static_cast<std::uint8_t>(bytes[at + i]));
        } else if (d.codePoint == '\n') {
            out += "\\n";
        } else if (d.codePoint == '\r') {
            out += "\\r";
        } else if (d.codePoint == '\t') {
            out += "\\t";
        } else if (d.codePoint < 0x20 || (d.codePoint >= 0x7F && d.codePoint < 0xA0)
                   || isBidiMark(d.codePoint) || d.codePoint == 0x2028 || d.codePoint == 0x2029) {
            escape("\\u%04x", d.codePoint);
        } else {
            out.append(bytes, at, d.size);
        }
        at += d.size;
    }
    return out;
}

} // namespace moire::base
