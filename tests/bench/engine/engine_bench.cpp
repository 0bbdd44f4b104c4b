// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/failure.h"
#include "capture/engine/forward.h"
#include "capture/model/tensor_names.h"
#include "core/store/writer.h"
#include "tests/bench/engine/smol_model.h"
#include "tests/bench/figure.h"
#include "tests/bench/numeric/bench_files.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace moire;
using namespace moire::capture;

namespace {

constexpr std::int64_t promptTokens = 256;
constexpr int decodedTokens = 64;
constexpr int prefillRounds = 9;
constexpr int recordRounds = 3;

/// The matrix products of a prefill and nothing else, each with LibTorch's own function.
class PlainChain
{
public:
    PlainChain(const ModelPlan& plan, const Weights& weights)
        : m_plan(plan)
    {
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
            for (const char* name :
                 {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                  "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
                m_linear.push_back(
                    tensorOf(weights, layerTensor(layer, std::string(name) + ".weight")));
        m_head = tensorOf(weights, headTensor(plan));
        m_hidden = at::randn({promptTokens, plan.hidden});
        m_inner = at::randn({promptTokens, plan.mlpWidth});
        const std::int64_t rows = plan.heads / plan.kvHeads * promptTokens;
        m_queries = at::randn({plan.kvHeads, rows, plan.headDim});
        m_keys = at::randn({plan.kvHeads, promptTokens, plan.headDim});
        m_weights = at::randn({plan.kvHeads, rows, promptTokens});
    }

    void run() const
    {
        for (std::size_t i = 0; i < m_linear.size(); ++i) {
            const bool fromInner = m_linear[i].size(1) == m_inner.size(1);
            at::linear(fromInner ? m_inner : m_hidden, m_linear[i]);
        }
        for (std::size_t layer = 0; layer < m_plan.layers.size(); ++layer) {
            at::bmm(m_queries, m_keys.transpose(1, 2));
            at::bmm(m_weights, m_keys);
        }
        at::linear(m_hidden, m_head);
    }

private:
    static at::Tensor tensorOf(const Weights& weights, const std::string& name)
    {
        const Weight weight = valueOrThrow(weights.load(name));
        return *std::static_pointer_cast<const at::Tensor>(weight.owner);
    }

    const ModelPlan& m_plan;
    std::vector<at::Tensor> m_linear;
    at::Tensor m_head, m_hidden, m_inner, m_queries, m_keys, m_weights;
};

std::vector<std::int32_t> promptIds(const Checkpoint& checkpoint)
{
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < promptTokens; ++i)
        ids.push_back(i * 191 % static_cast<std::int32_t>(checkpoint.plan.vocabulary));
    return ids;
}

/// A loaded model and its prompt, run without any tap.
class Untapped
{
public:
    Untapped(const std::string& policy, const std::string& arithmetic)
        : m_checkpoint(
            bench::smolCheckpoint(policy == "bf16" ? numeric::DType::BF16 : numeric::DType::FP32))
        , m_ids(promptIds(m_checkpoint))
    {
        m_options.policy = policy;
        m_options.arithmetic = arithmetic;
        m_model = valueOrThrow(loadModel(m_checkpoint, m_options));
        m_taps = TapPlan::of(m_model->plan(), m_model->policy(), m_model->parallel());
    }

    const Checkpoint& checkpoint() const { return m_checkpoint; }
    const RunOptions& options() const { return m_options; }
    const Model& model() const { return *m_model; }

    /// All tokens of the prompt, then so many single ones.
    void run(int decoded) const
    {
        const ModelPlan& plan = m_checkpoint.plan;
        KvCache cache(m_model->cacheTypes(), plan.kvHeads, plan.headDim, promptTokens + decoded,
                      m_model->device());
        pass(m_ids, cache);
        for (int i = 0; i < decoded; ++i)
            pass(std::span(m_ids).subspan(static_cast<std::size_t>(i), 1), cache);
    }

private:
    void pass(std::span<const std::int32_t> ids, KvCache& cache) const
    {
        Piece piece;
        piece.ids = ids;
        piece.cache = &cache;
        Forward(*m_model, *m_taps, nullptr).run(std::span(&piece, 1))[-1].argmax();
    }

