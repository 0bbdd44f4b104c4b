// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/character_spelling.h"

#include <algorithm>
#include <charconv>

namespace moire::capture {

namespace {

std::string replacedAll(std::string_view text, std::string_view from, std::string_view to)
{
    std::string out;
    for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
        (out += text.substr(0, at)) += to;
        text.remove_prefix(at + from.size());
    }
    return out += text;
}

} // namespace

bool isByteToken(std::string_view spelling)
{
    const auto isDigit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
    constexpr std::size_t length = 6;
    return spelling.size() == length && spelling.starts_with("<0x") && spelling.ends_with('>')
           && isDigit(spelling[3]) && isDigit(spelling[4]);
}

std::string bytesOfCharacters(std::string_view spelling, const CharacterSpelling& how)
{
    constexpr int hexadecimal = 16;
    if (!how.byteTokens || !isByteToken(spelling))
        return replacedAll(spelling, spaceMark, " ");
    unsigned byte = 0;
    std::from_chars(spelling.data() + 3, spelling.data() + 5, byte, hexadecimal);
    return std::string(1, static_cast<char>(byte));
}

std::string marked(std::string_view text, const CharacterSpelling& how, bool first)
{
    using Mark = CharacterSpelling::Mark;
    std::string out = replacedAll(text, " ", spaceMark);
    const bool wanted = how.mark == Mark::Every || (how.mark == Mark::First && first);
    if (wanted && !out.empty() && (how.markBeforeMark || !out.starts_with(spaceMark)))
        out.insert(0, spaceMark);
    return out;
}

std::string_view takePiece(std::string_view& text, const CharacterSpelling& how)
{
    const std::size_t begin = text.starts_with(spaceMark) ? spaceMark.size() : 1;
    const std::size_t end =
        how.splitWords ? std::min(text.find(spaceMark, begin), text.size()) : text.size();
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(end);
    return piece;
}

std::uint64_t switchesOf(const CharacterSpelling& how)
{
    std::uint64_t switches = static_cast<std::uint64_t>(how.mark);
    for (const bool on :
         {how.markBeforeMark, how.inNormalizer, how.splitWords, how.byteTokens, how.fuseUnknown})
        switches = switches << 1U | (on ? 1U : 0U);
    return switches;
}

} // namespace moire::capture
