// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/run_arguments.h"

#include "app/capture/policy_file.h"
#include "app/terminal/arguments.h"
#include "capture/task/tap_patterns.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace moire::app {

namespace {

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

void addInputs(CLI::App& command, RunArguments& a)
{
    constexpr auto group = "Input (one of)";
    command.add_option("MODEL", a.model, "Hugging Face folder or .gguf file");
    command.add_option("--text", a.text, "A prompt, raw")->type_name("STR")->group(group);
    command.add_option("--prompts", a.promptsFile, "JSONL, a prompt a line")
        ->type_name("FILE")
        ->group(group);
    command.add_option("--ids", a.idsFile, "JSON: a list of token ids, or a list of such lists")
        ->type_name("FILE")
        ->group(group);
    command
        .add_flag("--chat", a.chat,
                  "Texts are what a user says, put into the model's chat template; lines of "
                  "--prompts may have \"messages\"")
        ->group(group);
    command
        .add_option("--task", a.task,
                    "Questions with choices: mmlu:FILE.csv, mmlu:FOLDER or arc:FILE.jsonl; with "
                    "--chat the model writes its answer, else the letters' logits decide")
        ->type_name("TASK")
        ->group(group);
    command
        .add_option("--replay-from", a.reference,
                    "Samples and tokens of another capture, to be scored")
        ->type_name("REF.moire")
        ->group(group);
}

void addTask(CLI::App& command, RunArguments& a)
{
    constexpr auto group = "Questions (with --task)";
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    command
        .add_option("--letters", a.letters,
                    "The letters of the choices, in order (default: A,B,C,D,E)")
        ->type_name("LIST")
        ->group(group);
    command.add_option("--shots", a.shots, "Solved questions before each")
        ->type_name("N")
        ->check(wholeNumber(0, most))
        ->capture_default_str()
        ->group(group);
    command.add_option("--limit", a.limit, "Questions of each category (default: all)")
        ->type_name("N")
        ->check(wholeNumber(1, most))
        ->group(group);
}

void addRecording(CLI::App& command, RunArguments& a)
{
    constexpr auto group = "Recording";
    constexpr std::uint64_t largestTopK = 1U << 24U;
    command
        .add_option("--taps", a.taps,
                    "Record only taps like this ('*' crosses dots), or like the patterns in @FILE; "
                    "may be repeated (default: '*')")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->group(group);
    command.add_option("--level", a.level, "full, topk or digest (default: full)")
        ->type_name("LEVEL")
        ->group(group);
    command.add_option("--top-k", a.options.topK, "Logits kept a row in the top-K table")
        ->type_name("K")
        ->check(wholeNumber(1, largestTopK))
        ->capture_default_str()
        ->group(group);
    command
        .add_option("-o,--output", a.output,
                    "The capture to write (default: MODEL-POLICY-ARITHMETIC.moire in this "
                    "folder, with a number where that is there); with --matrix a folder")
        ->type_name("OUT.moire")
        ->group(group);
    command.add_flag("--dry-run", a.dryRun, "Only print what would be recorded")->group(group);
    command
        .add_option("--limit-bytes", a.limitBytes,
                    "Do not begin a capture that could become larger, such as 500MB or 2GB")
        ->type_name("BYTES")
        ->transform(byteCount())
        ->group(group);
    command
        .add_option("--matrix", a.matrix,
                    "Many runs: every combination of the options that this file (TOML) lists; "
                    "those whose capture is there are left out")
        ->type_name("FILE")
        ->group(group);
}

void addTokens(CLI::App& command, RunArguments& a, const char* group)
{
    capture::RunOptions& o = a.options;
    constexpr std::uint64_t largestCount = std::numeric_limits<std::uint32_t>::max();
    command
        .add_option("--construction", a.construction,
                    "How scored tokens are computed: once or steps (default: once; steps with "
                    "--replay-from)")
        ->type_name("WORD")
        ->group(group);
    command
        .add_option("--prefix", o.prefix,
                    "With --replay-from: take only the first N tokens of each response, then "
                    "generate --max-new")
        ->type_name("N")
        ->check(wholeNumber(0, largestCount))
        ->group(group);
    command
        .add_option(
            "--padding", a.padding,
            "Side on which the prompts of a batch are padded to the longest: left or right; "
            "not with --prefill-chunk (default: none, each has its own length)")
        ->type_name("SIDE")
        ->check(oneOf({"left", "right"}))
        ->group(group);
    command
        .add_option("--prefill-chunk", o.prefillChunk,
                    "Tokens of a prompt a forward pass (default: all)")
        ->type_name("N")
        ->check(wholeNumber(1, largestCount))
        ->group(group);
    command.add_option("--max-new", o.maxNew, "Tokens to generate a sample")
        ->type_name("N")
        ->check(wholeNumber(0, largestCount))
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--temperature", o.sampling.temperature,
                    "Of sampling; 0 takes the best token (default: 0)")
        ->type_name("T")
        ->group(group);
    command.add_option("--sample-top-k", o.sampling.topK, "Sample among the K best (default: all)")
        ->type_name("K")
        ->check(wholeNumber(1, largestCount))
        ->group(group);
    command
        .add_option("--top-p", o.sampling.topP,
                    "Sample among the fewest that together have probability P (default: 1)")
        ->type_name("P")
        ->group(group);
    command
        .add_option("--min-p", o.sampling.minP,
                    "Sample among those with at least P of the best one's probability (default: 0)")
        ->type_name("P")
        ->group(group);
    command.add_flag("--ignore-eos", o.ignoreEnd, "Generate on after an end token")->group(group);
    command.add_option("--batch", a.batch, "Samples a forward pass (default: 1)")
        ->type_name("N")
        ->check(wholeNumber(1, largestCount))
        ->group(group);
    command.add_option("--seed", a.seed, "Of sampling (default: 0)")
        ->type_name("N")
        ->check(wholeNumber(0, std::numeric_limits<std::int64_t>::max()))
        ->group(group);
}

