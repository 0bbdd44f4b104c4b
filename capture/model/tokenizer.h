// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/character_spelling.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// Text to ids and back, as Hugging Face's `tokenizers` does it. Immutable, any thread.
class Tokenizer
{
public:
    virtual ~Tokenizer() = default;
    /// Ids of `text` with the special tokens that the tokenizer itself adds (post-processor). Bytes
    /// that are not UTF-8 count as U+FFFD. Added tokens in the text are recognised.
    virtual Result<std::vector<std::int32_t>> encode(std::string_view text) const = 0;
    /// The same without the special tokens that it adds, for text that has them already.
    virtual Result<std::vector<std::int32_t>> encodeBare(std::string_view text) const = 0;
    /// The bytes that an id stands for in running text; "<id>" (e.g. "<509>") for an id it does not
    /// know.
    virtual std::string bytesOf(std::int32_t id) const = 0;
    virtual bool knows(std::int32_t id) const = 0;
    virtual std::uint32_t size() const = 0;
    /// Free of order over (id, bytes) of the vocabulary, the merges (with their rank) and what the
    /// pre-tokenizer does; the same for a GGUF file and a folder that tokenize alike.
    virtual std::uint64_t digest() const = 0;
};

/// What a BPE needs, whatever file it came from.
struct BpeDefinition
{
    struct Added
    {
        std::int32_t id;
        std::string content;
        bool special = true;
        bool singleWord = false, leftStrip = false, rightStrip = false, normalized = false;
    };
    std::vector<std::string> vocabulary; ///< by id, in byte-level (GPT-2) spelling; "" = hole
    /// The vocabulary is spelled so instead; no pre-tokenizer then.
    std::optional<CharacterSpelling> characters;
    std::vector<std::string> merges; ///< "left right", by rank
    /// By id, in place of merges, as SentencePiece does it: of all neighbours that together are a
    /// token, the token with the highest score, the leftmost of several.
    std::vector<float> scores;
    std::vector<Added> added;
    std::vector<std::string>
        splitPatterns;          ///< applied in turn, each match isolated (Oniguruma/PCRE syntax)
    bool digitsAlone = false;   ///< every digit its own piece first (pre_tokenizers.Digits)
    bool byteLevelRegex = true; ///< then the GPT-2 pattern
    bool addPrefixSpace = false;
    bool ignoreMerges = false;   ///< a piece that is in the vocabulary whole is one token
    std::int32_t unknownId = -1; ///< stands for a byte without a token; −1: such bytes vanish
    std::string normalizer;      ///< "", "NFC"
    std::vector<std::int32_t> prefixIds, suffixIds; ///< added around every text
    std::string name;                               ///< of the pre-tokenizer, for people
};

/// Checks the definition and builds the tokenizer. Errors: Damaged (merge of unknown parts …),
/// Unsupported.
Result<std::shared_ptr<const Tokenizer>> makeBpe(BpeDefinition definition);

/// tokenizer.json of a folder, or where there is none its SentencePiece tokenizer.model, with the
/// special tokens that tokenizer_config.json says it adds. Errors: NotFound with a hint;
/// Unsupported names the construct.
Result<std::shared_ptr<const Tokenizer>> openTokenizer(const std::filesystem::path& folder);

} // namespace moire::capture
