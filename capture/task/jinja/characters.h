// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture::jinja {

/// The code points of UTF-8 text, each as its bytes; a byte that is not UTF-8 stands alone.
std::vector<std::string_view> characters(std::string_view text);
std::size_t length(std::string_view text);

/// What Python's str.isspace() takes for white space.
bool isSpace(std::string_view character);

enum class Ends
{
    Both,
    Left,
    Right,
};

/// Python's str.strip(), lstrip(), rstrip() of white space, or of any of the characters in `what`.
std::string stripped(std::string_view text, Ends ends);
std::string stripped(std::string_view text, Ends ends, std::string_view what);

/// Simple case mapping of each code point (Unicode; "ß" stays, where Python makes it "SS").
std::string upper(std::string_view text);
std::string lower(std::string_view text);
/// The first character upper, the rest lower case, as Python's str.capitalize().
std::string capitalised(std::string_view text);
/// The same anew after every character that is no letter: Python's str.title().
std::string titled(std::string_view text);
/// The same anew after white space and - ( { [ <: Jinja's filter "title".
std::string wordsCapitalised(std::string_view text);

/// Python's str.replace(): the first `most` places, all when negative; an empty `from` stands
/// before and after every character.
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::ptrdiff_t most);

/// Python's str.split(separator, most) and rsplit(); without a separator split at runs of white
/// space.
std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::ptrdiff_t most);
std::vector<std::string> splitRight(std::string_view text, std::string_view separator,
                                    std::ptrdiff_t most);
std::vector<std::string> splitWords(std::string_view text, std::ptrdiff_t most);

} // namespace moire::capture::jinja
