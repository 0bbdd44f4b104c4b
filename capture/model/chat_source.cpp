// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/chat_source.h"

#include "capture/model/gguf_file.h"
#include "capture/model/json_text.h"
#include "core/base/file.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t largestFile = std::size_t{1} << 26U; ///< added tokens make it long
constexpr int deepestNesting = 16;
constexpr std::array tokenNames{"bos_token", "eos_token", "unk_token", "sep_token",
                                "pad_token", "cls_token", "mask_token"};

Error withoutTemplate(const fs::path& model)
{
    return {Errc::NotFound, "the model has no chat template", model.string(),
            "Leave --chat out and write the prompt in the form that the model expects"};
}

/// A JSON object, empty where the file is not there.
Result<Json> objectIn(const fs::path& path)
{
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return Json::object();
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    auto parsed = parseJson(*text, path.string(), deepestNesting);
    if (parsed && !parsed->is_object())
        return Error{Errc::Damaged, "is not a JSON object", path.string(), comparePublished};
    return parsed;
}

/// "chat_template": a text, or a list of {"name", "template"}.
std::optional<std::string> templateIn(const Json& config)
{
    const auto found = config.find("chat_template");
    if (found == config.end())
        return std::nullopt;
    if (found->is_string())
        return found->get<std::string>();
    if (!found->is_array())
        return std::nullopt;
    for (const Json& entry : *found)
        if (entry.is_object() && entry.value("name", Json()) == "default"
            && entry.value("template", Json()).is_string())
            return entry.at("template").get<std::string>();
    return std::nullopt;
}

/// Special tokens stand as texts or as {"content": text}; what is there already stays.
void addTokens(const Json& config, std::map<std::string, std::string>& tokens)
{
    for (const char* name : tokenNames) {
        const auto found = config.find(name);
        if (found == config.end())
            continue;
        const Json content = found->is_object() ? found->value("content", Json()) : *found;
        if (content.is_string())
            tokens.emplace(name, content.get<std::string>());
    }
}

Result<ChatSource> inFolder(const fs::path& folder)
{
    ChatSource source;
    const fs::path configPath = folder / "tokenizer_config.json";
    const auto config = objectIn(configPath);
    if (!config)
        return config.error();
    const auto map = objectIn(folder / "special_tokens_map.json");
    if (!map)
        return map.error();
    addTokens(*config, source.tokens);
    addTokens(*map, source.tokens);
    const fs::path own = folder / "chat_template.jinja";
    std::error_code ignored;
    if (fs::exists(own, ignored)) {
        auto text = base::readSmallFile(own, largestFile);
        if (!text)
            return text.error();
        source.text = *std::move(text);
        source.place = own.string();
        return source;
    }
    auto text = templateIn(*config);
    if (!text)
        return withoutTemplate(folder);
    source.text = *std::move(text);
    source.place = configPath.string();
    return source;
}

Result<ChatSource> inGguf(const fs::path& path)
{
    const auto file = GgufFile::open(path);
    if (!file)
        return file.error();
    const GgufValue* text = file->find("tokenizer.chat_template");
    if (text == nullptr || !textOf(*text))
        return withoutTemplate(path);
    ChatSource source{std::string(*textOf(*text)), file->place(), {}};
    const GgufValue* list = file->find("tokenizer.ggml.tokens");
    const auto vocabulary = list == nullptr ? std::nullopt : textsOf(*list);
    constexpr std::array<std::pair<const char*, const char*>, 7> ids{
        {{"bos_token", "bos_token_id"},
         {"eos_token", "eos_token_id"},
         {"unk_token", "unknown_token_id"},
         {"sep_token", "seperator_token_id"}, // so spelled in the format
         {"pad_token", "padding_token_id"},
         {"cls_token", "cls_token_id"},
         {"mask_token", "mask_token_id"}}};
    for (const auto& [name, key] : ids) {
        const GgufValue* value = file->find(std::string("tokenizer.ggml.") + key);
        const auto id = value == nullptr ? std::nullopt : unsignedOf(*value);
        if (id && vocabulary && *id < vocabulary->size())
            source.tokens.emplace(name, (*vocabulary)[*id]);
    }
    return source;
}

} // namespace

Result<ChatSource> findChatSource(const fs::path& model)
{
    std::error_code ignored;
    return fs::is_directory(model, ignored) ? inFolder(model) : inGguf(model);
}

} // namespace moire::capture
