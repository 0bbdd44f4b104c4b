// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/shortened.h"

#include <cstdint>

namespace moire::base {

std::string shortened(std::string_view text, std::size_t most)
{
    std::size_t characters = 0;
    std::size_t cut = 0; // before the last character that is allowed
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool starts = (static_cast<std::uint8_t>(text[at]) & 0xC0U) != 0x80;
        if (!starts)
            continue;
        if (characters + 1 == most)
            cut = at;
        if (characters == most)
            return std::string(text.substr(0, cut)) + "…";
        ++characters;
    }
    return std::string(text);
}

} // namespace moire::base
