// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moire::base {

/// Shell-like pattern: '*' is any run of characters (dots and slashes too), '?' any single one;
/// everything else stands for itself. The whole name has to match.
bool globMatches(std::string_view pattern, std::string_view name);

/// Bytes as valid UTF-8: each maximal ill-formed part becomes U+FFFD (Unicode 15, section 3.9, as
/// Python's errors="replace" does).
std::string validUtf8(std::string_view bytes);

/// True when the bytes are well-formed UTF-8.
bool isValidUtf8(std::string_view bytes);

/// A token's bytes for one line of text: invalid UTF-8 as <0xNN>, line breaks, tabs, control
/// characters and bidirectional marks as visible escapes (\n, \t, \u202e). Spaces are left alone.
std::string visibleText(std::string_view bytes);

} // namespace moire::base
