// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/bpe_added_tokens.h"
#include "capture/model/bpe_alphabet.h"
#include "capture/model/bpe_characters.h"
#include "capture/model/bpe_merges.h"
#include "capture/model/pre_tokenizer.h"
#include "capture/model/tokenizer.h"
#include "core/base/text.h"
#include "core/numeric/digest.h"

#include <algorithm>
#include <array>
#include <new>
#include <unordered_map>
#include <utility>

namespace moire::capture {

namespace {

constexpr std::int32_t unknown = -1;
constexpr std::size_t byteCount = 256;

/// Ids above are refused: no known vocabulary has a tenth of it.
constexpr std::int32_t largestId = 4'000'000;

struct TextHash
{
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const
    {
        return std::hash<std::string_view>{}(text);
    }
};
using IdByText = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

std::uint64_t textDigest(std::string_view text)
{
    return numeric::bytesDigest(reinterpret_cast<const std::byte*>(text.data()), text.size());
}

Error damaged(std::string sentence)
{
    return {Errc::Damaged, std::move(sentence), "",
            "Get the tokenizer's file again, or give ids (--ids)"};
}

class ByteLevelBpe : public Tokenizer
{
public:
    static Result<std::shared_ptr<const Tokenizer>> make(BpeDefinition definition);

    Result<std::vector<std::int32_t>> encode(std::string_view text) const override;
    Result<std::vector<std::int32_t>> encodeBare(std::string_view text) const override;
    std::string bytesOf(std::int32_t id) const override;
    bool knows(std::int32_t id) const override
    {
        return id >= 0 && static_cast<std::size_t>(id) < m_bytes.size()
               && m_known[static_cast<std::size_t>(id)];
    }
    std::uint32_t size() const override { return static_cast<std::uint32_t>(m_bytes.size()); }
    std::uint64_t digest() const override { return m_digest; }

private:
    ByteLevelBpe(BpeDefinition definition, PreTokenizer split, PreTokenizer byteLevel)
        : m_definition(std::move(definition))
        , m_split(std::move(split))
        , m_byteLevel(std::move(byteLevel))
    {}
    Result<void> takeVocabulary();
    Result<void> takeMerges();
    Result<void> takeAddedTokens();
    std::uint64_t computeDigest() const;
    std::string normalised(const std::string& text) const
    {
        return m_definition.normalizer.empty() ? text : normalFormC(text);
    }

    Result<void> encodePlain(std::string_view text, std::vector<std::int32_t>& ids) const;
    void encodePiece(std::string_view piece, std::vector<std::int32_t>& ids) const;

