// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/device_choice.h"
#include "capture/engine/k_plan.h"
#include "capture/engine/lane.h"
#include "capture/engine/parallel_plan.h"
#include "capture/engine/run_environment.h"
#include "capture/engine/runner.h"
#include "capture/engine/tap_plan.h"

#include <torch/version.h>

#include <algorithm>

namespace moire::capture {

namespace {

Error invalid(std::string sentence, std::string place, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), std::move(place), std::move(hint)};
}

Result<void> checkOptions(const RunOptions& options)
{
    if (options.arithmetic != "native" && options.arithmetic != "ordered")
        return invalid("unknown arithmetic '" + options.arithmetic + "'", {},
                       "The arithmetics are native and ordered");
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    if (options.arithmetic == "ordered" && device->kind != DeviceChoice::Kind::Cpu)
        return Error{Errc::Unsupported,
                     "arithmetic ordered has kernels for the CPU only, not for " + device->text(),
                     {},
                     "Use --device cpu, or --arithmetic native"};
    if (options.arithmetic != "ordered" && !options.kPlan.empty())
        return invalid("a K-plan is an order of ordered, and the arithmetic is "
                           + options.arithmetic,
                       {}, "Leave out --k-plan, or take --arithmetic ordered");
    if (const auto kPlan = KPlan::parse(options.kPlan); !kPlan)
        return kPlan.error();
    if (options.attention != "eager" && options.attention != "sdpa")
        return invalid("unknown attention '" + options.attention + "'", {},
                       "The kinds are eager and sdpa");
    if (options.attention == "sdpa" && options.arithmetic == "ordered")
        return invalid("sdpa is the library's own attention, and ordered has one of its own", {},
                       "Leave out --attention, or take --arithmetic native");
    if (options.attention == "sdpa" && TORCH_VERSION_MAJOR < 2)
        return Error{
            Errc::Unsupported,
            "attention sdpa needs LibTorch 2, and this program is built with " TORCH_VERSION,
            {},
            "Leave out --attention, or build with a newer LibTorch (HACKING.md)"};
    if (options.liveTokens
        && (options.maxNew > 0 || options.construction != trace::Construction::Steps))
        return invalid("tokens that arrive while the model runs are scored in steps", {},
                       "Leave out --max-new and --construction once");
    if (options.batch == 0)
        return invalid("a batch of 0 samples makes no sense", {}, "Take --batch 1 or more");
    return {};
}

/// The options' tensor parallelism, once the model and the device can do it.
Result<ParallelPlan> parallelOf(const ModelPlan& model, const Policy& policy,
                                const RunOptions& options)
{
    const auto plan = ParallelPlan::of(options);
    if (!plan)
        return plan.error();
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    if (plan->isTree() && device->kind != DeviceChoice::Kind::Cpu)
        return Error{Errc::Unsupported,
                     "the trees have kernels for the CPU only, not for " + device->text(),
                     {},
                     "Use --device cpu, or --reduce seq, oneshot, twoshot, ring or auto"};
    if (auto served = checkParallel(*plan, model, policy); !served)
        return served.error();
    return plan;
}

Result<void> checkPrompt(const ModelPlan& plan, const RunOptions& options, const Prompt& prompt)
{
    const std::string place = "sample " + prompt.sample.id;
    if (prompt.ids.empty() || prompt.promptLength == 0)
        return invalid("the prompt is empty", place, "Give it at least one token");
    if (prompt.promptLength > prompt.ids.size())
        return Error{Errc::Internal, "the prompt is longer than its tokens", place, {}};
    if (options.maxNew > 0 && !options.prefix && prompt.promptLength < prompt.ids.size())
        return invalid("its response is given, so that no tokens can be generated", place,
                       "Leave out --max-new");
    if (options.liveTokens && prompt.promptLength < prompt.ids.size())
        return invalid("its response is given, so that none can arrive", place,
                       "Give the prompt alone");
    const auto unknown = [&](std::int32_t id) {
        return id < 0 || static_cast<std::uint32_t>(id) >= plan.vocabulary;
    };
    for (const auto& ids : {prompt.ids, prompt.askedIds})
        if (const auto id = std::find_if(ids.begin(), ids.end(), unknown); id != ids.end())
            return invalid("token id " + std::to_string(*id) + " is outside the vocabulary of "
                               + std::to_string(plan.vocabulary),
                           place, "Check that the ids belong to this model");
    const std::uint64_t positions = rowsOf(prompt, options);
    const std::uint32_t toCome = options.liveTokens.value_or(options.maxNew);
    if (positions > plan.context)
        return invalid(
            "its " + std::to_string(prompt.ids.size()) + " tokens"
                + (toCome > 0 ? " and " + std::to_string(toCome) + " new ones" : std::string())
                + " do not fit the model's context of " + std::to_string(plan.context),
            place, "Shorten the prompt or ask for fewer new tokens");
    return {};
}

/// Bytes of everything that one row adds to a capture.
std::uint64_t bytesOfRow(const trace::RunHeader& header)
{
    std::uint64_t bytes = sizeof(trace::Row);
    for (const trace::Tap& tap : header.taps) {
        bytes += sizeof(std::uint64_t) + sizeof(trace::Counts);
        if (header.level != trace::Level::Digest)
            bytes += sizeof(trace::Statistics);
        if (header.level == trace::Level::Full)
            bytes += tap.rowBytes();
    }
    for (const trace::RouterLayer& router : header.routers)
        bytes += router.chosen * (sizeof(std::int32_t) + numeric::sizeOf(router.weightType))
                 + router.experts * numeric::sizeOf(router.logitType);
    bytes += (header.logits.topK + header.logits.asked) * (sizeof(std::int32_t) + sizeof(float))
             + 2 * sizeof(double);
    return bytes;
}

