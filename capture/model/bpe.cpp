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
#include <cmath>
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

class Bpe : public Tokenizer
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
    Bpe(BpeDefinition definition, PreTokenizer split, PreTokenizer byteLevel)
        : m_definition(std::move(definition))
        , m_split(std::move(split))
        , m_byteLevel(std::move(byteLevel))
    {}
    Result<void> takeVocabulary();
    Result<void> takeMerges();
    Result<void> takeScores();
    void addSplits(std::string_view spelling, std::int32_t id, std::uint32_t rank);
    Result<void> takeAddedTokens();
    std::uint64_t computeDigest() const;
    std::string normalised(const std::string& text) const;

    Result<void> encodePlain(std::string_view text, bool first,
                             std::vector<std::int32_t>& ids) const;
    void encodePiece(std::string_view piece, std::vector<std::int32_t>& ids) const;
    std::vector<std::int32_t> bytesOfPiece(std::string_view piece) const;
    std::vector<std::int32_t> charactersOfPiece(std::string_view piece) const;

    BpeDefinition m_definition;       ///< vocabulary and merges are given up once taken
    PreTokenizer m_split;             ///< all patterns but the last stage's
    PreTokenizer m_byteLevel;         ///< the GPT-2 pattern, or none
    std::vector<std::string> m_bytes; ///< by id
    std::vector<bool> m_known;        ///< by id
    IdByText m_idOfSpelling;          ///< of the vocabulary, not of added tokens
    IdByText m_idOfBytes;             ///< whole pieces, with ignoreMerges only
    /// Tokens of single bytes; with CharacterSpelling those like "<0x0A>".
    std::array<std::int32_t, byteCount> m_idOfByte{};
    BpeMerges m_merges;
    AddedTokenFinder m_rawTokens;        ///< found before the normalizer
    AddedTokenFinder m_normalisedTokens; ///< found after it
    std::uint64_t m_digest = 0;
};

std::string Bpe::normalised(const std::string& text) const
{
    const auto& characters = m_definition.characters;
    const std::string normal = m_definition.normalizer.empty() ? text : normalFormC(text);
    return characters && characters->inNormalizer ? marked(normal, *characters, true) : normal;
}

std::string Bpe::bytesOf(std::int32_t id) const
{
    if (knows(id))
        return m_bytes[static_cast<std::size_t>(id)];
    std::string shown(1, '<');
    return shown.append(std::to_string(id)).append(1, '>');
}

Result<void> Bpe::takeVocabulary()
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
        const auto& characters = m_definition.characters;
        const auto bytes = characters ? std::optional(bytesOfCharacters(spelling, *characters))
                                      : bytesFromSpelling(spelling);
        m_bytes[i] = bytes.value_or(spelling);
        m_known[i] = true;
        if (!bytes)
            continue;
        const bool byteToken = !characters || isByteToken(spelling);
        if (bytes->size() == 1 && byteToken)
            m_idOfByte[static_cast<std::uint8_t>(bytes->front())] = id;
        if (m_definition.ignoreMerges)
            m_idOfBytes.emplace(characters ? spelling : *bytes, id);
    }
    if (m_idOfSpelling.empty())
        return damaged("the vocabulary is empty");
    return {};
}

Result<void> Bpe::takeMerges()
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

Result<void> Bpe::takeScores()
{
    const std::vector<float>& scores = m_definition.scores;
    if (scores.empty())
        return {};
    if (scores.size() != m_definition.vocabulary.size())
        return damaged("there are not as many scores as tokens");
    std::vector<std::int32_t> order;
    for (const auto& [spelling, id] : m_idOfSpelling)
        order.push_back(id);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        const float first = scores[static_cast<std::size_t>(a)];
        const float second = scores[static_cast<std::size_t>(b)];
        return first != second ? first > second : a < b;
    });
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto place = static_cast<std::size_t>(order[i]);
        if (std::isnan(scores[place]))
            return damaged("the score of the token " + std::to_string(order[i]) + " is no number");
        if (i > 0 && scores[place] != scores[static_cast<std::size_t>(order[i - 1])])
            rank = static_cast<std::uint32_t>(i);
        addSplits(m_definition.vocabulary[place], order[i], rank);
    }
    return {};
}

/// Every way to put a token together of two others.
void Bpe::addSplits(std::string_view spelling, std::int32_t id, std::uint32_t rank)
{
    if (isByteToken(spelling))
        return;
    for (std::size_t cut = 1; cut < spelling.size(); ++cut) {
        const auto first = m_idOfSpelling.find(spelling.substr(0, cut));
        const auto second = m_idOfSpelling.find(spelling.substr(cut));
        if (first != m_idOfSpelling.end() && second != m_idOfSpelling.end())
            m_merges.add(first->second, second->second, rank, id);
    }
}

Result<void> Bpe::takeAddedTokens()
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

