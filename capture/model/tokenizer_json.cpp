// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/json_text.h"
#include "capture/model/sentencepiece_tokenizer.h"
#include "capture/model/tokenizer.h"
#include "core/base/file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

/// Reader of Hugging Face's tokenizer.json as far as it describes a BPE of bytes, or of characters
/// as SentencePiece's. What is not
/// known here is refused by name, never ignored; "truncation" and "padding" are left out on
/// purpose: a capture runs the text that it was given.
namespace moire::capture {

namespace {

using Json = nlohmann::json;

constexpr std::size_t largestFile = std::size_t{1} << 28U; ///< 256 MiB; the largest known is 33 MB
constexpr std::int64_t largestId = 4'000'000; ///< no known vocabulary has a tenth of it

/// Thrown inside this file only; openTokenizer() turns it into an Error.
struct Refusal
{
    Errc code;
    std::string sentence;
};

[[noreturn]] void unsupported(const std::string& what)
{
    throw Refusal{Errc::Unsupported, "the tokenizer uses " + what + ", which is not supported"};
}

[[noreturn]] void damaged(const std::string& what)
{
    throw Refusal{Errc::Damaged, what};
}

bool isNull(const Json& object, const char* key)
{
    return !object.contains(key) || object.at(key).is_null();
}

std::string typeOf(const Json& object)
{
    return object.at("type").get<std::string>();
}

/// The members of a Sequence, or the object alone; nothing for null.
std::vector<Json> membersOf(const Json& tokenizer, const char* section, const char* list)
{
    std::vector<Json> members;
    if (isNull(tokenizer, section))
        return members;
    const Json& object = tokenizer.at(section);
    if (typeOf(object) != "Sequence")
        return {object};
    for (const Json& member : object.at(list)) {
        if (typeOf(member) == "Sequence")
            unsupported(std::string("a Sequence inside a Sequence (") + section + ")");
        members.push_back(member);
    }
    return members;
}

std::int32_t idFrom(const Json& value)
{
    const auto id = value.get<std::int64_t>();
    if (id < 0 || id > largestId)
        damaged("the token id " + std::to_string(id) + " is out of bounds");
    return static_cast<std::int32_t>(id);
}

void readVocabulary(const Json& model, BpeDefinition& definition)
{
    const auto& vocabulary = model.at("vocab").get_ref<const Json::object_t&>();
    std::int32_t largest = -1;
    for (const auto& [spelling, id] : vocabulary)
        largest = std::max(largest, idFrom(id));
    definition.vocabulary.resize(static_cast<std::size_t>(largest) + 1);
    for (const auto& [spelling, id] : vocabulary) {
        std::string& place = definition.vocabulary[static_cast<std::size_t>(idFrom(id))];
        if (!place.empty())
            damaged("the tokens \"" + place + "\" and \"" + spelling + "\" have one id");
        place = spelling;
    }
    if (isNull(model, "unk_token"))
        return;
    const auto found = vocabulary.find(model.at("unk_token").get<std::string>());
    if (found == vocabulary.end())
        damaged("the unknown token is not in the vocabulary");
    definition.unknownId = idFrom(found->second);
}

void readModel(const Json& model, BpeDefinition& definition)
{
    if (!isNull(model, "dropout") && model.at("dropout").get<double>() != 0)
        unsupported("BPE dropout");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!isNull(model, key) && !model.at(key).get<std::string>().empty())
            unsupported(key);
    if (definition.characters) {
        definition.characters->byteTokens = model.value("byte_fallback", false);
        definition.characters->fuseUnknown = model.value("fuse_unk", false);
    } else if (model.value("byte_fallback", false)) {
        unsupported("byte_fallback with byte-level tokens");
    } else if (model.value("fuse_unk", false) && !isNull(model, "unk_token")) {
        unsupported("fuse_unk with byte-level tokens");
    }
    definition.ignoreMerges = model.value("ignore_merges", false);
    readVocabulary(model, definition);
    for (const Json& merge : model.at("merges")) {
        if (merge.is_string()) {
            definition.merges.push_back(merge.get<std::string>());
            continue;
        }
        const auto parts = merge.get<std::vector<std::string>>();
        if (parts.size() != 2)
            damaged("a merge has " + std::to_string(parts.size()) + " parts");
        definition.merges.push_back(parts[0] + ' ' + parts[1]);
    }
}

void readAddedTokens(const Json& tokens, BpeDefinition& definition)
{
    for (const Json& token : tokens) {
        BpeDefinition::Added added;
        added.id = idFrom(token.at("id"));
        added.content = token.at("content").get<std::string>();
        added.special = token.value("special", false);
        added.singleWord = token.value("single_word", false);
        added.leftStrip = token.value("lstrip", false);
        added.rightStrip = token.value("rstrip", false);
        added.normalized = token.value("normalized", !added.special);
        definition.added.push_back(std::move(added));
    }
}

void readNormalizer(const Json& tokenizer, BpeDefinition& definition)
{
    for (const Json& member : membersOf(tokenizer, "normalizer", "normalizers")) {
        const std::string type = typeOf(member);
        if (type == "NFC" && !definition.characters)
            definition.normalizer = type;
        else if (type == "Prepend" && member.at("prepend") == spaceMark && !definition.characters)
            definition.characters = CharacterSpelling{CharacterSpelling::Mark::Every, true, true};
        else if (type == "Replace" && member.at("content") == spaceMark
                 && member.at("pattern").value("String", std::string()) == " ")
            definition.characters = definition.characters.value_or(
                CharacterSpelling{CharacterSpelling::Mark::Never, false, true});
        else
            unsupported("the normalizer " + type);
    }
}

/// Spaces as marks, and where the words are cut.
void readMetaspace(const Json& member, BpeDefinition& definition)
{
    using Mark = CharacterSpelling::Mark;
    if (definition.characters)
        unsupported("the pre-tokenizer Metaspace after a normalizer of spaces");
    if (member.value("replacement", std::string(spaceMark)) != spaceMark)
        unsupported("the pre-tokenizer Metaspace with another mark");
    // Early versions have a switch in place of the scheme.
    const bool early = isNull(member, "prepend_scheme");
    const std::string scheme = early ? member.value("add_prefix_space", true) ? "always" : "never"
                                     : member.at("prepend_scheme").get<std::string>();
    CharacterSpelling spelling;
    if (scheme == "always")
        spelling.mark = Mark::Every;
    else if (scheme == "first")
        spelling.mark = Mark::First;
    else if (scheme != "never")
        unsupported("the pre-tokenizer Metaspace (" + scheme + ")");
    spelling.splitWords = isNull(member, "split") || member.at("split").get<bool>();
    definition.characters = spelling;
}

/// A literal as a pattern that matches just it.
std::string escaped(const std::string& literal)
{
    std::string pattern;
    for (const char c : literal) {
        if (std::string_view(R"(\^$.[]|()?*+{}#-&~)").find(c) != std::string_view::npos)
            pattern.push_back('\\');
        pattern.push_back(c);
    }
    return pattern;
}

void readPreTokenizer(const Json& tokenizer, BpeDefinition& definition)
{
    bool byteLevelSeen = false;
    definition.byteLevelRegex = false;
    for (const Json& member : membersOf(tokenizer, "pre_tokenizer", "pretokenizers")) {
        const std::string type = typeOf(member);
        if (byteLevelSeen)
            unsupported("the pre-tokenizer " + type + " after ByteLevel");
        if (definition.characters && type != "Metaspace")
            unsupported("the pre-tokenizer " + type + " with spaces as marks");
        if (type == "ByteLevel") {
            byteLevelSeen = true;
            definition.addPrefixSpace = member.value("add_prefix_space", true);
            definition.byteLevelRegex = member.value("use_regex", true);
        } else if (type == "Metaspace") {
            if (!definition.splitPatterns.empty())
                unsupported("the pre-tokenizer Metaspace after another");
            readMetaspace(member, definition);
        } else if (type == "Digits") {
            definition.splitPatterns.emplace_back(
                member.value("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)");
        } else if (type == "Split") {
            const auto behavior = member.at("behavior").get<std::string>();
            if (behavior != "Isolated" || member.value("invert", false))
                unsupported("the pre-tokenizer Split (" + behavior
                            + (member.value("invert", false) ? ", inverted)" : ")"));
            const Json& pattern = member.at("pattern");
            definition.splitPatterns.push_back(pattern.contains("Regex")
                                                   ? pattern.at("Regex").get<std::string>()
                                                   : escaped(pattern.at("String")));
        } else {
            unsupported("the pre-tokenizer " + type);
        }
    }
    if (!byteLevelSeen && !definition.characters)
        unsupported("neither ByteLevel nor Metaspace as its pre-tokenizer");
    definition.name = "tokenizer.json";
}

void readTemplate(const Json& member, BpeDefinition& definition)
{
    bool textSeen = false;
    for (const Json& part : member.at("single")) {
        if (part.contains("Sequence")) {
            if (std::exchange(textSeen, true))
                unsupported("a template that repeats the text");
            continue;
        }
        const auto name = part.at("SpecialToken").at("id").get<std::string>();
        for (const Json& id : member.at("special_tokens").at(name).at("ids"))
            (textSeen ? definition.suffixIds : definition.prefixIds).push_back(idFrom(id));
    }
    if (!textSeen)
        unsupported("a template without the text");
}

void readPostProcessor(const Json& tokenizer, BpeDefinition& definition)
{
    bool templateSeen = false;
    for (const Json& member : membersOf(tokenizer, "post_processor", "processors")) {
        const std::string type = typeOf(member);
        if (type == "TemplateProcessing") {
            if (std::exchange(templateSeen, true))
                unsupported("two templates");
            readTemplate(member, definition);
        } else if (type != "ByteLevel") { // which moves offsets only
            unsupported("the post-processor " + type);
        }
    }
}

void checkDecoder(const Json& tokenizer, bool characters)
{
    constexpr std::array<std::string_view, 5> ofCharacters{"Replace", "ByteFallback", "Fuse",
                                                           "Strip", "Metaspace"};
    for (const Json& member : membersOf(tokenizer, "decoder", "decoders")) {
        const std::string type = typeOf(member);
        const bool known = characters ? std::find(ofCharacters.begin(), ofCharacters.end(), type)
                                            != ofCharacters.end()
                                      : type == "ByteLevel";
        if (!known)
            unsupported("the decoder " + type);
    }
}

BpeDefinition definitionFrom(const Json& tokenizer)
{
    BpeDefinition definition;
    const Json& model = tokenizer.at("model");
    // Files of early versions leave the type out.
    if (model.contains("type") && typeOf(model) != "BPE")
        unsupported("the model " + typeOf(model));
    readNormalizer(tokenizer, definition);
    readPreTokenizer(tokenizer, definition);
    readPostProcessor(tokenizer, definition);
    checkDecoder(tokenizer, definition.characters.has_value());
    readModel(model, definition);
    if (!isNull(tokenizer, "added_tokens"))
        readAddedTokens(tokenizer.at("added_tokens"), definition);
    return definition;
}

Result<BpeDefinition> parse(const std::string& text, const std::string& place)
{
    constexpr auto hint = "Give the ids of the text instead (--ids)";
    constexpr int deepest = 16; ///< levels; sound files have 6
    try {
        const auto tokenizer = parseJson(text, place, deepest);
        if (!tokenizer)
            return tokenizer.error();
        return definitionFrom(*tokenizer);
    } catch (const Refusal& refusal) {
        return Error{refusal.code, refusal.sentence, place, hint};
    } catch (const Json::exception& problem) {
        // The library's words, without the class and number before them: "key 'model' not found".
        const std::string_view words = problem.what();
        return Error{Errc::Damaged,
                     "is not a tokenizer description: "
                         + std::string(words.substr(words.find("] ") + 2)),
                     place, "Get the file again from where the model came"};
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "not enough memory for the tokenizer", place, hint};
    }
}

/// The tokenizer, or why there is none, with the file's name.
Result<std::shared_ptr<const Tokenizer>> built(Result<BpeDefinition> definition,
                                               const std::filesystem::path& path)
{
    auto tokenizer = definition ? makeBpe(std::move(*definition)) : definition.error();
    if (tokenizer)
        return tokenizer;
    Error error = tokenizer.error();
    if (error.place.empty())
        error.place = path.string();
    return error;
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> openTokenizer(const std::filesystem::path& folder)
{
    const std::filesystem::path path = folder / "tokenizer.json";
    const auto text = base::readSmallFile(path, largestFile);
    if (!text) {
        Error error = text.error();
        if (error.code != Errc::NotFound)
            return error;
        std::error_code ignored;
        if (std::filesystem::exists(folder / sentencePieceFile, ignored))
            return built(bpeFromSentencePiece(folder), folder / sentencePieceFile);
        error.sentence = "the model folder has no tokenizer.json and no tokenizer.model";
        error.hint = "Put the model's tokenizer.json there, or give ids (--ids)";
        return error;
    }
    return built(parse(*text, path.string()), path);
}

} // namespace moire::capture
