// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/failure.h"
#include "capture/engine/forward.h"
#include "capture/model/tensor_names.h"
#include "core/numeric/digest.h"
#include "tests/bench/figure.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace moire;
using namespace moire::capture;

namespace {

constexpr std::int64_t promptTokens = 256;
constexpr int repetitions = 9;

/// SmolLM2-135M's shapes.
ModelPlan smolPlan()
{
    ModelPlan plan;
    plan.name = "SmolLM2-135M shapes";
    plan.architecture = "LlamaForCausalLM";
    plan.hidden = 576;
    plan.heads = 9;
    plan.kvHeads = 3;
    plan.headDim = 64;
    plan.mlpWidth = 1536;
    plan.vocabulary = 49152;
    plan.context = 2048;
    plan.layers.resize(30);
    plan.rope.theta = 100000.0;
    plan.tiedHead = true;
    return plan;
}

/// Every tensor of a plan with random values of a standard deviation that keeps activations finite.
class RandomWeights : public Weights
{
public:
    explicit RandomWeights(const ModelPlan& plan)
    {
        std::vector<NeededTensor> needed = outerTensors(plan);
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
            for (NeededTensor& tensor : layerTensors(plan, layer))
                needed.push_back(std::move(tensor));
        for (const NeededTensor& tensor : needed) {
            m_entries.push_back({tensor.name, numeric::DType::FP32, tensor.shape});
            m_tensors.push_back(randomTensor(tensor.shape, m_tensors.size()));
        }
    }

    const std::vector<Entry>& entries() const override { return m_entries; }

    Result<Weight> load(std::string_view name) const override
    {
        for (std::size_t i = 0; i < m_entries.size(); ++i)
            if (m_entries[i].name == name) {
                const auto owner = std::make_shared<at::Tensor>(m_tensors[i]);
                return Weight{
                    numeric::DType::FP32, m_entries[i].shape,
                    std::span(static_cast<const std::byte*>(owner->data_ptr()), owner->nbytes()),
                    owner};
            }
        return Error{Errc::NotFound, "no such tensor", std::string(name), {}};
    }

private:
    /// Uniform in ± 0.05, from a counter.
    static at::Tensor randomTensor(const std::vector<std::int64_t>& shape, std::uint64_t seed)
    {
        at::Tensor tensor = at::empty(shape, at::kFloat);
        auto* values = tensor.data_ptr<float>();
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            const std::uint64_t bits =
                numeric::mix64((seed << 32U) + static_cast<std::uint64_t>(i));
            values[i] = (static_cast<float>(bits >> 40U) * 0x1p-24F - 0.5F) * 0.1F;
        }
        return tensor;
    }

    std::vector<Entry> m_entries;
    std::vector<at::Tensor> m_tensors;
};

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

int runBench()
{
    const c10::NoGradGuard noGradients;
    Checkpoint checkpoint;
    checkpoint.plan = smolPlan();
    checkpoint.weights = std::make_shared<RandomWeights>(checkpoint.plan);
    RunOptions options;
    options.policy = "fp32";
    const auto model = valueOrThrow(loadModel(checkpoint, options));
    const TapPlan taps = TapPlan::of(model->plan(), model->policy());
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < promptTokens; ++i)
        ids.push_back(i * 191 % static_cast<std::int32_t>(checkpoint.plan.vocabulary));
    const PlainChain chain(checkpoint.plan, *checkpoint.weights);

    const auto prefill = [&] {
        KvCache cache(model->cacheTypes(), checkpoint.plan.kvHeads, checkpoint.plan.headDim,
                      promptTokens, model->device());
        const Piece piece{ids, &cache};
        Forward(*model, taps, nullptr).run(std::span(&piece, 1));
    };
    // In turn, so that a change of the machine's load meets both.
    std::vector<double> ours;
    std::vector<double> plain;
    for (int i = 0; i <= repetitions; ++i) {
        const double chainSeconds = bench::secondsOf([&] { chain.run(); });
        const double prefillSeconds = bench::secondsOf(prefill);
        if (i > 0) { // the first round warms up
            plain.push_back(chainSeconds);
            ours.push_back(prefillSeconds);
        }
    }
    const double best = *std::min_element(ours.begin(), ours.end());
    const double other = *std::min_element(plain.begin(), plain.end());
    bench::printFigure("prefill 256 tokens, SmolLM2 shapes, fp32, taps off, against its matmuls",
                       "s", best, other, best / other, 1.2, bench::Sense::Max);
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
