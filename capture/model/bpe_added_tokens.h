// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/tokenizer.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// Finds added tokens in a text as Hugging Face's AddedVocabulary does: leftmost, then longest,
/// without overlap. single_word discards a match that touches a word character, lstrip and rstrip
/// take the white space beside it along. Immutable, any thread.
class AddedTokenFinder
{
public:
    AddedTokenFinder() = default;
    explicit AddedTokenFinder(std::vector<BpeDefinition::Added> tokens);

    /// A part of the text: an added token, or text between two of them.
    struct Part
    {
        std::string_view text;
        std::int32_t id = -1; ///< −1: plain text
    };
    /// The parts in order; none is empty, except that an empty text gives no part.
    std::vector<Part> split(std::string_view text) const;

private:
    const BpeDefinition::Added* longestAt(std::string_view text, std::size_t at) const;
    std::vector<BpeDefinition::Added> m_tokens; ///< by content
    std::array<bool, 256> m_starts{};           ///< bytes that some token begins with
    std::size_t m_longest = 0;
};

} // namespace moire::capture