    Checkpoint m_checkpoint;
    std::vector<std::int32_t> m_ids;
    RunOptions m_options;
    std::shared_ptr<const Model> m_model;
    std::optional<TapPlan> m_taps;
};

/// The best seconds of each, taken in turn, so that a change of the machine's load meets all; the
/// first round warms up.
std::vector<double> bestOf(int rounds, const std::vector<std::function<void()>>& works)
{
    std::vector<double> best(works.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round <= rounds; ++round)
        for (std::size_t i = 0; i < works.size(); ++i) {
            const double seconds = bench::secondsOf(works[i]);
            if (round > 0)
                best[i] = std::min(best[i], seconds);
        }
    return best;
}

void print(const std::string& name, double ours, double other, double ratio, double goal,
           bench::Sense sense)
{
    bench::printFigure(name + ", LibTorch " TORCH_VERSION, "s", ours, other, ratio, goal, sense);
}

void prefillAgainstMatmuls(const Untapped& native)
{
    const PlainChain chain(native.checkpoint().plan, *native.checkpoint().weights);
    const auto best = bestOf(prefillRounds, {[&] { native.run(0); }, [&] { chain.run(); }});
    print("prefill 256 tokens, SmolLM2 shapes, fp32, taps off, against its matmuls", best[0],
          best[1], best[0] / best[1], 1.2, bench::Sense::Max);
}

void orderedAgainstNative(const Untapped& native)
{
    const Untapped ordered("fp32", "ordered");
    const auto best = bestOf(prefillRounds, {[&] { ordered.run(0); }, [&] { native.run(0); }});
    print("the same prefill in ordered, its speed against native's", best[0], best[1],
          best[1] / best[0], 0.5, bench::Sense::Min);
}

/// Prefill and decoding with everything recorded into a file in memory.
void recordedAgainstUntapped(const Untapped& native)
{
    const std::filesystem::path memory = "/dev/shm";
    const bench::BenchFolder folder;
    std::error_code ignored;
    const std::filesystem::path file =
        (std::filesystem::is_directory(memory, ignored) ? memory : folder.path())
        / (folder.path().filename().string() + ".moire");
    const auto recorded = [&](trace::Level level) {
        RunOptions options = native.options();
        options.level = level;
        options.maxNew = decodedTokens;
        options.ignoreEnd = true;
        options.digestWeights = false;
        Prompt prompt;
        prompt.ids = promptIds(native.checkpoint());
        prompt.promptLength = static_cast<std::uint32_t>(prompt.ids.size());
        prompt.sample.id = "0";
        const std::span<const Prompt> prompts(&prompt, 1);
        const RunPlan plan = valueOrThrow(planRun(native.checkpoint(), options, prompts));
        store::WriterOptions writing;
        writing.expectedRows = plan.rows;
        const auto writer = valueOrThrow(store::Writer::create(file, plan.header, writing));
        base::Progress progress;
        throwIfFailed(runModel(native.model(), native.checkpoint(), options, plan, prompts, *writer,
                               {}, progress));
    };
    const auto best = bestOf(recordRounds, {[&] { native.run(decodedTokens); },
                                            [&] { recorded(trace::Level::Digest); },
                                            [&] { recorded(trace::Level::Full); }});
    std::filesystem::remove(file, ignored);
    print("prefill 256 and decode 64 tokens, recorded at level digest, against no taps", best[1],
          best[0], best[1] / best[0], 1.15, bench::Sense::Max);
    print("the same at level full, into memory", best[2], best[0], best[2] / best[0], 1.5,
          bench::Sense::Max);
}

void againstTransformers(const Untapped& native)
{
    const std::string& policy = native.options().policy;
    const auto prefill = bench::pythonSeconds(MOIRE_BENCH_TRANSFORMERS, policy + " 0");
    const auto whole = bench::pythonSeconds(MOIRE_BENCH_TRANSFORMERS,
                                            policy + ' ' + std::to_string(decodedTokens));
    if (!prefill || !whole) {
        std::printf("Not measured against transformers (%s): %s\n", policy.c_str(),
                    "its Python has no torch and transformers");
        return;
    }
    const auto best =
        bestOf(recordRounds, {[&] { native.run(0); }, [&] { native.run(decodedTokens); }});
    print("prefill 256 tokens, " + policy + ", against transformers", best[0], *prefill,
          best[0] / *prefill, 1.0, bench::Sense::Max);
    print("decode 64 tokens, " + policy + ", against transformers", best[1] - best[0],
          *whole - *prefill, (best[1] - best[0]) / (*whole - *prefill), 1.0, bench::Sense::Max);
}

int runBench()
{
    const c10::NoGradGuard noGradients;
    {
        const Untapped native("fp32", "native");
        prefillAgainstMatmuls(native);
        orderedAgainstNative(native);
        recordedAgainstUntapped(native);
        againstTransformers(native);
    }
    // LibTorch 1 has no 16-bit product of its own that one would want to measure.
    if (TORCH_VERSION_MAJOR >= 2)
        againstTransformers(Untapped("bf16", "native"));
    return 0;
}

} // namespace

int main()
{
    try {
        return runBench();
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "%s\n", exception.what());
        return 2;
    }
}
