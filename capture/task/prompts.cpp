// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/prompts.h"

#include "capture/model/json_text.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace moire::capture {

namespace {

using Json = nlohmann::json;

constexpr std::size_t largestFile = std::size_t{1} << 28U; ///< 256 MiB
constexpr int deepestNesting = 16;
constexpr auto lineForm =
    R"(A line is {"id": …, "text": … or "ids": […], "category"?, "choices"?, "label"?})";
constexpr auto messageForm = R"(A message is {"role": "user", "content": "…"})";

Error invalid(std::string sentence, std::string place, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), std::move(place), std::move(hint)};
}

/// Ids of a JSON list; whether the model has them is the engine's question.
Result<std::vector<std::int32_t>> idsFrom(const Json& list, const std::string& place)
{
    constexpr double beyondIntegers = 0x1p63;
    std::vector<std::int32_t> ids;
    for (const Json& value : list) {
        // The parser gives what is beyond 64 bits as a floating-point number.
        const bool beyond =
            value.is_number_float() && std::abs(value.get<double>()) >= beyondIntegers;
        if (!value.is_number_integer() && !beyond)
            return invalid("a token id is not a whole number", place,
                           "Give ids as in [504, 3575, 282]");
        const auto id = beyond ? -1 : value.get<std::int64_t>();
        const bool tooLarge =
            value.is_number_unsigned()
            && value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int32_t>::max()};
        if (id < 0 || tooLarge)
            return invalid("the token id " + value.dump() + " is outside every vocabulary", place,
                           "Check that the ids belong to this model");
        ids.push_back(static_cast<std::int32_t>(id));
    }
    return ids;
}

Prompt promptOf(trace::Sample sample, std::vector<std::int32_t> ids)
{
    Prompt prompt;
    prompt.sample = std::move(sample);
    prompt.promptLength = static_cast<std::uint32_t>(ids.size());
    prompt.ids = std::move(ids);
    return prompt;
}

/// A string, or a whole number as its digits; labels and ids come as both.
Result<std::string> wordFrom(const Json& value, const char* key, const std::string& place)
{
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_integer())
        return value.dump();
    return invalid(std::string("\"") + key + "\" is neither a text nor a whole number", place,
                   lineForm);
}

Result<trace::Sample> sampleFrom(const Json& line, const std::string& place)
{
    trace::Sample sample;
    for (const auto& [key, field] :
         {std::pair{"id", &sample.id}, {"category", &sample.category}, {"label", &sample.label}}) {
        if (!line.contains(key) || line.at(key).is_null())
            continue;
        auto word = wordFrom(line.at(key), key, place);
        if (!word)
            return word.error();
        *field = *std::move(word);
    }
    if (!line.contains("choices") || line.at("choices").is_null())
        return sample;
    if (!line.at("choices").is_array())
        return invalid("\"choices\" is not a list", place, lineForm);
    for (const Json& choice : line.at("choices")) {
        auto word = wordFrom(choice, "choices", place);
        if (!word)
            return word.error();
        sample.choices.push_back(*std::move(word));
    }
    return sample;
}

Result<std::vector<ChatMessage>> messagesFrom(const Json& list, const std::string& place)
{
    if (!list.is_array() || list.empty())
        return invalid("\"messages\" is not a list of messages", place, messageForm);
    std::vector<ChatMessage> messages;
    for (const Json& entry : list) {
        const auto word = [&](const char* key) {
            return entry.is_object() && entry.contains(key) && entry.at(key).is_string();
        };
        if (!word("role") || !word("content"))
            return invalid("a message has no \"role\" or no \"content\" that is a text", place,
                           messageForm);
        messages.push_back(
            {entry.at("role").get<std::string>(), entry.at("content").get<std::string>()});
    }
    return messages;
}

Result<Prompt> promptFrom(const Json& line, const std::string& place, const TextEncoding& encoding)
{
    if (!line.is_object())
        return invalid("the line is not an object", place, lineForm);
    auto sample = sampleFrom(line, place);
    if (!sample)
        return sample.error();
    const std::size_t given = line.count("text") + line.count("ids") + line.count("messages");
    if (given != 1)
        return invalid(given == 0
                           ? "the line has neither \"text\" nor \"ids\""
                           : "the line has more than one of \"text\", \"ids\" and \"messages\"",
                       place, lineForm);
    if (line.contains("ids")) {
        if (!line.at("ids").is_array())
            return invalid("\"ids\" is not a list", place, lineForm);
        auto ids = idsFrom(line.at("ids"), place);
        if (!ids)
            return ids.error();
        return promptOf(*std::move(sample), *std::move(ids));
    }
    if (line.contains("messages")) {
        if (!encoding.chat)
            return invalid("the line is a conversation", place,
                           "Add --chat, which puts it into the model's chat template");
        const auto messages = messagesFrom(line.at("messages"), place);
        if (!messages)
            return messages.error();
        return promptFromMessages(*std::move(sample), *messages, encoding);
    }
    if (!line.at("text").is_string())
        return invalid("\"text\" is not a text", place, lineForm);
    return promptFromText(*std::move(sample), line.at("text").get<std::string>(), encoding);
}