std::uint64_t Bpe::computeDigest() const
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
    for (std::size_t id = 0; id < m_definition.scores.size(); ++id)
        add("score", id, std::to_string(m_definition.scores[id]));
    if (const auto& c = m_definition.characters)
        add("characters", switchesOf(*c), "");
    for (std::size_t i = 0; i < m_definition.prefixIds.size(); ++i)
        add("prefix", i, std::to_string(m_definition.prefixIds[i]));
    for (std::size_t i = 0; i < m_definition.suffixIds.size(); ++i)
        add("suffix", i, std::to_string(m_definition.suffixIds[i]));
    return sum;
}

Result<std::shared_ptr<const Tokenizer>> Bpe::make(BpeDefinition definition)
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
    const std::shared_ptr<Bpe> made(
        new Bpe(std::move(definition), std::move(*split), std::move(*byteLevel)));
    if (auto done = made->takeVocabulary(); !done)
        return done.error();
    if (auto done = made->takeMerges(); !done)
        return done.error();
    if (auto done = made->takeScores(); !done)
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
    made->m_definition.scores = {};
    return std::shared_ptr<const Tokenizer>(made);
}

Result<std::vector<std::int32_t>> Bpe::encode(std::string_view text) const
{
    const auto bare = encodeBare(text);
    if (!bare)
        return bare.error();
    std::vector<std::int32_t> ids = m_definition.prefixIds;
    ids.insert(ids.end(), bare->begin(), bare->end());
    ids.insert(ids.end(), m_definition.suffixIds.begin(), m_definition.suffixIds.end());
    return ids;
}

Result<std::vector<std::int32_t>> Bpe::encodeBare(std::string_view text) const
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
                const bool first =
                    part.text.data() == valid.data() && inner.text.data() == normal.data();
                if (inner.id != unknown)
                    ids.push_back(inner.id);
                else if (auto done = encodePlain(inner.text, first, ids); !done)
                    return done.error();
            }
        }
        return ids;
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "not enough memory to tokenize the text", "",
                     "Give a shorter text"};
    }
}

Result<void> Bpe::encodePlain(std::string_view text, bool first,
                              std::vector<std::int32_t>& ids) const
{
    if (m_definition.characters) {
        const CharacterSpelling& spelling = *m_definition.characters;
        const std::string own =
            spelling.inNormalizer ? std::string(text) : marked(text, spelling, first);
        for (std::string_view rest = own; !rest.empty();)
            encodePiece(takePiece(rest, spelling), ids);
        return {};
    }
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

void Bpe::encodePiece(std::string_view piece, std::vector<std::int32_t>& ids) const
{
    if (const auto whole = m_idOfBytes.find(piece); whole != m_idOfBytes.end()) {
        ids.push_back(whole->second);
        return;
    }
    std::vector<std::int32_t> symbols =
        m_definition.characters ? charactersOfPiece(piece) : bytesOfPiece(piece);
    m_merges.merge(symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
}

std::vector<std::int32_t> Bpe::bytesOfPiece(std::string_view piece) const
{
    std::vector<std::int32_t> symbols;
    symbols.reserve(piece.size());
    for (const char byte : piece) {
        const auto id = m_idOfByte[static_cast<std::uint8_t>(byte)];
        const auto stood = id != unknown ? id : m_definition.unknownId;
        if (stood != unknown)
            symbols.push_back(stood);
    }
    return symbols;
}

/// A character without a token is the tokens of its bytes where all of them are there, else the
/// unknown token.
std::vector<std::int32_t> Bpe::charactersOfPiece(std::string_view piece) const
{
    std::vector<std::int32_t> symbols;
    bool afterUnknown = false;
    while (!piece.empty()) {
        const std::string_view character = piece.substr(0, firstCharacterLength(piece));
        piece.remove_prefix(character.size());
        const auto found = m_idOfSpelling.find(character);
        const bool byBytes = found == m_idOfSpelling.end() && m_definition.characters->byteTokens
                             && std::all_of(character.begin(), character.end(), [&](char byte) {
                                    return m_idOfByte[static_cast<std::uint8_t>(byte)] != unknown;
                                });
        const bool isUnknown = found == m_idOfSpelling.end() && !byBytes;
        if (byBytes)
            for (const char byte : character)
                symbols.push_back(m_idOfByte[static_cast<std::uint8_t>(byte)]);
        else if (!isUnknown)
            symbols.push_back(found->second);
        else if (m_definition.unknownId != unknown
                 && !(afterUnknown && m_definition.characters->fuseUnknown))
            symbols.push_back(m_definition.unknownId);
        afterUnknown = isUnknown;
    }
    return symbols;
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> makeBpe(BpeDefinition definition)
{
    try {
        return Bpe::make(std::move(definition));
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "not enough memory for the tokenizer", "", ""};
    }
}

} // namespace moire::capture
