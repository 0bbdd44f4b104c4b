// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/run_arguments.h"

#include "capture/task/tap_patterns.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string_view>

namespace moire::app {

namespace {

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

void addInputs(CLI::App& command, RunArguments& a)
{
    command.add_option("MODEL", a.model, "Hugging Face folder or .gguf file")->required();
    command.add_option("--text", a.text, "A prompt, raw")->group("Input (one of)");
    command.add_option("--prompts", a.promptsFile, "JSONL, a prompt a line")
        ->group("Input (one of)");
    command.add_option("--ids", a.idsFile, "JSON: a list of token ids, or a list of such lists")
        ->group("Input (one of)");
    command
        .add_option("--replay-from", a.reference,
                    "Samples and tokens of another capture, to be scored")
        ->group("Input (one of)");
}

void addRecording(CLI::App& command, RunArguments& a)
{
    command
        .add_option("--taps", a.taps,
                    "Pattern of tap names to record (default '*'); @FILE reads patterns")
        ->allow_extra_args(false)
        ->group("Recording");
    command.add_option("--level", a.level, "full (default), topk or digest")->group("Recording");
    command.add_option("--top-k", a.options.topK, "Logits kept a row in the top-K table (64)")
        ->check(CLI::Range(1U, 1U << 24U))
        ->group("Recording");
    command.add_option("-o,--output", a.output, "The capture to write")->group("Recording");
    command.add_flag("--dry-run", a.dryRun, "Only print what would be recorded")
        ->group("Recording");
}

void addExecution(CLI::App& command, RunArguments& a)
{
    capture::RunOptions& o = a.options;
    constexpr unsigned mostThreads = 4096;
    constexpr auto group = "Execution";
    command.add_option("--policy", o.policy, "bf16 or fp32 (default: the model's own)")
        ->group(group);
    command.add_option("--arithmetic", o.arithmetic, "native (default) or ordered")->group(group);
    command
        .add_option("--construction", a.construction,
                    "Of scored tokens: once (default) or steps (default of --replay-from)")
        ->group(group);
    command.add_option("--max-new", o.maxNew, "Tokens to generate a sample (0)")->group(group);
    command.add_flag("--ignore-eos", o.ignoreEnd, "Generate on after an end token")->group(group);
    command.add_option("--batch", o.batch, "Samples a forward pass (1)")->group(group);
    command.add_option("--threads", o.threads, "Threads (default: the library's choice)")
        ->check(CLI::Range(1U, mostThreads))
        ->group(group);
    command.add_option("--seed", o.seed, "Recorded; greedy decoding does not use it")
        ->check(CLI::NonNegativeNumber)
        ->group(group);
    command.add_option("--device", o.device, "cpu (default), cuda[:N] or hip[:N]")->group(group);
    command
        .add_flag("--observer-check", o.observerCheck,
                  "Run one sample with and without taps and compare the logits' bits")
        ->group(group);
}

Result<void> checkInputs(const RunArguments& a)
{
    constexpr auto inputs = "--text, --prompts, --ids and --replay-from";
    const int given =
        static_cast<int>(a.text.has_value()) + static_cast<int>(a.promptsFile.has_value())
        + static_cast<int>(a.idsFile.has_value()) + static_cast<int>(a.reference.has_value());
    if (given == 0)
        return invalid("there is nothing to run", std::string("Give one of ") + inputs);
    if (given > 1)
        return invalid("there is more than one input", std::string("Give only one of ") + inputs);
    if (a.reference && a.options.maxNew > 0)
        return invalid(
            "--max-new does not go with --replay-from, which takes the tokens as they are",
            "Leave one of the two out");
    if (a.construction == "once" && a.options.maxNew > 0)
        return invalid("--construction once is for scored tokens, not for generated ones",
                       "Leave it out, or --max-new");
    return {};
}

bool isPlain(char c)
{
    constexpr std::string_view plain = "-_./=:,@%+";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || plain.find(c) != std::string_view::npos;
}

} // namespace

void addRunOptions(CLI::App& command, RunArguments& arguments)
{
    addInputs(command, arguments);
    addRecording(command, arguments);
    addExecution(command, arguments);
}

Result<void> interpret(RunArguments& arguments)
{
    if (auto checked = checkInputs(arguments); !checked)
        return checked;
    capture::RunOptions& options = arguments.options;
    if (!arguments.level.empty()) {
        const auto level = trace::levelFromName(arguments.level);
        if (!level)
            return invalid("unknown level '" + arguments.level + "'",
                           "The levels are full, topk and digest");
        options.level = *level;
    }
    const bool steps = arguments.construction.empty() ? arguments.reference.has_value()
                                                      : arguments.construction == "steps";
    if (!steps && !arguments.construction.empty() && arguments.construction != "once")
        return invalid("unknown construction '" + arguments.construction + "'",
                       "The constructions are once and steps");
    options.construction = steps ? trace::Construction::Steps : trace::Construction::Once;
    if (arguments.taps.empty())
        return {};
    auto patterns = capture::expandTapPatterns(arguments.taps);
    if (!patterns)
        return patterns.error();
    options.tapPatterns = *std::move(patterns);
    return {};
}

std::string commandLineOf(int argc, const char* const* argv)
{
    std::string line;
    for (int i = 0; i < argc; ++i) {
        const std::string_view word = argv[i];
        bool plain = !word.empty();
        for (const char c : word)
            plain = plain && isPlain(c);
        if (i > 0)
            line += ' ';
        if (plain) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word)
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

} // namespace moire::app
