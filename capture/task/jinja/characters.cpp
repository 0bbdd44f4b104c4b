// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/jinja/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace moire::capture::jinja {

namespace {

/// The first code point and how many bytes it has; −1 and 1 where the bytes are not UTF-8.
std::pair<utf8proc_int32_t, std::size_t> firstOf(std::string_view text)
{
    utf8proc_int32_t code = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    if (size <= 0)
        return {-1, 1};
    return {code, static_cast<std::size_t>(size)};
}

void append(std::string& out, utf8proc_int32_t code)
{
    constexpr std::size_t longest = 4;
    std::array<utf8proc_uint8_t, longest> bytes{};
    const auto size = utf8proc_encode_char(code, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

template <class Map>
std::string mapped(std::string_view text, Map map)
{
    std::string out;
    for (const std::string_view character : characters(text)) {
        const auto code = firstOf(character).first;
        if (code < 0)
            out += character;
        else
            append(out, map(code));
    }
    return out;
}

/// White space of Python's str.isspace().
bool isSpaceCode(utf8proc_int32_t code)
{
    constexpr std::array<std::pair<utf8proc_int32_t, utf8proc_int32_t>, 10> ranges{
        {{0x09, 0x0D},
         {0x1C, 0x20},
         {0x85, 0x85},
         {0xA0, 0xA0},
         {0x1680, 0x1680},
         {0x2000, 0x200A},
         {0x2028, 0x2029},
         {0x202F, 0x202F},
         {0x205F, 0x205F},
         {0x3000, 0x3000}}};
    return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
        return code >= range.first && code <= range.second;
    });
}

/// The first character in upper case, the rest in lower case up to one that `begins` a new word.
template <class Begins>
std::string capitalisedAfter(std::string_view text, Begins begins)
{
    bool first = true;
    return mapped(text, [&](utf8proc_int32_t code) {
        const auto made = first ? utf8proc_totitle(code) : utf8proc_tolower(code);
        first = begins(code);
        return made;
    });
}

bool isLetter(utf8proc_int32_t code)
{
    const auto category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL
           || category == UTF8PROC_CATEGORY_LT;
}

template <class IsStripped>
std::string strippedIf(std::string_view text, Ends ends, IsStripped isStripped)
{
    const auto all = characters(text);
    auto begin = all.begin();
    auto end = all.end();
    if (ends != Ends::Right)
        begin = std::find_if_not(begin, end, isStripped);
    if (ends != Ends::Left)
        while (end != begin && isStripped(*(end - 1)))
            --end;
    std::string out;
    for (; begin != end; ++begin)
        out += *begin;
    return out;
}

} // namespace

std::vector<std::string_view> characters(std::string_view text)
{
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t size = firstOf(text).second;
        out.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return out;
}

std::size_t length(std::string_view text)
{
    return characters(text).size();
}

bool isSpace(std::string_view character)
{
    return isSpaceCode(firstOf(character).first);
}

std::string stripped(std::string_view text, Ends ends)
{
    return strippedIf(text, ends, isSpace);
}

std::string stripped(std::string_view text, Ends ends, std::string_view what)
{
    const auto set = characters(what);
    return strippedIf(text, ends, [&](std::string_view character) {
        return std::find(set.begin(), set.end(), character) != set.end();
    });
}

std::string upper(std::string_view text)
{
    return mapped(text, utf8proc_toupper);
}

std::string lower(std::string_view text)
{
    return mapped(text, utf8proc_tolower);
}

std::string capitalised(std::string_view text)
{
    return capitalisedAfter(text, [](utf8proc_int32_t) { return false; });
}

std::string titled(std::string_view text)
{
    return capitalisedAfter(text, [](utf8proc_int32_t code) { return !isLetter(code); });
}

std::string wordsCapitalised(std::string_view text)
{
    return capitalisedAfter(text, [](utf8proc_int32_t code) {
        constexpr std::u32string_view signs = U"-({[<";
        return isSpaceCode(code) || signs.find(static_cast<char32_t>(code)) != signs.npos;
    });
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::ptrdiff_t most)
{
    std::string out;
    if (from.empty()) {
        for (const std::string_view character : characters(text)) {
            if (most-- != 0)
                out += to;
            else
                most = 0;
            out += character;
        }
        return most != 0 ? out + std::string(to) : out;
    }
    while (most-- != 0) {
        const std::size_t place = text.find(from);
        if (place == std::string_view::npos)
            break;
        (out += text.substr(0, place)) += to;
        text.remove_prefix(place + from.size());
    }
    return out += text;
}

std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::ptrdiff_t most)
{
    std::vector<std::string> out;
    while (most-- != 0) {
        const std::size_t place = text.find(separator);
        if (place == std::string_view::npos)
            break;
        out.emplace_back(text.substr(0, place));
        text.remove_prefix(place + separator.size());
    }
    out.emplace_back(text);
    return out;
}

std::vector<std::string> splitRight(std::string_view text, std::string_view separator,
                                    std::ptrdiff_t most)
{
    std::vector<std::string> out;
    while (most-- != 0) {
        const std::size_t place = text.rfind(separator);
        if (place == std::string_view::npos)
            break;
        out.emplace_back(text.substr(place + separator.size()));
        text = text.substr(0, place);
    }
    out.emplace_back(text);
    std::reverse(out.begin(), out.end());
    return out;
}

std::vector<std::string> splitWords(std::string_view text, std::ptrdiff_t most)
{
    std::vector<std::string> out;
    std::string rest = stripped(text, Ends::Left);
    while (!rest.empty()) {
        const auto all = characters(rest);
        const auto end = most-- == 0 ? all.end() : std::find_if(all.begin(), all.end(), isSpace);
        std::size_t size = 0;
        for (auto it = all.begin(); it != end; ++it)
            size += it->size();
        out.push_back(rest.substr(0, size));
        rest = stripped(std::string_view(rest).substr(size), Ends::Left);
    }
    return out;
}

} // namespace moire::capture::jinja
