// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace moire::capture {

// Questions about the characters at the edges of well-formed UTF-8. White space is Unicode's
// White_Space, a word character what \w is in Unicode's TR18 (Rust's regex): Alphabetic, marks,
// decimal digits, connectors, joiners.

bool startsWithWordCharacter(std::string_view text);
bool endsWithWordCharacter(std::string_view text);
/// Bytes of white space that `text` begins or ends with.
std::size_t leadingSpaceLength(std::string_view text);
std::size_t trailingSpaceLength(std::string_view text);

/// Bytes of the first character of a text that is not empty; 1 where they are not UTF-8.
std::size_t firstCharacterLength(std::string_view text);

/// Unicode normal form C.
std::string normalFormC(const std::string& text);

} // namespace moire::capture
