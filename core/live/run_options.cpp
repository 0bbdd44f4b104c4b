// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/run_options.h"

#include "core/base/file.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace moire::live {

namespace {

constexpr std::string_view dashes = "--";
constexpr std::string_view taps = "taps";
constexpr std::array<std::string_view, 3> ofPrompts{"text", "prompts", "ids"};
constexpr std::array<std::string_view, 3> ofFiles{"prompts", "ids", "policy-file"};
/// Whole folders, and captures: the recorder knows how they travel.
constexpr std::array<std::string_view, 2> ofTheRecorder{"task", "replay-from"};

bool isOption(const std::string& word)
{
    return word.starts_with(dashes) && word.size() > dashes.size();
}

/// `taps` is the only option that may be repeated.
void addTaps(const std::string& pattern, wire::RunRequest& request)
{
    auto& value = request.options[std::string(taps)];
    if (auto* patterns = std::get_if<std::vector<std::string>>(&value))
        patterns->push_back(pattern);
    else
        value = std::vector<std::string>{pattern};
}

Result<void> addOption(const std::string& name, const std::optional<std::string>& value,
                       wire::RunRequest& request)
{
    if (std::ranges::find(ofTheRecorder, name) != ofTheRecorder.end())
        return Error{Errc::Invalid,
                     "--" + name + " does not go with a live comparison",
                     {},
                     "Record both runs with moire-capture record, and compare the files"};
    if (!value) {
        request.options[name] = true;
        return {};
    }
    if (std::ranges::find(ofFiles, name) != ofFiles.end())
        return addFile(name, *value, request);
    if (name != taps)
        request.options[name] = *value;
    else if (value->starts_with('@'))
        return addFile(name, value->substr(1), request);
    else
        addTaps(*value, request);
    return {};
}

} // namespace

Result<std::vector<std::string>> wordsIn(const std::string& text)
{
    std::vector<std::string> words;
    std::optional<std::string> word; ///< that is being read
    char quote = '\0';               ///< that is open
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == '\0' && blank) {
            if (word)
                words.push_back(*std::exchange(word, std::nullopt));
            continue;
        }
        if (!word)
            word.emplace();
        if (c == quote)
            quote = '\0';
        else if (quote == '\0' && (c == '\'' || c == '"'))
            quote = c;
        else if (c == '\\' && quote != '\'' && i + 1 < text.size())
            *word += text[++i];
        else
            *word += c;
    }
    if (quote != '\0')
        return Error{Errc::Invalid,
                     "a quote is left open in: " + text,
                     {},
                     "Write options as on the command line: '--tp 2 --batch 4'"};
    if (word)
        words.push_back(*std::move(word));
    return words;
}

Result<void> addFile(const std::string& option, const std::string& path, wire::RunRequest& request)
{
    const auto content = base::readSmallFile(path, wire::maxRequestFrameBytes);
    if (!content)
        return content.error();
    const auto bytes = std::as_bytes(std::span(*content));
    request.options[option] = wire::FilePlace{static_cast<std::uint32_t>(request.files.size())};
    request.files.push_back({std::filesystem::path(path).filename().string(),
                             wire::Frame::of({bytes.begin(), bytes.end()})});
    return {};
}

Result<void> addOptions(const std::string& words, wire::RunRequest& request)
{
    const auto parts = wordsIn(words);
    if (!parts)
        return parts.error();
    const auto saysTaps = [](const std::string& word) { return word.starts_with("--taps"); };
    if (std::any_of(parts->begin(), parts->end(), saysTaps))
        request.options.erase(std::string(taps)); // what was written by hand counts
    for (std::size_t i = 0; i < parts->size(); ++i) {
        const std::string& word = (*parts)[i];
        if (!isOption(word))
            return Error{Errc::Invalid,
                         "'" + word + "' is no option",
                         {},
                         "Write options as on the command line: '--tp 2 --batch 4'"};
        const std::size_t end = word.find('=');
        const std::string name = word.substr(dashes.size(), end - dashes.size());
        std::optional<std::string> value;
        if (end != std::string::npos)
            value = word.substr(end + 1);
        else if (i + 1 < parts->size() && !isOption((*parts)[i + 1]))
            value = (*parts)[++i];
        if (auto added = addOption(name, value, request); !added)
            return added;
    }
    return {};
}

Result<void> checkPrompt(const wire::RunRequest& request)
{
    for (const std::string_view option : ofPrompts)
        if (request.options.contains(std::string(option)))
            return {};
    return Error{Errc::Invalid, "there is no prompt", {}, "Give one with --text or --prompts"};
}

} // namespace moire::live