    BpeDefinition m_definition;       ///< vocabulary and merges are given up once taken
    PreTokenizer m_split;             ///< all patterns but the last stage's
    PreTokenizer m_byteLevel;         ///< the GPT-2 pattern, or none
    std::vector<std::string> m_bytes; ///< by id
    std::vector<bool> m_known;        ///< by id
    IdByText m_idOfSpelling;          ///< of the vocabulary, not of added tokens
    IdByText m_idOfBytes;             ///< whole pieces, with ignoreMerges only
    std::array<std::int32_t, byteCount> m_idOfByte{};
    BpeMerges m_merges;
    AddedTokenFinder m_rawTokens;        ///< found before the normalizer
    AddedTokenFinder m_normalisedTokens; ///< found after it
    std::uint64_t m_digest = 0;
};

std::string ByteLevelBpe::bytesOf(std::int32_t id) const
{
    if (knows(id))
        return m_bytes[static_cast<std::size_t>(id)];
    std::string shown(1, '<');
    return shown.append(std::to_string(id)).append(1, '>');
}

Result<void> ByteLevelBpe::takeVocabulary()
{
    const auto& vocabulary = m_definition.vocabulary;
    if (vocabulary.size() > static_cast<std::size_t>(largestId))
        return damaged("the vocabulary has " + std::to_string(vocabulary.size()) + " places");
    m_bytes.resize(vocabulary.size());
    m_known.resize(vocabulary.size());
    m_idOfByte.fill(unknown);
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const std::string& spelling = vocabulary[i];
        if (spelling.empty())
            continue;
        const auto id = static_cast<std::int32_t>(i);
        m_idOfSpelling.emplace(spelling, id);
        const auto bytes = bytesFromSpelling(spelling);
        m_bytes[i] = bytes.value_or(spelling);
        m_known[i] = true;
        if (!bytes)
            continue;
        if (bytes->size() == 1)
            m_idOfByte[static_cast<std::uint8_t>(bytes->front())] = id;
        if (m_definition.ignoreMerges)
            m_idOfBytes.emplace(*bytes, id);
    }
    if (m_idOfSpelling.empty())
        return damaged("the vocabulary is empty");
    return {};
}

Result<void> ByteLevelBpe::takeMerges()
{
    std::uint32_t rank = 0;
    for (const std::string& merge : m_definition.merges) {
        const std::size_t space = merge.find(' ');
        if (space == std::string::npos || merge.find(' ', space + 1) != std::string::npos)
            return damaged("merge " + std::to_string(rank) + " is not two parts: \"" + merge
                           + "\"");
        const std::string first = merge.substr(0, space);
        const std::string second = merge.substr(space + 1);
        const auto firstId = m_idOfSpelling.find(first);
        const auto secondId = m_idOfSpelling.find(second);
        const auto mergedId = m_idOfSpelling.find(first + second);
        const auto end = m_idOfSpelling.end();
        if (firstId == end || secondId == end || mergedId == end)
            return damaged("merge " + std::to_string(rank) + " \"" + merge
                           + "\" names or makes a token that is not in the vocabulary");
        m_merges.add(firstId->second, secondId->second, rank++, mergedId->second);
    }
    return {};
}

Result<void> ByteLevelBpe::takeAddedTokens()
{
    std::vector<BpeDefinition::Added> raw;
    std::vector<BpeDefinition::Added> afterNormalizer;
    for (const auto& token : m_definition.added) {
        if (token.id < 0 || token.id > largestId)
            return damaged("the added token \"" + token.content + "\" has the id "
                           + std::to_string(token.id));
        const auto inVocabulary = m_idOfSpelling.find(token.content);
        if (inVocabulary != m_idOfSpelling.end() && inVocabulary->second != token.id)
            return damaged("the added token \"" + token.content + "\" has the id "
                           + std::to_string(token.id) + ", but "
                           + std::to_string(inVocabulary->second) + " in the vocabulary");
        const auto place = static_cast<std::size_t>(token.id);
        if (place >= m_bytes.size()) {
            m_bytes.resize(place + 1);
            m_known.resize(place + 1);
        }
        m_bytes[place] = token.content;
        m_known[place] = true;
        auto& finders = token.normalized ? afterNormalizer : raw;
        finders.push_back(token);
        finders.back().content = token.normalized ? normalised(token.content) : token.content;
    }
    m_rawTokens = AddedTokenFinder(std::move(raw));
    m_normalisedTokens = AddedTokenFinder(std::move(afterNormalizer));
    return {};
}

std::uint64_t ByteLevelBpe::computeDigest() const
{
    // Sums are free of order; a rank, an id or a place is part of what is summed.
    std::uint64_t sum = 0;
    const auto add = [&](std::string_view part, std::uint64_t number, std::string_view text) {
        const std::array<std::uint64_t, 3> words{textDigest(part), number, textDigest(text)};
        sum += numeric::mix64(numeric::wordsDigest(words.data(), words.size()));
    };
    for (std::size_t id = 0; id < m_bytes.size(); ++id)
        if (m_known[id])
            add("token", id, m_bytes[id]);
    for (std::size_t rank = 0; rank < m_definition.merges.size(); ++rank)
        add("merge", rank, m_definition.merges[rank]);
    const auto patterns = effectivePatterns(m_definition);
    for (std::size_t i = 0; i < patterns.size(); ++i)
        add("pattern", i, patterns[i]);
    add("normalizer", 0, m_definition.normalizer);
    add("switches", (m_definition.addPrefixSpace ? 1U : 0U) | (m_definition.ignoreMerges ? 2U : 0U),
        "");
    for (std::size_t i = 0; i < m_definition.prefixIds.size(); ++i)
        add("prefix", i, std::to_string(m_definition.prefixIds[i]));
    for (std::size_t i = 0; i < m_definition.suffixIds.size(); ++i)
        add("suffix", i, std::to_string(m_definition.suffixIds[i]));
    return sum;
}

Result<std::shared_ptr<const Tokenizer>> ByteLevelBpe::make(BpeDefinition definition)
{
    if (!definition.normalizer.empty() && definition.normalizer != "NFC")
        return Error{Errc::Unsupported,
                     "the tokenizer's normalizer " + definition.normalizer + " is not supported",
                     "", "Give ids (--ids)"};
    std::vector<std::string> patterns = effectivePatterns(definition);
    std::vector<std::string> lastStage;
    if (definition.byteLevelRegex) {
        lastStage.push_back(std::move(patterns.back()));
        patterns.pop_back();
    }
    auto split = PreTokenizer::compile(patterns);
    if (!split)
        return split.error();
    auto byteLevel = PreTokenizer::compile(lastStage);
    if (!byteLevel)
        return byteLevel.error();
    const std::shared_ptr<ByteLevelBpe> made(
        new ByteLevelBpe(std::move(definition), std::move(*split), std::move(*byteLevel)));
    if (auto done = made->takeVocabulary(); !done)
        return done.error();
    if (auto done = made->takeMerges(); !done)
        return done.error();
    if (auto done = made->takeAddedTokens(); !done)
        return done.error();
    made->m_digest = made->computeDigest();
    for (const auto* ids : {&made->m_definition.prefixIds, &made->m_definition.suffixIds})
        for (const std::int32_t id : *ids)
            if (!made->knows(id))
                return damaged("the tokenizer adds the id " + std::to_string(id)
                               + " to every text and does not know it");
    made->m_definition.vocabulary = {};
    made->m_definition.merges = {};
    return std::shared_ptr<const Tokenizer>(made);
}

Result<std::vector<std::int32_t>> ByteLevelBpe::encode(std::string_view text) const
{
    const auto bare = encodeBare(text);
    if (!bare)
        return bare.error();
    std::vector<std::int32_t> ids = m_definition.prefixIds;
    ids.insert(ids.end(), bare->begin(), bare->end());
    ids.insert(ids.end(), m_definition.suffixIds.begin(), m_definition.suffixIds.end());
    return ids;
}

Result<std::vector<std::int32_t>> ByteLevelBpe::encodeBare(std::string_view text) const
{
    try {
        const std::string valid = base::validUtf8(text);
        std::vector<std::int32_t> ids;
        for (const auto& part : m_rawTokens.split(valid)) {
            if (part.id != unknown) {
                ids.push_back(part.id);
                continue;
            }
            const std::string normal = normalised(std::string(part.text));
            for (const auto& inner : m_normalisedTokens.split(normal)) {
                if (inner.id != unknown)
                    ids.push_back(inner.id);
                else if (auto done = encodePlain(inner.text, ids); !done)
                    return done.error();
            }
        }
        return ids;
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "not enough memory to tokenize the text", "",
                     "Give a shorter text"};
    }
}

