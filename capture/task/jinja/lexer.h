// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture::jinja {

struct Token
{
    enum class Kind
    {
        Text,       ///< template text between the tags, white space already taken off
        PrintBegin, ///< {{
        PrintEnd,
        TagBegin, ///< {%
        TagEnd,
        Name,
        Integer,
        Float,
        String, ///< its value, escapes resolved
        Sign,   ///< an operator or bracket
        End,
    };
    Kind kind;
    std::string text;
    std::size_t line;
};

/// Splits a template into tokens, as jinja2's lexer with `trim_blocks` and `lstrip_blocks`: the
/// line break after a tag or comment, and white space before one that begins its line, are no
/// text; "-" inside takes off all white space on that side, "+" keeps it. Throws Failure.
std::vector<Token> tokensOf(std::string_view source);

} // namespace moire::capture::jinja