/// Bytes that a capture has whatever its rows (core/store/FORMAT.md): the container, each table's
/// header and place index, the records of taps, routers and the vocabulary. Measured, and rounded
/// up by a third.
std::uint64_t bytesOfFrame(const trace::RunHeader& header)
{
    constexpr std::uint64_t container = std::uint64_t{96} << 10U;
    constexpr std::uint64_t table = std::uint64_t{2} << 10U;
    constexpr std::uint64_t tablesOfRouter = 3;
    constexpr std::uint64_t tokenRecord = 40;
    std::uint64_t bytes =
        container + (header.taps.size() + tablesOfRouter * header.routers.size()) * table;
    for (const std::string& token : header.vocabulary)
        bytes += tokenRecord + token.size();
    return bytes;
}

/// Bytes of a sample's own records and texts, and of its tokens' (core/store/FORMAT.md). A token's
/// text is taken to be no longer than 16 bytes on average.
std::uint64_t bytesOfSample(const Prompt& prompt, const RunOptions& options)
{
    constexpr std::uint64_t sampleRecords = 160;
    constexpr std::uint64_t choiceRecord = 16;
    constexpr std::uint64_t tokenRecord = 32 + 16;
    const trace::Sample& sample = prompt.sample;
    std::uint64_t bytes = sampleRecords + sample.id.size() + sample.category.size()
                          + sample.text.size() + sample.label.size() + sample.replaySource.size();
    for (const std::string& choice : sample.choices)
        bytes += choiceRecord + choice.size();
    return bytes + tokenRecord * (prompt.ids.size() + options.liveTokens.value_or(options.maxNew));
}

trace::LogitsInfo logitsInfo(const ModelPlan& plan, const Policy& policy, const RunOptions& options,
                             std::span<const Prompt> prompts)
{
    trace::LogitsInfo info;
    info.vocabulary = plan.vocabulary;
    info.topK = std::min(options.topK, plan.vocabulary);
    info.dtype = policy.dtypeOf("lm_head");
    for (const Prompt& prompt : prompts)
        info.asked = std::max(info.asked, static_cast<std::uint32_t>(prompt.askedIds.size()));
    return info;
}

/// What each id decodes to; "" where the tokenizer does not know it; nothing without a tokenizer.
std::vector<std::string> vocabularyOf(const Checkpoint& checkpoint)
{
    std::vector<std::string> vocabulary;
    if (!checkpoint.tokenizer)
        return vocabulary;
    vocabulary.resize(checkpoint.plan.vocabulary);
    for (std::size_t i = 0; i < vocabulary.size(); ++i)
        if (const auto id = static_cast<std::int32_t>(i); checkpoint.tokenizer->knows(id))
            vocabulary[i] = checkpoint.tokenizer->bytesOf(id);
    return vocabulary;
}

} // namespace

Result<RunPlan> planRun(const Checkpoint& checkpoint, const RunOptions& options,
                        std::span<const Prompt> prompts)
{
    if (auto checked = checkOptions(options); !checked)
        return checked.error();
    const auto policy = Policy::of(options, checkpoint.plan);
    if (!policy)
        return policy.error();
    const auto parallel = parallelOf(checkpoint.plan, *policy, options);
    if (!parallel)
        return parallel.error();
    // The usual K is cut to a small vocabulary; one that was asked for is not cut silently.
    if (options.topK > std::max(RunOptions{}.topK, checkpoint.plan.vocabulary))
        return invalid("a top-K table of " + std::to_string(options.topK)
                           + " is larger than the vocabulary of "
                           + std::to_string(checkpoint.plan.vocabulary),
                       {}, "Take a smaller --top-k");
    if (options.expertOrder != RunOptions{}.expertOrder && !checkpoint.plan.moe)
        return invalid(
            "the expert order is about mixtures, and this model has no mixture of experts", {},
            "Leave out --expert-order");
    for (const Prompt& prompt : prompts)
        if (auto checked = checkPrompt(checkpoint.plan, options, prompt); !checked)
            return checked.error();
    const auto taps = TapPlan::of(checkpoint.plan, *policy, *parallel).select(options.tapPatterns);
    if (!taps)
        return taps.error();
    auto environment = describeRun(checkpoint, *policy, options, options.maxNew == 0);
    if (!environment)
        return environment.error();
    RunPlan plan;
    plan.header = {.environment = *std::move(environment),
                   .level = options.level,
                   .taps = taps->taps(),
                   .routers = taps->routers(),
                   .logits = logitsInfo(checkpoint.plan, *policy, options, prompts),
                   .vocabulary = vocabularyOf(checkpoint)};
    plan.bytes = bytesOfFrame(plan.header);
    for (const Prompt& prompt : prompts) {
        plan.rows += rowsOf(prompt, options);
        plan.bytes += bytesOfSample(prompt, options);
    }
    plan.bytes += plan.rows * bytesOfRow(plan.header);
    return plan;
}

Result<std::vector<trace::Tap>> listTaps(const Checkpoint& checkpoint, const RunOptions& options)
{
    const auto policy = Policy::of(options, checkpoint.plan);
    if (!policy)
        return policy.error();
    const auto parallel = parallelOf(checkpoint.plan, *policy, options);
    if (!parallel)
        return parallel.error();
    const auto taps = TapPlan::of(checkpoint.plan, *policy, *parallel).select(options.tapPatterns);
    if (!taps)
        return taps.error();
    return taps->taps();
}

} // namespace moire::capture
