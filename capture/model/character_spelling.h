// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace moire::capture {

/// How tokens are spelled that stand for themselves as characters (SentencePiece): a space is "▁",
/// a byte that has no other token "<0x0A>".
struct CharacterSpelling
{
    enum class Mark
    {
        Never,
        First, ///< at the beginning of the text
        Every, ///< at the beginning of every text between added tokens
    };
    Mark mark = Mark::Never;     ///< where a "▁" is put before the text
    bool markBeforeMark = false; ///< also before a text that begins with a space
    bool inNormalizer = false;   ///< before added tokens with "normalized" are looked for
    bool splitWords = false;     ///< every word, with its "▁", is a piece of its own
    bool byteTokens = false;     ///< "<0x0A>" stands for a byte
    bool fuseUnknown = false;    ///< neighbouring unknown characters are one token
};

inline constexpr std::string_view spaceMark = "\u2581";

/// "<0x0A>": the token of a byte.
bool isByteToken(std::string_view spelling);

/// The bytes that a token stands for.
std::string bytesOfCharacters(std::string_view spelling, const CharacterSpelling& how);

/// A text with its spaces as marks, and one before it where the tokenizer puts one; `first`: it
/// begins the whole text.
std::string marked(std::string_view text, const CharacterSpelling& how, bool first);

/// The words of a marked text, each with the mark before it; the whole text unless splitWords.
/// Takes the first one off.
std::string_view takePiece(std::string_view& text, const CharacterSpelling& how);

/// All of it in one number, for digests.
std::uint64_t switchesOf(const CharacterSpelling& how);

} // namespace moire::capture
