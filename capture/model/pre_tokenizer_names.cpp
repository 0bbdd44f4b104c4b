// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/pre_tokenizer.h"

#include <algorithm>
#include <array>

namespace moire::capture {

namespace {

constexpr std::string_view gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view digitPattern = R"(\p{N})";

constexpr std::string_view llama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view jais2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|)"
    R"(\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
constexpr std::string_view gpt4oPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
/// What llama.cpp does for files that name no pre-tokenizer: punctuation before the GPT-2 pattern.
constexpr std::string_view punctuationPattern = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view numberPattern = R"(\p{N}+)";
constexpr std::string_view threeDigitsPattern = R"([0-9][0-9][0-9])";

enum class Style
{
    Gpt2,
    DigitsGpt2,
    Llama3,
    Llama3WholeWords, ///< and a piece that is in the vocabulary whole is one token
    Qwen2,
    Jais2,
    Gpt4o,
    Tekken,
    Default,
};

struct NamedStyle
{
    std::string_view name;
    Style style;
};

// The names are those that llama.cpp writes (its tables of pre-tokenizers).
constexpr std::array styles{
    NamedStyle{"", Style::Default},
    NamedStyle{"default", Style::Default},
    NamedStyle{"gpt-2", Style::Gpt2},
    NamedStyle{"gpt2", Style::Gpt2},
    NamedStyle{"phi-2", Style::Gpt2},
    NamedStyle{"mpt", Style::Gpt2},
    NamedStyle{"olmo", Style::Gpt2},
    NamedStyle{"jais", Style::Gpt2},
    NamedStyle{"roberta-bpe", Style::Gpt2},
    NamedStyle{"gigachat", Style::Gpt2},
    NamedStyle{"exaone4", Style::Gpt2},
    NamedStyle{"smollm", Style::DigitsGpt2},
    NamedStyle{"starcoder", Style::DigitsGpt2},
    NamedStyle{"refact", Style::DigitsGpt2},
    NamedStyle{"command-r", Style::DigitsGpt2},
    NamedStyle{"codeshell", Style::DigitsGpt2},
    NamedStyle{"exaone", Style::DigitsGpt2},
    NamedStyle{"minerva-7b", Style::DigitsGpt2},
    NamedStyle{"llama3", Style::Llama3WholeWords},
    NamedStyle{"llama-v3", Style::Llama3WholeWords},
    NamedStyle{"llama-bpe", Style::Llama3WholeWords},
    NamedStyle{"falcon3", Style::Llama3WholeWords},
    NamedStyle{"dbrx", Style::Llama3},
    NamedStyle{"smaug-bpe", Style::Llama3},
    NamedStyle{"chatglm-bpe", Style::Llama3},
    NamedStyle{"glm4", Style::Llama3},
    NamedStyle{"qwen2", Style::Qwen2},
    NamedStyle{"jais-2", Style::Jais2},
    NamedStyle{"gpt-4o", Style::Gpt4o},
    NamedStyle{"llama4", Style::Gpt4o},
    NamedStyle{"tekken", Style::Tekken},
};

void splitWith(BpeDefinition& definition, std::initializer_list<std::string_view> patterns)
{
    definition.splitPatterns.assign(patterns.begin(), patterns.end());
    definition.byteLevelRegex = false;
}

} // namespace

Result<void> applyPreTokenizer(std::string_view ggufName, BpeDefinition& definition)
{
    const auto* const found = std::find_if(
        styles.begin(), styles.end(), [&](const auto& entry) { return entry.name == ggufName; });
    if (found == styles.end())
        return Error{Errc::Unsupported,
                     "the pre-tokenizer \"" + std::string(ggufName) + "\" is not known", "",
                     "Use the model's Hugging Face folder, whose tokenizer.json spells it out, "
                     "or give ids (--ids)"};
    definition.splitPatterns.clear();
    definition.digitsAlone = false;
    definition.byteLevelRegex = true;
    definition.ignoreMerges = false;
    definition.name = ggufName.empty() ? "default" : std::string(ggufName);
    switch (found->style) {
    case Style::Gpt2:
        break;
    case Style::DigitsGpt2:
        definition.digitsAlone = true;
        break;
    case Style::Llama3WholeWords:
        definition.ignoreMerges = true;
        splitWith(definition, {llama3Pattern});
        break;
    case Style::Llama3:
        splitWith(definition, {llama3Pattern});
        break;
    case Style::Qwen2:
        definition.normalizer = "NFC";
        splitWith(definition, {qwen2Pattern});
        break;
    case Style::Jais2:
        splitWith(definition, {jais2Pattern});
        break;
    case Style::Gpt4o:
        splitWith(definition, {gpt4oPattern});
        break;
    case Style::Tekken:
        definition.ignoreMerges = true;
        splitWith(definition, {tekkenPattern});
        break;
    case Style::Default:
        splitWith(definition, {punctuationPattern, gpt2Pattern, numberPattern, threeDigitsPattern});
        break;
    }
    return {};
}

std::vector<std::string> effectivePatterns(const BpeDefinition& definition)
{
    std::vector<std::string> patterns;
    if (definition.digitsAlone)
        patterns.emplace_back(digitPattern);
    patterns.insert(patterns.end(), definition.splitPatterns.begin(),
                    definition.splitPatterns.end());
    if (definition.byteLevelRegex)
        patterns.emplace_back(gpt2Pattern);
    return patterns;
}

} // namespace moire::capture
