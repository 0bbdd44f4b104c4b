// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/commands.h"
#include "app/capture/policy_file.h"
#include "capture/task/prompts.h"
#include "core/base/file.h"

#include <algorithm>

namespace moire::app {

namespace {

/// A folder needs only its tokenizer for this, not a whole model.
Result<std::shared_ptr<const capture::Tokenizer>> tokenizerOf(const std::string& model)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(model, ignored))
        return capture::openTokenizer(model);
    const auto checkpoint = capture::openCheckpoint(model);
    if (!checkpoint)
        return checkpoint.error();
    if (!checkpoint->tokenizer)
        return checkpoint->tokenizerError;
    return checkpoint->tokenizer;
}

} // namespace

std::string tapLines(const std::vector<trace::Tap>& taps)
{
    constexpr std::size_t dtypeColumn = 8;
    constexpr std::size_t widthColumn = 9;
    std::size_t nameColumn = 0;
    for (const trace::Tap& tap : taps)
        nameColumn = std::max(nameColumn, tap.name.size() + 2);
    std::string lines;
    const auto cell = [&](std::string_view text, std::size_t column) {
        lines += text;
        lines.append(column - std::min(column, text.size()), ' ');
    };
    for (const trace::Tap& tap : taps) {
        cell(tap.name, nameColumn);
        cell(numeric::nameOf(tap.dtype), dtypeColumn);
        cell(std::to_string(tap.width), widthColumn);
        lines += trace::nameOf(tap.kind);
        lines += '\n';
    }
    return lines;
}

Result<std::string> tapsCommand(const TapsArguments& arguments)
{
    const auto checkpoint = capture::openCheckpoint(arguments.model);
    if (!checkpoint)
        return checkpoint.error();
    capture::RunOptions options;
    options.policy = arguments.policy;
    if (arguments.policyFile) {
        auto rules = readPolicyFile(*arguments.policyFile);
        if (!rules)
            return rules.error();
        options.policyRules = *std::move(rules);
    }
    const auto taps = capture::listTaps(*checkpoint, options);
    if (!taps)
        return taps.error();
    return tapLines(*taps);
}

Result<std::string> tokenizeCommand(const TokenizeArguments& arguments)
{
    constexpr std::size_t largestFile = std::size_t{1} << 30U; ///< 1 GiB
    if (arguments.text.has_value() == arguments.file.has_value())
        return Error{Errc::Invalid, "tokenize takes one text", {}, "Give either --text or --file"};
    const auto tokenizer = tokenizerOf(arguments.model);
    if (!tokenizer)
        return tokenizer.error();
    auto text = arguments.text ? Result<std::string>(*arguments.text)
                               : base::readSmallFile(*arguments.file, largestFile);
    if (!text)
        return text.error();
    capture::TextEncoding encoding{tokenizer->get(), {}, {}};
    if (arguments.chat)
        if (auto found = capture::takeChatTemplate(arguments.model, encoding); !found)
            return found.error();
    const auto prompts = capture::promptsFromText(*text, encoding);
    if (!prompts)
        return prompts.error();
    std::string line;
    for (const std::int32_t id : prompts->front().ids) {
        if (!line.empty())
            line += arguments.json ? ", " : " ";
        line += std::to_string(id);
    }
    return arguments.json ? '[' + line + "]\n" : line + '\n';
}

} // namespace moire::app
