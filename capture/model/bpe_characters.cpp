// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/bpe_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace moire::capture {

namespace {

struct Character
{
    std::int32_t codePoint = -1;
    std::size_t size = 0; ///< 0: there is none
};

Character firstOf(std::string_view text)
{
    utf8proc_int32_t codePoint = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &codePoint);
    return text.empty() || size <= 0 ? Character{}
                                     : Character{codePoint, static_cast<std::size_t>(size)};
}

Character lastOf(std::string_view text)
{
    std::size_t begin = text.size();
    while (begin > 0) {
        --begin;
        if ((static_cast<std::uint8_t>(text[begin]) & 0xC0U) != 0x80U)
            break;
    }
    return firstOf(text.substr(begin));
}

/// White_Space of Unicode's PropList.txt; unchanged since Unicode 6.3.
bool isWhiteSpace(std::int32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680
           || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F
           || c == 0x205F || c == 0x3000;
}

/// The alphabetic characters that are symbols by category: letters in circles and squares.
bool isEnclosedLetter(std::int32_t c)
{
    return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149)
           || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool isWordCharacter(Character character)
{
    if (character.size == 0)
        return false;
    const bool isJoiner = character.codePoint == 0x200C || character.codePoint == 0x200D;
    switch (utf8proc_category(character.codePoint)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return isJoiner || isEnclosedLetter(character.codePoint);
    }
}

} // namespace

bool startsWithWordCharacter(std::string_view text)
{
    return isWordCharacter(firstOf(text));
}

bool endsWithWordCharacter(std::string_view text)
{
    return isWordCharacter(lastOf(text));
}

std::size_t leadingSpaceLength(std::string_view text)
{
    std::size_t length = 0;
    for (Character c = firstOf(text); c.size > 0 && isWhiteSpace(c.codePoint);
         c = firstOf(text.substr(length)))
        length += c.size;
    return length;
}

std::size_t trailingSpaceLength(std::string_view text)
{
    std::size_t length = 0;
    for (Character c = lastOf(text); c.size > 0 && isWhiteSpace(c.codePoint);
         c = lastOf(text.substr(0, text.size() - length)))
        length += c.size;
    return length;
}

std::size_t firstCharacterLength(std::string_view text)
{
    return std::max<std::size_t>(firstOf(text).size, 1);
}

std::string normalFormC(const std::string& text)
{
    if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }))
        return text;
    utf8proc_uint8_t* composed = nullptr;
    const auto size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &composed,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
    // The text is well-formed, so that running out of memory is all that can go wrong.
    if (size < 0)
        throw std::bad_alloc();
    return {reinterpret_cast<const char*>(composed), static_cast<std::size_t>(size)};
}

} // namespace moire::capture