Result<void> ByteLevelBpe::encodePlain(std::string_view text, std::vector<std::int32_t>& ids) const
{
    const auto pieces = m_split.split(text);
    if (!pieces)
        return pieces.error();
    for (const std::string_view piece : *pieces) {
        const bool needsSpace = m_definition.addPrefixSpace && !piece.starts_with(' ');
        const std::string spaced = needsSpace ? ' ' + std::string(piece) : std::string();
        const auto words = m_byteLevel.split(needsSpace ? std::string_view(spaced) : piece);
        if (!words)
            return words.error();
        for (const std::string_view word : *words)
            encodePiece(word, ids);
    }
    return {};
}

void ByteLevelBpe::encodePiece(std::string_view piece, std::vector<std::int32_t>& ids) const
{
    if (const auto whole = m_idOfBytes.find(piece); whole != m_idOfBytes.end()) {
        ids.push_back(whole->second);
        return;
    }
    std::vector<std::int32_t> symbols;
    symbols.reserve(piece.size());
    for (const char byte : piece) {
        const auto id = m_idOfByte[static_cast<std::uint8_t>(byte)];
        const auto stood = id != unknown ? id : m_definition.unknownId;
        if (stood != unknown)
            symbols.push_back(stood);
    }
    m_merges.merge(symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> makeBpe(BpeDefinition definition)
{
    try {
        return ByteLevelBpe::make(std::move(definition));
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "not enough memory for the tokenizer", "", ""};
    }
}

} // namespace moire::capture
