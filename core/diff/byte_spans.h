// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/token_alignment.h"
#include "core/trace/records.h"

#include <span>

namespace moire::diff {

/// Whether an id means the same on both sides.
enum class Vocabulary
{
    Same, ///< tokens meet when their ids are equal too
    Other
};

/// How the tokens of one sample correspond by the bytes that they stand for: for different
/// tokenizers, and for text that was tokenised again. Tokens meet where they begin and end at the
/// same byte of the same text; what lies between two such places is a block with sameTokens =
/// false. `split` is the first token of the reference whose text is not the target's. A
/// special token that begins one side only, or is another on the other, is such a block too, and so
/// is a token without bytes that has no counterpart. Tokens without bytes on both sides meet when
/// their ids are equal.
TokenAlignment alignBytes(std::span<const trace::Token> reference,
                          std::span<const trace::Token> target, Vocabulary vocabulary);

/// Whether any token says what it stands for: without that texts cannot be told from tokens.
bool haveBytes(std::span<const trace::Token> tokens);

} // namespace moire::diff
