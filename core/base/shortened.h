// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace moire::base {

/// How much of a token's text stands in a sentence or a cell.
inline constexpr std::size_t shownOfToken = 40;

/// Valid UTF-8 of at most `most` code points (at least 1): what is longer is cut and ends in "…".
std::string shortened(std::string_view text, std::size_t most);

} // namespace moire::base