void addExecution(CLI::App& command, RunArguments& a)
{
    capture::RunOptions& o = a.options;
    constexpr std::uint64_t mostThreads = 4096;
    constexpr auto group = "Execution";
    CLI::Option* policy =
        command
            .add_option("--policy", o.policy,
                        "In what precision: bf16, fp16, fp32; layercast (16-bit weights, all "
                        "arithmetic fp32); nomlp (fp32 but the MLPs); selective:PARTS (these in "
                        "fp32: norm, attn, mlp, router, head, embed, firstN, lastN, joined by +) "
                        "(default: the model's own)")
            ->type_name("WORD")
            ->group(group);
    command
        .add_option("--policy-file", a.policyFile, "TOML or JSON: the dtypes of modules by pattern")
        ->type_name("FILE")
        ->excludes(policy)
        ->group(group);
    command.add_option("--arithmetic", o.arithmetic, "native or ordered (default: native)")
        ->type_name("WORD")
        ->group(group);
    command
        .add_option("--k-plan", o.kPlan,
                    "The order of ordered's sums, such as block=64,split=4,combine=tree,"
                    "partial=bf16 (default: one fp32 accumulator)")
        ->type_name("PLAN")
        ->group(group);
    command
        .add_option("--attention", o.attention,
                    "eager (each step rounds) or sdpa (the fused kernel of LibTorch 2)")
        ->type_name("WORD")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--expert-order", a.expertOrder,
                    "How a mixture adds its experts: ascending (by id, a rounding after each) or "
                    "slots (as chosen, one rounding) (default: ascending)")
        ->type_name("WORD")
        ->group(group);
    addTokens(command, a, group);
    command.add_option("--threads", o.threads, "Threads (default: the library's choice)")
        ->type_name("N")
        ->check(wholeNumber(1, mostThreads))
        ->group(group);
    command.add_option("--device", o.device, "cpu, cuda[:N] or hip[:N] (default: cpu)")
        ->type_name("DEVICE")
        ->group(group);
    command
        .add_flag("--observer-check", o.observerCheck,
                  "Run one sample with and without taps and compare the logits' bits")
        ->group(group);
}

void addParallelism(CLI::App& command, RunArguments& a)
{
    capture::RunOptions& o = a.options;
    constexpr auto group = "Tensor parallelism, simulated on one device";
    constexpr std::uint64_t mostRanks = 1024;
    constexpr std::uint64_t largestLeaf = 1U << 20U;
    command
        .add_option("--tp", a.tensorParallel,
                    "Ranks that o_proj, down_proj and the experts' down_proj are summed over "
                    "(default: 1)")
        ->type_name("N")
        ->check(wholeNumber(1, mostRanks))
        ->group(group);
    command
        .add_option("--reduce", o.reduce,
                    "How their partial products are summed: seq, oneshot, twoshot, ring, auto, or "
                    "by a tree that gives the same bits for every N: tree-a, tree-b, tree-c "
                    "(default: auto)")
        ->type_name("WORD")
        ->group(group);
    command
        .add_option("--tree-leaf", o.treeLeaf,
                    "Inner indices of a tree's leaf (default: 256 for bf16 and fp16, 128 for fp32)")
        ->type_name("BK")
        ->check(wholeNumber(1, largestLeaf))
        ->group(group);
}

Result<void> checkInputs(const RunArguments& a)
{
    if (a.model.empty())
        return invalid("MODEL is missing", "Try 'moire-capture run --help'");
    constexpr auto inputs = "--text, --prompts, --ids, --task and --replay-from";
    const int given =
        static_cast<int>(a.text.has_value()) + static_cast<int>(a.promptsFile.has_value())
        + static_cast<int>(a.idsFile.has_value()) + static_cast<int>(a.reference.has_value())
        + static_cast<int>(a.task.has_value());
    if (given == 0)
        return invalid("there is nothing to run", std::string("Give one of ") + inputs);
    if (given > 1)
        return invalid("there is more than one input", std::string("Give only one of ") + inputs);
    if (a.chat && !a.text && !a.promptsFile && !a.task)
        return invalid("--chat needs a text to put into the chat template",
                       "Give --text, --prompts or --task with it, or leave it out");
    if (!a.task && (!a.letters.empty() || a.shots > 0 || a.limit > 0))
        return invalid("--letters, --shots and --limit are about questions",
                       "Give the questions with --task, or leave them out");
    if (a.reference && a.options.maxNew > 0 && !a.options.prefix)
        return invalid(
            "--max-new does not go with --replay-from, which takes the tokens as they are",
            "Leave one of the two out, or say with --prefix how many tokens to take");
    if (a.options.prefix && !a.reference)
        return invalid("--prefix is about the responses of another capture",
                       "Name it with --replay-from, or leave --prefix out");
    if (a.options.prefix && a.options.maxNew == 0)
        return invalid("--prefix says where the model goes on by itself",
                       "Say how many tokens with --max-new");
    return {};
}

