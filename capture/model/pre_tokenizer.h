// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/tokenizer.h"
#include "core/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// Fills what the pre-tokenizer named by a GGUF file (`tokenizer.ggml.pre`) means: split patterns,
/// digits, the GPT-2 pattern, normalizer, ignoreMerges and the name. "" is "default". Where
/// llama.cpp's patterns are an adaptation, these are the ones of the model's own tokenizer.json.
/// Errors: Unsupported names the pre-tokenizer.
Result<void> applyPreTokenizer(std::string_view ggufName, BpeDefinition& definition);

/// Every pattern of a definition in the order of its use, GPT-2's and the digits' included.
std::vector<std::string> effectivePatterns(const BpeDefinition& definition);

/// Cuts text into the pieces that are merged each for itself. Immutable, any thread.
class PreTokenizer
{
public:
    /// `patterns` in Oniguruma's syntax as far as it means the same in PCRE2 once \s, \S, \w are
    /// spelt out. Errors: Unsupported shows the pattern and what is wrong with it.
    static Result<PreTokenizer> compile(const std::vector<std::string>& patterns);
    PreTokenizer(PreTokenizer&&) noexcept;
    PreTokenizer& operator=(PreTokenizer&&) noexcept;
    ~PreTokenizer();

    /// Pieces of well-formed UTF-8, none empty; views into `text`. Each pattern in turn splits the
    /// pieces of the one before: every match is a piece, and what lies between two matches.
    /// Errors: Internal when the matcher gives up (its own limits).
    Result<std::vector<std::string_view>> split(std::string_view text) const;

private:
    class Pattern;
    PreTokenizer();
    std::vector<Pattern> m_patterns;
};

} // namespace moire::capture
