// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/prediction.h"

#include "capture/model/bpe_characters.h"

#include <cassert>
#include <cmath>
#include <optional>

namespace moire::capture {

std::string letterByLogits(std::span<const float> logits, const std::vector<std::string>& letters)
{
    assert(logits.size() == letters.size());
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (!std::isnan(logits[i]) && (!best || logits[i] > logits[*best]))
            best = i;
    return best ? letters[*best] : std::string();
}

std::string letterInText(std::string_view text, const std::vector<std::string>& letters)
{
    std::size_t first = std::string_view::npos;
    std::string found;
    for (const std::string& letter : letters)
        for (std::size_t at = text.find(letter); at < first; at = text.find(letter, at + 1)) {
            if (endsWithWordCharacter(text.substr(0, at))
                || startsWithWordCharacter(text.substr(at + letter.size())))
                continue;
            first = at;
            found = letter;
        }
    return found;
}

} // namespace moire::capture
