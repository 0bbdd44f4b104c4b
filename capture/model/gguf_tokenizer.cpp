// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_tokenizer.h"

#include "capture/model/gguf_fields.h"
#include "capture/model/plan_check.h"
#include "capture/model/pre_tokenizer.h"
#include "capture/model/sentencepiece_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace moire::capture {

namespace {

Result<std::vector<std::string>> readTexts(GgufFields& fields, std::string_view key)
{
    const GgufValue* value = fields.find(key);
    if (value == nullptr)
        fields.fail(Errc::Damaged, "has no metadata tokenizer.ggml." + std::string(key),
                    "Fetch the file again, or give ids (--ids)");
    const auto texts = value == nullptr ? std::nullopt : textsOf(*value);
    if (!texts) {
        fields.failType(key, "a list of strings");
        return fields.status().error();
    }
    return std::vector<std::string>(texts->begin(), texts->end());
}

/// Types of the tokens (PieceType), all normal when the file does not say. Errors: Damaged.
Result<std::vector<std::int64_t>> readTypes(GgufFields& fields, std::size_t count)
{
    constexpr std::string_view key = "token_type";
    const GgufValue* value = fields.find(key);
    if (value == nullptr)
        return std::vector<std::int64_t>(count, NormalPiece);
    auto types = integersOf(*value);
    if (!types || types->size() != count) {
        fields.failType(key, "a list of as many integers as there are tokens");
        return fields.status().error();
    }
    return std::move(*types);
}

/// The token put before (or behind) every text, where the file or llama.cpp's habit says so.
void readOuterToken(std::vector<std::int32_t>& ids, GgufFields& fields, std::string_view flag,
                    bool usual, std::string_view id, std::size_t vocabulary)
{
    if (!fields.flagOr(flag, usual) || !fields.has(id))
        return;
    const auto last = static_cast<std::uint32_t>(vocabulary) - 1;
    ids.push_back(static_cast<std::int32_t>(fields.count(id, 0, last)));
}

/// Whether llama.cpp adds a begin-of-text token for this pre-tokenizer when the file does not say.
bool usuallyBegins(std::string_view pre)
{
    constexpr std::array<std::string_view, 5> beginning{"llama3", "llama-v3", "llama-bpe",
                                                        "falcon3", "tekken"};
    return std::find(beginning.begin(), beginning.end(), pre) != beginning.end();
}

/// What only a byte-level vocabulary has: merges and a pre-tokenizer.
Result<void> readByteLevel(GgufFields& fields, const std::string& place, BpeDefinition& definition)
{
    auto merges = readTexts(fields, "merges");
    if (!merges)
        return merges.error();
    definition.merges = std::move(*merges);
    if (auto applied = applyPreTokenizer(fields.textOr("pre", ""), definition); !applied) {
        Error error = applied.error();
        error.place = place;
        return error;
    }
    definition.addPrefixSpace = fields.flagOr("add_space_prefix", false);
    return {};
}

/// What only a SentencePiece vocabulary has: scores, and a mark before the text.
Result<void> readCharacters(GgufFields& fields, BpeDefinition& definition)
{
    constexpr std::string_view key = "scores";
    const GgufValue* value = fields.find(key);
    auto scores = value == nullptr ? std::nullopt : floatsOf(*value);
    if (!scores || scores->size() != definition.vocabulary.size()) {
        fields.failType(key, "a list of as many numbers as there are tokens");
        return fields.status().error();
    }
    definition.scores = std::move(*scores);
    using Mark = CharacterSpelling::Mark;
    CharacterSpelling spelling;
    spelling.mark = fields.flagOr("add_space_prefix", true) ? Mark::Every : Mark::Never;
    spelling.markBeforeMark = true;
    spelling.byteTokens = true;
    definition.characters = spelling;
    definition.byteLevelRegex = false;
    definition.name = "llama";
    constexpr std::string_view unknown = "unknown_token_id";
    if (fields.has(unknown))
        definition.unknownId = static_cast<std::int32_t>(
            fields.count(unknown, 0, static_cast<std::uint32_t>(definition.vocabulary.size()) - 1));
    return {};
}

} // namespace

Result<BpeDefinition> bpeFromGguf(const GgufFile& file)
{
    GgufFields fields(file, "tokenizer.ggml.");
    if (!fields.has("model"))
        return Error{Errc::NotFound, "holds no tokenizer", file.place(),
                     "Give ids (--ids), or use the model's Hugging Face folder"};
    const std::string model = fields.text("model");
    const bool byteLevel = model == "gpt2";
    if (!byteLevel && model != "llama" && fields.status())
        return Error{
            Errc::Unsupported,
            "holds a tokenizer of the kind \"" + model
                + "\"; byte-level BPE (\"gpt2\") and SentencePiece BPE (\"llama\") can be read",
            file.place(), "Give ids (--ids), or use the model's Hugging Face folder"};
    const std::string pre = fields.textOr("pre", "");

    BpeDefinition definition;
    auto tokens = readTexts(fields, "tokens");
    if (!tokens)
        return tokens.error();
    if (tokens->empty() || tokens->size() > maxVocabulary) {
        fields.failType("tokens", "a vocabulary of a sensible size");
        return fields.status().error();
    }
    definition.vocabulary = std::move(*tokens);
    const auto types = readTypes(fields, definition.vocabulary.size());
    if (!types)
        return types.error();
    if (auto read = byteLevel ? readByteLevel(fields, file.place(), definition)
                              : readCharacters(fields, definition);
        !read)
        return read.error();
    applyPieceTypes(definition, *types);
    readOuterToken(definition.prefixIds, fields, "add_bos_token", !byteLevel || usuallyBegins(pre),
                   "bos_token_id", types->size());
    readOuterToken(definition.suffixIds, fields, "add_eos_token", false, "eos_token_id",
                   types->size());
    if (auto read = fields.status(); !read)
        return read.error();
    return definition;
}

} // namespace moire::capture
