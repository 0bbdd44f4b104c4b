// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"

#include <algorithm>
#include <array>
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

struct CodePoints
{
    std::uint32_t first, last;
};

/// What Unicode 15 calls Default_Ignorable_Code_Point or general category Cf (without those of Cf
/// that are drawn around the digits after them, such as U+06DD), and both separators, Zl and Zp.
constexpr std::array<CodePoints, 18> unseen{{{0x00AD, 0x00AD},
                                             {0x034F, 0x034F},
                                             {0x061C, 0x061C},
                                             {0x115F, 0x1160},
                                             {0x17B4, 0x17B5},
                                             {0x180B, 0x180F},
                                             {0x200B, 0x200F},
                                             {0x2028, 0x202E},
                                             {0x2060, 0x206F},
                                             {0x3164, 0x3164},
                                             {0xFE00, 0xFE0F},
                                             {0xFEFF, 0xFEFF},
                                             {0xFFA0, 0xFFA0},
                                             {0xFFF0, 0xFFFB},
                                             {0x13430, 0x1343F},
                                             {0x1BCA0, 0x1BCA3},
                                             {0x1D173, 0x1D17A},
                                             {0xE0000, 0xE0FFF}}};

/// U+FDD0 to U+FDEF and the last two of every plane: XML does not even allow all of them.
bool isNoncharacter(std::uint32_t c)
{
    return (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFEU) == 0xFFFE;
}

/// Control characters, and what a reader would not see or what would turn the text around it.
bool hasNoShape(std::uint32_t c)
{
    if (c < 0xA0)
        return c < 0x20 || c >= 0x7F;
    return isNoncharacter(c) || std::any_of(unseen.begin(), unseen.end(), [c](CodePoints range) {
               return c >= range.first && c <= range.last;
           });
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
        } else if (hasNoShape(d.codePoint)) {
            escape(d.codePoint > 0xFFFF ? "\\U%08x" : "\\u%04x", d.codePoint);
        } else {
            out.append(bytes, at, d.size);
        }
        at += d.size;
    }
    return out;
}

} // namespace moire::base
