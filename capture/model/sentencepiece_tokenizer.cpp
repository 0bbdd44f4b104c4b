// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/sentencepiece_tokenizer.h"

#include "capture/model/byte_reader.h"
#include "capture/model/json_text.h"
#include "core/base/file.h"

#include <bit>
#include <optional>
#include <span>
#include <utility>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largestFile = std::size_t{1} << 28U; ///< 256 MiB

/// A field of a protobuf message as it lies in the file.
struct Field
{
    std::uint64_t number = 0;
    std::uint64_t value = 0;          ///< of an integer; the bits of a float
    std::span<const std::byte> bytes; ///< of a string or a message
};

bool readVarint(ByteReader& reader, std::uint64_t& value)
{
    constexpr unsigned bitsPerByte = 7;
    constexpr unsigned longest = 63;
    value = 0;
    for (unsigned shift = 0; shift <= longest; shift += bitsPerByte) {
        std::uint8_t byte = 0;
        if (!reader.read(byte))
            return false;
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/// The next field of a message (protobuf's wire format); false where the bytes are not one.
bool readField(ByteReader& reader, Field& field)
{
    enum Wire : std::uint64_t
    {
        Varint = 0,
        Fixed64 = 1,
        Bytes = 2,
        Fixed32 = 5,
    };
    std::uint64_t tag = 0;
    if (!readVarint(reader, tag))
        return false;
    field = {tag >> 3U, 0, {}};
    std::uint32_t word = 0;
    switch (tag & 7U) {
    case Varint:
        return readVarint(reader, field.value);
    case Fixed64:
        return reader.read(field.value);
    case Fixed32:
        if (!reader.read(word))
            return false;
        field.value = word;
        return true;
    case Bytes: {
        std::uint64_t size = 0;
        if (!readVarint(reader, size))
            return false;
        const std::uint64_t begin = reader.position();
        if (!reader.skip(size))
            return false;
        field.bytes = reader.since(begin);
        return true;
    }
    default:
        return false;
    }
}

/// Calls `take` with every field; false where the bytes are not a message or it says so.
template <class Take>
bool eachField(std::span<const std::byte> bytes, Take take)
{
    ByteReader reader(bytes);
    Field field;
    while (reader.left() > 0)
        if (!readField(reader, field) || !take(field))
            return false;
    return true;
}

/// What counts of a ModelProto (sentencepiece_model.proto), with the defaults there.
struct Model
{
    std::vector<std::string> pieces;
    std::vector<float> scores;
    std::vector<std::int64_t> types;
    std::uint64_t kind = 1; ///< 1 unigram, 2 BPE, 3 words, 4 characters
    bool byteFallback = false;
    bool spaceAsSuffix = false;
    std::int64_t unknown = 0;
    std::int64_t begin = 1;
    std::int64_t end = 2;
    bool charactersMapped = false;
    bool dummyPrefix = true;
    bool removeExtraSpaces = true;
    bool escapeSpaces = true;
};

bool readPiece(std::span<const std::byte> bytes, Model& model)
{
    std::string piece;
    float score = 0;
    std::int64_t type = NormalPiece;
    const bool sound = eachField(bytes, [&](const Field& field) {
        if (field.number == 1)
            piece.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
        else if (field.number == 2)
            score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        else if (field.number == 3)
            type = static_cast<std::int64_t>(field.value);
        return true;
    });
    model.pieces.push_back(std::move(piece));
    model.scores.push_back(score);
    model.types.push_back(type);
    return sound;
}

/// TrainerSpec: how the model came to be, with what is needed to run it among it.
bool readTraining(std::span<const std::byte> bytes, Model& model)
{
    return eachField(bytes, [&](const Field& field) {
        switch (field.number) {
        case 3:
            model.kind = field.value;
            break;
        case 24:
            model.spaceAsSuffix = field.value != 0;
            break;
        case 35:
            model.byteFallback = field.value != 0;
            break;
        case 40:
            model.unknown = static_cast<std::int32_t>(field.value);
            break;
        case 41:
            model.begin = static_cast<std::int32_t>(field.value);
            break;
        case 42:
            model.end = static_cast<std::int32_t>(field.value);
            break;
        default:
            break;
        }
        return true;
    });
}

bool readNormalizer(std::span<const std::byte> bytes, Model& model)
{
    return eachField(bytes, [&](const Field& field) {
        if (field.number == 2)
            model.charactersMapped = !field.bytes.empty();
        else if (field.number == 3)
            model.dummyPrefix = field.value != 0;
        else if (field.number == 4)
            model.removeExtraSpaces = field.value != 0;
        else if (field.number == 5)
            model.escapeSpaces = field.value != 0;
        return true;
    });
}

std::optional<Model> modelFrom(std::string_view text)
{
    Model model;
    const bool sound = eachField(std::as_bytes(std::span(text)), [&](const Field& field) {
        return field.number == 1   ? readPiece(field.bytes, model)
               : field.number == 2 ? readTraining(field.bytes, model)
               : field.number == 3 ? readNormalizer(field.bytes, model)
                                   : true;
    });
    return sound && !model.pieces.empty() ? std::optional(std::move(model)) : std::nullopt;
}

/// What the model uses and we do not; "" for nothing.
std::string unsupportedPart(const Model& model)
{
    constexpr std::uint64_t bytePairs = 2;
    if (model.kind != bytePairs)
        return model.kind == 1 ? "unigram pieces" : "a kind of pieces other than BPE";
    if (model.charactersMapped)
        return "a table that maps characters (a normalization other than identity)";
    if (model.removeExtraSpaces)
        return "the removal of extra spaces";
    if (!model.escapeSpaces || model.spaceAsSuffix)
        return "spaces in another way";
    return {};
}

/// The token put around every text; nothing when the model has none.
void addOuter(std::vector<std::int32_t>& ids, bool wanted, std::int64_t id, const Model& model)
{
    if (wanted && id >= 0 && static_cast<std::size_t>(id) < model.pieces.size())
        ids.push_back(static_cast<std::int32_t>(id));
}

Result<void> readOuterTokens(const fs::path& folder, const Model& model, BpeDefinition& definition)
{
    constexpr int deepest = 16;
    const fs::path path = folder / "tokenizer_config.json";
    const auto text = base::readSmallFile(path, largestFile);
    if (!text && text.error().code != Errc::NotFound)
        return text.error();
    const auto config = parseJson(text ? *text : "{}", path.string(), deepest);
    if (!config)
        return config.error();
    if (!config->is_object())
        return Error{Errc::Damaged, "is not a JSON object", path.string(), comparePublished};
    JsonFields fields(*config, path.string());
    addOuter(definition.prefixIds, fields.flagOr("add_bos_token", true), model.begin, model);
    addOuter(definition.suffixIds, fields.flagOr("add_eos_token", false), model.end, model);
    return fields.status();
}

} // namespace

void applyPieceTypes(BpeDefinition& definition, const std::vector<std::int64_t>& types)
{
    for (std::size_t id = 0; id < types.size(); ++id) {
        if (types[id] == UnusedPiece) {
            definition.vocabulary[id].clear();
            continue;
        }
        const bool special = types[id] == ControlPiece || types[id] == UnknownPiece;
        if (!special && types[id] != UserDefinedPiece)
            continue;
        BpeDefinition::Added added;
        added.id = static_cast<std::int32_t>(id);
        added.content = definition.vocabulary[id];
        added.special = special;
        definition.added.push_back(std::move(added));
        if (special && definition.characters) // no merge makes it
            definition.vocabulary[id].clear();
    }
}

Result<BpeDefinition> bpeFromSentencePiece(const fs::path& folder)
{
    const fs::path path = folder / sentencePieceFile;
    const auto bytes = base::readSmallFile(path, largestFile);
    if (!bytes)
        return bytes.error();
    auto model = modelFrom(*bytes);
    if (!model)
        return Error{Errc::Damaged, "is not a SentencePiece model", path.string(),
                     "Get the file again from where the model came"};
    if (const std::string part = unsupportedPart(*model); !part.empty())
        return Error{Errc::Unsupported, "the tokenizer uses " + part + ", which is not supported",
                     path.string(),
                     "Give ids (--ids), or put the model's tokenizer.json beside it"};
    BpeDefinition definition;
    CharacterSpelling spelling;
    spelling.mark =
        model->dummyPrefix ? CharacterSpelling::Mark::Every : CharacterSpelling::Mark::Never;
    spelling.markBeforeMark = true;
    spelling.byteTokens = model->byteFallback;
    spelling.fuseUnknown = true;
    definition.characters = spelling;
    definition.byteLevelRegex = false;
    definition.name = sentencePieceFile;
    if (model->unknown >= 0 && static_cast<std::size_t>(model->unknown) < model->pieces.size())
        definition.unknownId = static_cast<std::int32_t>(model->unknown);
    if (auto read = readOuterTokens(folder, *model, definition); !read)
        return read.error();
    definition.vocabulary = std::move(model->pieces);
    definition.scores = std::move(model->scores);
    applyPieceTypes(definition, model->types);
    return definition;
}

} // namespace moire::capture
