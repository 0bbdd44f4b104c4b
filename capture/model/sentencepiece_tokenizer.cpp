// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/sentencepiece_tokenizer.h"

#include "capture/model/bpe_added_tokens.h"
#include "capture/model/json_text.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/numeric/digest.h"

#include <sentencepiece_processor.h>

#include <utility>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largestFile = std::size_t{1} << 28U; ///< 256 MiB

class SentencePiece final : public Tokenizer
{
public:
    struct Outer
    {
        bool begin = true;
        bool end = false;
    };

    static Result<std::shared_ptr<const Tokenizer>> make(const std::string& bytes, Outer outer,
                                                         const std::string& place)
    {
        const std::shared_ptr<SentencePiece> made(new SentencePiece);
        if (const auto status = made->m_library.LoadFromSerializedProto(bytes); !status.ok())
            return Error{Errc::Damaged, "is not a SentencePiece model", place,
                         "Get the file again from where the model came"};
        made->takeControls(outer);
        made->m_digest =
            numeric::bytesDigest(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())
            ^ numeric::mix64((outer.begin ? 1U : 0U) + (outer.end ? 2U : 0U));
        return std::shared_ptr<const Tokenizer>(made);
    }

    Result<std::vector<std::int32_t>> encode(std::string_view text) const override
    {
        const auto bare = encodeBare(text);
        if (!bare)
            return bare.error();
        std::vector<std::int32_t> ids = m_prefix;
        ids.insert(ids.end(), bare->begin(), bare->end());
        ids.insert(ids.end(), m_suffix.begin(), m_suffix.end());
        return ids;
    }

    Result<std::vector<std::int32_t>> encodeBare(std::string_view text) const override
    {
        const std::string valid = base::validUtf8(text);
        std::vector<std::int32_t> ids;
        for (const auto& part : m_controls.split(valid)) {
            if (part.id >= 0) {
                ids.push_back(part.id);
                continue;
            }
            std::vector<int> found;
            if (const auto status = m_library.Encode({part.text.data(), part.text.size()}, &found);
                !status.ok())
                return Error{Errc::Internal, "the SentencePiece library refuses the text", "",
                             "Give ids (--ids)"};
            ids.insert(ids.end(), found.begin(), found.end());
        }
        return ids;
    }

    std::string bytesOf(std::int32_t id) const override
    {
        if (!knows(id))
            return '<' + std::to_string(id) + '>';
        const std::string& piece = m_library.IdToPiece(id);
        CharacterSpelling spelling;
        spelling.byteTokens = m_library.IsByte(id);
        return m_library.IsControl(id) || m_library.IsUnknown(id)
                   ? piece
                   : bytesOfCharacters(piece, spelling);
    }

    bool knows(std::int32_t id) const override { return id >= 0 && id < m_library.GetPieceSize(); }
    std::uint32_t size() const override
    {
        return static_cast<std::uint32_t>(m_library.GetPieceSize());
    }
    std::uint64_t digest() const override { return m_digest; }

private:
    void takeControls(Outer outer)
    {
        std::vector<BpeDefinition::Added> controls;
        for (std::int32_t id = 0; id < m_library.GetPieceSize(); ++id)
            if (m_library.IsControl(id) || m_library.IsUnknown(id))
                controls.push_back({id, m_library.IdToPiece(id)});
        m_controls = AddedTokenFinder(std::move(controls));
        if (outer.begin && m_library.bos_id() >= 0)
            m_prefix.push_back(m_library.bos_id());
        if (outer.end && m_library.eos_id() >= 0)
            m_suffix.push_back(m_library.eos_id());
    }

    sentencepiece::SentencePieceProcessor m_library;
    AddedTokenFinder m_controls;
    std::vector<std::int32_t> m_prefix, m_suffix;
    std::uint64_t m_digest = 0;
};

Result<SentencePiece::Outer> outerTokens(const fs::path& folder)
{
    constexpr int deepest = 16;
    const fs::path path = folder / "tokenizer_config.json";
    const auto text = base::readSmallFile(path, largestFile);
    if (!text && text.error().code == Errc::NotFound)
        return SentencePiece::Outer{};
    if (!text)
        return text.error();
    const auto config = parseJson(*text, path.string(), deepest);
    if (!config)
        return config.error();
    if (!config->is_object())
        return Error{Errc::Damaged, "is not a JSON object", path.string(), comparePublished};
    JsonFields fields(*config, path.string());
    const SentencePiece::Outer outer{fields.flagOr("add_bos_token", true),
                                     fields.flagOr("add_eos_token", false)};
    if (auto status = fields.status(); !status)
        return status.error();
    return outer;
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> openSentencePiece(const fs::path& folder)
{
    const fs::path path = folder / sentencePieceFile;
    const auto bytes = base::readSmallFile(path, largestFile);
    if (!bytes)
        return bytes.error();
    const auto outer = outerTokens(folder);
    if (!outer)
        return outer.error();
    return SentencePiece::make(*bytes, *outer, path.string());
}

} // namespace moire::capture
