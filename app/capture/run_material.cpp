// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/run_material.h"

#include "app/capture/commands.h"
#include "capture/server/message_run.h"
#include "capture/task/benchmark.h"
#include "capture/task/prompts.h"
#include "core/base/text.h"
#include "core/store/mapped_run.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace moire::app {

namespace env = trace::env;
namespace fs = std::filesystem;

namespace {

/// One sentence on stderr, the name as a terminal may show it.
void remark(const std::string& name, const char* sentence)
{
    std::fprintf(stderr, "%s: %s %s\n", programName, base::visibleText(name).c_str(), sentence);
}

/// Says what a replay of this reference leaves out, or may mix up.
void remarkOn(const std::string& name, const store::MappedRun& reference,
              const capture::Checkpoint& checkpoint)
{
    constexpr int hexadecimal = 16;
    if (!reference.complete() && reference.rowCount() > 0)
        remark(name, "is incomplete; its rows so far are replayed.");
    const std::string recorded = reference.header().environment.text(env::tokenizerDigest);
    if (checkpoint.tokenizer && !recorded.empty()
        && std::strtoull(recorded.c_str(), nullptr, hexadecimal) != checkpoint.tokenizer->digest())
        remark(name, "was recorded with another tokenizer; its token ids are scored as they are.");
}

capture::TaskOptions taskOf(const RunArguments& arguments)
{
    capture::TaskOptions task;
    task.source = *arguments.task;
    task.chat = arguments.chat;
    task.shots = arguments.shots;
    task.limit = arguments.limit;
    if (arguments.letters.empty())
        return task;
    task.letters.clear();
    for (std::size_t begin = 0; begin <= arguments.letters.size();) {
        const std::size_t end =
            std::min(arguments.letters.find(',', begin), arguments.letters.size());
        task.letters.push_back(arguments.letters.substr(begin, end - begin));
        begin = end + 1;
    }
    return task;
}

Result<std::vector<capture::Prompt>> replayedPrompts(const RunArguments& arguments,
                                                     const capture::Checkpoint& checkpoint,
                                                     const ReplayInput& replay)
{
    if (replay.live)
        return capture::promptsToFeed(*replay.reference);
    const capture::Tokenizer* tokenizer = checkpoint.tokenizer.get();
    if (replay.reference)
        return capture::promptsFromRun(*replay.reference, tokenizer, arguments.options.prefix);
    const auto reference = store::MappedRun::open(*arguments.reference);
    if (!reference)
        return reference.error();
    remarkOn(*arguments.reference, **reference, checkpoint);
    return capture::promptsFromRun(**reference, tokenizer, arguments.options.prefix);
}

Result<std::vector<capture::Prompt>> promptsOf(const RunArguments& arguments,
                                               const capture::Checkpoint& checkpoint,
                                               const ReplayInput& replay)
{
    capture::TextEncoding encoding{checkpoint.tokenizer.get(), checkpoint.tokenizerError, {}};
    if (arguments.chat)
        if (auto found = capture::takeChatTemplate(arguments.model, encoding); !found)
            return found.error();
    if (arguments.task) {
        if (!checkpoint.tokenizer)
            return checkpoint.tokenizerError;
        return capture::promptsFromTask(taskOf(arguments), encoding);
    }
    if (arguments.text)
        return capture::promptsFromText(*arguments.text, encoding);
    if (arguments.promptsFile)
        return capture::promptsFromFile(*arguments.promptsFile, encoding);
    if (arguments.idsFile)
        return capture::promptsFromIds(*arguments.idsFile);
    return replayedPrompts(arguments, checkpoint, replay);
}

void describe(const RunArguments& arguments, trace::Environment& environment)
{
    environment.set(env::program, std::string(programName) + " " MOIRE_VERSION);
    environment.set(env::commandLine, arguments.commandLine);
    if (arguments.reference)
        environment.set(env::replaySource, fs::path(*arguments.reference).filename().string());
}

/// The most that a response may have: what was announced, or what the context has room for.
std::uint32_t liveTokens(const RunArguments& arguments, const capture::Checkpoint& checkpoint,
                         const std::vector<capture::Prompt>& prompts)
{
    if (arguments.options.maxNew > 0)
        return arguments.options.maxNew;
    std::size_t longest = 1;
    for (const capture::Prompt& prompt : prompts)
        longest = std::max(longest, prompt.ids.size());
    const std::size_t context = checkpoint.plan.context;
    return static_cast<std::uint32_t>(context >= longest ? context - longest + 1 : 1);
}

} // namespace

std::string sizeText(std::uint64_t bytes)
{
    constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
    constexpr double thousand = 1000;
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= thousand && unit + 1 < units.size(); ++unit)
        value /= thousand;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text.data();
}

Result<RunMaterial> materialOf(const RunArguments& arguments, const capture::Checkpoint& checkpoint,
                               const ReplayInput& replay)
{
    auto prompts = promptsOf(arguments, checkpoint, replay);
    if (!prompts)
        return prompts.error();
    RunMaterial material{arguments.options, *std::move(prompts), {}};
    if (replay.live) {
        material.options.liveTokens = liveTokens(arguments, checkpoint, material.prompts);
        material.options.maxNew = 0;
    }
    auto plan = capture::planRun(checkpoint, material.options, material.prompts);
    if (!plan)
        return plan.error();
    if (arguments.limitBytes && plan->bytes > *arguments.limitBytes)
        return Error{
            Errc::Invalid,
            "would write up to " + sizeText(plan->bytes) + ", more than the limit of "
                + sizeText(*arguments.limitBytes),
            {},
            "Take fewer --taps, another --level or fewer tokens; --dry-run shows the size"};
    material.plan = *std::move(plan);
    describe(arguments, material.plan.header.environment);
    return material;
}

} // namespace moire::app
