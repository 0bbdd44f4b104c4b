// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/policy.h"
#include "capture/engine/sampler.h"
#include "capture/engine/token_feed.h"
#include "capture/model/checkpoint.h"
#include "capture/model/prompt.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/run_builder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::capture {

/// Whether the first pass of a batch's samples is made as long as the longest, and on which side.
enum class Padding : std::uint8_t
{
    None,
    Left,
    Right
};

/// What to run a model with; the words of the command line. Every field is checked by planRun().
struct RunOptions
{
    std::string policy;                     ///< Policy::parse(); "" = the model's own dtype
    std::optional<PolicyRules> policyRules; ///< instead of it
    std::string arithmetic = "native";      ///< "native", "ordered"
    std::string kPlan;                      ///< of "ordered" (KPlan::parse); "" = one accumulator
    std::string attention = "eager";        ///< "eager", or "sdpa" of native on LibTorch 2
    std::string device = "cpu";             ///< "cpu", "cuda[:N]", "hip[:N]"
    std::uint32_t tensorParallel = 1;       ///< ranks, simulated
    std::string reduce;                     ///< "seq", …, "tree-c" (parallel_plan.h); "" = "auto"
    std::uint32_t treeLeaf = 0;             ///< inner indices of a tree's leaf; 0 = the paper's
    trace::Construction construction =
        trace::Construction::Once; ///< of scored tokens (replay forced)
    trace::Level level = trace::Level::Full;
    std::vector<std::string> tapPatterns{"*"};
    ExpertOrder expertOrder = ExpertOrder::AscendingId; ///< of a mixture's sum
    std::uint32_t topK = 64;
    std::uint32_t maxNew = 0; ///< tokens to generate a sample (replay free or prefix)
    /// Replay prefix: so many tokens of each response are given, before the model goes on by
    /// itself.
    std::optional<std::uint32_t> prefix;
    /// Replay forced, in steps: the responses arrive while it runs, at most so many tokens each.
    std::optional<std::uint32_t> liveTokens;
    std::shared_ptr<TokenFeed> feed; ///< where they arrive; planRun() does not need it
    Padding padding = Padding::None;
    std::uint32_t prefillChunk = 0; ///< tokens of a prompt a forward pass; 0 = all
    Sampling sampling;              ///< how they are chosen
    bool ignoreEnd = false;
    std::uint32_t batch = 1;
    unsigned threads = 0;   ///< 0 = the library's default
    std::uint64_t seed = 0; ///< of the sampling
    bool observerCheck = false;
    bool digestWeights = true; ///< planRun reads all weights for it; a dry run need not
    std::optional<std::uint64_t> knownWeightDigest; ///< of these weights, so that nobody reads them
};

/// What a run will record, before anything is computed.
struct RunPlan
{
    trace::RunHeader header; ///< taps chosen, environment as far as known
    std::uint64_t rows = 0;  ///< at most (an end token may stop a sample early)
    std::uint64_t bytes = 0; ///< of the capture, at most
};

class Model; ///< loaded weights on a device; engine-internal

/// Checks options and prompts against the checkpoint. Errors: Invalid (unknown policy, arithmetic,
/// device, reduction, K-plan; a pattern that matches no tap; an id outside the vocabulary; a prompt
/// longer than the context); Unsupported (a layer that the tensor parallelism cannot serve).
Result<RunPlan> planRun(const Checkpoint& checkpoint, const RunOptions& options,
                        std::span<const Prompt> prompts);

/// All taps of the model in execution order with their dtypes, for `taps`.
Result<std::vector<trace::Tap>> listTaps(const Checkpoint& checkpoint, const RunOptions& options);

/// Loads weights to the device in the policy's dtypes. Kept between runs by whoever wants.
Result<std::shared_ptr<const Model>> loadModel(const Checkpoint& checkpoint,
                                               const RunOptions& options);

/// Whether a loaded model is what loadModel() would give for these options. Errors: those of
/// planRun.
Result<bool> isLoadedFor(const Model& model, const RunOptions& options);

/// Runs every prompt and records into `sink`, from beginSample to finish. Rows: T + N − 1 a sample.
/// With stop requested it ends after the current forward pass with Cancelled, without finish().
/// Greedy choice: the largest logit, ties to the lowest id; else sampleToken() (sampler.h).
Result<void> runModel(const Model& model, const Checkpoint& checkpoint, const RunOptions& options,
                      const RunPlan& plan, std::span<const Prompt> prompts, trace::RunSink& sink,
                      std::stop_token stop, base::Progress& progress);

/// Runs the first prompt with all planned taps and without any, and compares the logits' bits:
/// "bitwise equal", or a sentence that names the first row and element that differ.
Result<std::string> checkObserver(const Model& model, const Checkpoint& checkpoint,
                                  const RunOptions& options, const RunPlan& plan,
                                  const Prompt& prompt);

} // namespace moire::capture