/// Gives names to those without, refuses a name that is there twice.
Result<void> nameSamples(std::vector<Prompt>& prompts, const std::string& place)
{
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        std::string& id = prompts[i].sample.id;
        if (id.empty())
            id = std::to_string(i);
        if (!names.insert(id).second)
            return invalid("the sample id \"" + id + "\" is there twice", place,
                           "Give every sample its own id (those without are numbered from 0)");
    }
    return {};
}

} // namespace

Result<void> takeChatTemplate(const std::filesystem::path& model, TextEncoding& encoding)
{
    auto found = ChatTemplate::ofModel(model);
    if (!found)
        return found.error();
    encoding.chat = *std::move(found);
    return {};
}

Result<Prompt> promptFromMessages(trace::Sample sample, const std::vector<ChatMessage>& messages,
                                  const TextEncoding& encoding)
{
    if (encoding.tokenizer == nullptr)
        return encoding.whyNoTokenizer;
    auto text = encoding.chat->render(messages);
    if (!text)
        return text.error();
    sample.text = base::validUtf8(*text);
    auto ids = encoding.tokenizer->encodeBare(sample.text);
    if (!ids)
        return ids.error();
    return promptOf(std::move(sample), *std::move(ids));
}

Result<Prompt> promptFromText(trace::Sample sample, std::string_view text,
                              const TextEncoding& encoding)
{
    if (encoding.chat)
        return promptFromMessages(std::move(sample), {{"user", std::string(text)}}, encoding);
    if (encoding.tokenizer == nullptr)
        return encoding.whyNoTokenizer;
    sample.text = base::validUtf8(text);
    auto ids = encoding.tokenizer->encode(text);
    if (!ids)
        return ids.error();
    return promptOf(std::move(sample), *std::move(ids));
}

Result<std::vector<Prompt>> promptsFromText(std::string_view text, const TextEncoding& encoding)
{
    trace::Sample sample;
    sample.id = "0";
    auto prompt = promptFromText(std::move(sample), text, encoding);
    if (!prompt)
        return prompt.error();
    return std::vector<Prompt>{*std::move(prompt)};
}

Result<std::vector<Prompt>> promptsFromFile(const std::filesystem::path& path,
                                            const TextEncoding& encoding)
{
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    std::vector<Prompt> prompts;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        const std::string_view line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        const std::string place = path.string() + ", line " + std::to_string(++number);
        if (line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const auto parsed = parseJson(line, place, deepestNesting);
        if (!parsed)
            return invalid(parsed.error().sentence, place, lineForm);
        auto prompt = promptFrom(*parsed, place, encoding);
        if (!prompt)
            return prompt.error();
        prompts.push_back(*std::move(prompt));
    }
    if (prompts.empty())
        return invalid("the file has no prompt", path.string(), lineForm);
    if (auto named = nameSamples(prompts, path.string()); !named)
        return named.error();
    return prompts;
}

Result<std::vector<Prompt>> promptsFromIds(const std::filesystem::path& path)
{
    const std::string place = path.string();
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    const auto parsed = parseJson(*text, place, deepestNesting);
    constexpr auto form = "Give a list of ids, [504, 3575], or a list of such lists";
    if (!parsed)
        return invalid(parsed.error().sentence, place, form);
    if (!parsed->is_array() || parsed->empty())
        return invalid("is not a list of token ids", place, form);
    const auto isList = [](const Json& value) { return value.is_array(); };
    const bool nested = std::all_of(parsed->begin(), parsed->end(), isList);
    if (!nested && std::any_of(parsed->begin(), parsed->end(), isList))
        return invalid("mixes ids and lists of ids", place, form);
    std::vector<Prompt> prompts;
    for (const Json& list : nested ? *parsed : Json::array({*parsed})) {
        auto ids = idsFrom(list, place);
        if (!ids)
            return ids.error();
        prompts.push_back(promptOf({}, *std::move(ids)));
    }
    if (auto named = nameSamples(prompts, place); !named)
        return named.error();
    return prompts;
}

} // namespace moire::capture