/// Refuses what says how tokens are generated or scored where none are.
Result<void> checkTokens(const RunArguments& a)
{
    const capture::RunOptions& o = a.options;
    if (auto checked = o.sampling.check(); !checked)
        return checked;
    const bool generates = o.maxNew > 0 || (a.task && a.chat);
    if (!o.sampling.greedy() && !generates)
        return invalid("--temperature is about generated tokens",
                       "Say how many with --max-new, or leave it out");
    if (a.seed && o.sampling.greedy())
        return invalid("--seed is about sampling, and the best token needs no chance",
                       "Give --temperature with it, or leave it out");
    if (o.ignoreEnd && !generates)
        return invalid("--ignore-eos is about generated tokens",
                       "Say how many with --max-new, or leave it out");
    if (!a.construction.empty() && generates && !o.prefix)
        return invalid("--construction is about scored tokens, not about generated ones",
                       "Leave it out, or --max-new");
    return {};
}

/// Refuses what changes nothing without another option. One that was given counts whatever its
/// value, so that a matrix may take "--tp 1" or "--batch 1" as one of several.
Result<void> checkCompanions(const RunArguments& a)
{
    const bool tree = a.options.reduce.starts_with("tree-"); // a tree changes one rank's sums too
    if (!a.options.reduce.empty() && !a.tensorParallel && !tree)
        return invalid("--reduce says how the ranks' products are summed, and there is one rank",
                       "Say how many with --tp, or leave it out");
    if (!a.padding.empty() && !a.batch)
        return invalid("--padding is about the prompts of a batch, and each runs on its own",
                       "Say with --batch how many run together, or leave it out");
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
    addTask(command, arguments);
    addRecording(command, arguments);
    addExecution(command, arguments);
    addParallelism(command, arguments);
    command.footer("Examples:\n"
                   "  moire-capture run model/ --text 'The capital of France is' --max-new 16 \\\n"
                   "      --arithmetic ordered -o reference.moire\n"
                   "  moire-capture run model/ --replay-from reference.moire -o target.moire\n"
                   "  moire-capture run model/ --prompts prompts.jsonl --max-new 32 \\\n"
                   "      --matrix policies.toml -o captures/");
}

Result<void> interpret(RunArguments& arguments)
{
    capture::RunOptions& options = arguments.options;
    options.seed = arguments.seed.value_or(options.seed);
    options.batch = arguments.batch.value_or(options.batch);
    options.tensorParallel = arguments.tensorParallel.value_or(options.tensorParallel);
    for (const auto& check : {checkInputs, checkTokens, checkCompanions})
        if (auto checked = check(arguments); !checked)
            return checked;
    if (!arguments.level.empty()) {
        const auto level = trace::levelFromName(arguments.level);
        if (!level)
            return invalid("unknown level '" + arguments.level + "'",
                           "The levels are full, topk and digest");
        options.level = *level;
    }
    if (!arguments.padding.empty())
        options.padding =
            arguments.padding == "left" ? capture::Padding::Left : capture::Padding::Right;
    if (options.padding != capture::Padding::None && options.prefillChunk > 0)
        return invalid("--padding is of prompts that go through the model whole",
                       "Leave it out, or --prefill-chunk");
    if (arguments.expertOrder == "slots")
        options.expertOrder = capture::ExpertOrder::SlotOrder;
    else if (!arguments.expertOrder.empty() && arguments.expertOrder != "ascending")
        return invalid("unknown expert order '" + arguments.expertOrder + "'",
                       "The orders are ascending and slots");
    // What a model writes to answer a question: its letter comes at once, or after a word or two.
    constexpr std::uint32_t answerTokens = 8;
    if (arguments.task && arguments.chat && options.maxNew == 0)
        options.maxNew = answerTokens;
    const bool steps = arguments.construction.empty() ? arguments.reference.has_value()
                                                      : arguments.construction == "steps";
    if (!steps && !arguments.construction.empty() && arguments.construction != "once")
        return invalid("unknown construction '" + arguments.construction + "'",
                       "The constructions are once and steps");
    options.construction = steps ? trace::Construction::Steps : trace::Construction::Once;
    if (arguments.policyFile) {
        auto rules = readPolicyFile(*arguments.policyFile);
        if (!rules)
            return rules.error();
        options.policyRules = *std::move(rules);
    }
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
