// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/run_environment.h"

#include "capture/engine/device_choice.h"
#include "capture/engine/k_plan.h"
#include "capture/engine/parallel_plan.h"
#include "capture/engine/threads.h"

#include <ATen/Context.h>
#include <torch/version.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <sys/resource.h>

namespace moire::capture {

namespace env = trace::env;

namespace {

std::string hexText(std::uint64_t value)
{
    char text[19];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(value));
    return text;
}

void describeHeads(const ModelPlan& plan, trace::Environment& environment)
{
    environment.set(env::vocabSize, std::int64_t{plan.vocabulary});
    environment.set(env::attentionHeads, std::int64_t{plan.heads});
    environment.set(env::keyValueHeads, std::int64_t{plan.kvHeads});
    environment.set(env::headDim, std::int64_t{plan.headDim});
}

void describeLibraries(trace::Environment& environment)
{
    const BlasName blas = blasName();
    environment.set(env::blas, blas.name);
    if (!blas.version.empty())
        environment.set(env::blasVersion, blas.version);
    environment.set(env::torchVersion, std::string(TORCH_VERSION));
}

/// Of `ordered`, checked before.
std::string kPlanText(const RunOptions& options)
{
    const auto plan = KPlan::parse(options.kPlan);
    return !plan || plan->isPlain() ? "one fp32 accumulator, ascending, fused" : plan->text();
}

/// What the library cannot multiply as it is, or not fast (native_operations.cpp).
std::string widenedProducts(const Policy& policy, const RunOptions& options)
{
    std::string text;
    if (options.device != "cpu")
        return text;
    if (TORCH_VERSION_MAJOR < 2 && policy.computesIn(numeric::DType::BF16))
        text = "the library's fp64 product of widened values";
    if (policy.computesIn(numeric::DType::FP16))
        text += std::string(text.empty() ? "" : "; of fp16 ")
                + "the library's fp32 product of widened values";
    return text;
}

void describeNumerics(const ModelPlan& plan, const Policy& policy, const RunOptions& options,
                      trace::Environment& environment)
{
    environment.set(env::policy, policy.name());
    environment.set(env::policyRules, policy.rulesText());
    environment.set(env::arithmetic, options.arithmetic);
    if (options.arithmetic == "ordered")
        environment.set(env::kPlan, kPlanText(options));
    else if (const std::string widened = widenedProducts(policy, options); !widened.empty())
        environment.set(env::kPlan, widened);
    environment.set(env::tpSize, std::int64_t{options.tensorParallel});
    if (const auto parallel = ParallelPlan::of(options))
        environment.set(env::reduction, reductionText(*parallel, plan, policy));
    environment.set(env::attention, options.attention);
    if (plan.moe)
        environment.set(
            env::expertOrder,
            std::string(options.expertOrder == ExpertOrder::SlotOrder ? "slots" : "ascending"));
    environment.set(env::tf32, at::globalContext().allowTF32CuBLAS());
}

} // namespace

Result<trace::Environment> describeRun(const Checkpoint& checkpoint, const Policy& policy,
                                       const RunOptions& options, bool scoresOnly)
{
    trace::Environment environment;
    environment.set(env::modelName, checkpoint.plan.name);
    environment.set(env::architecture, checkpoint.plan.architecture);
    if (options.digestWeights) {
        const auto digest = options.knownWeightDigest
                                ? Result<std::uint64_t>(*options.knownWeightDigest)
                                : weightDigest(*checkpoint.weights);
        if (!digest)
            return digest.error();
        environment.set(env::weightDigest, hexText(*digest));
    }
    if (checkpoint.tokenizer)
        environment.set(env::tokenizerDigest, hexText(checkpoint.tokenizer->digest()));
    describeHeads(checkpoint.plan, environment);
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    describeDevice(*device, environment);
    describeLibraries(environment);
    describeNumerics(checkpoint.plan, policy, options, environment);
    environment.set(env::threads, static_cast<std::int64_t>(
                                      options.threads == 0 ? defaultThreads() : options.threads));
    environment.set(env::batchSize, std::int64_t{options.batch});
    environment.set(env::seed, static_cast<std::int64_t>(options.seed));
    environment.set(env::sampling, options.sampling.text());
    environment.set(env::replay, std::string(scoresOnly       ? "forced"
                                             : options.prefix ? "prefix"
                                                              : "free"));
    if (options.prefix)
        environment.set(env::prefixTokens, std::int64_t{*options.prefix});
    if (options.padding != Padding::None)
        environment.set(env::padding,
                        std::string(options.padding == Padding::Left ? "left" : "right"));
    if (options.prefillChunk > 0)
        environment.set(env::prefillChunk, std::int64_t{options.prefillChunk});
    // A free run decodes token by token: what a forced run calls steps.
    const bool chosen = scoresOnly || options.prefix;
    environment.set(env::construction, std::string(nameOf(chosen ? options.construction
                                                                 : trace::Construction::Steps)));
    environment.set(env::logProbs, std::string("raw"));
    environment.set(env::program, std::string("moire-capture"));
    environment.set(env::startTime, timeText());
    return environment;
}

std::string timeText()
{
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::int64_t peakBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    constexpr std::int64_t kibibyte = 1024;
    return usage.ru_maxrss * kibibyte;
}

} // namespace moire::capture
