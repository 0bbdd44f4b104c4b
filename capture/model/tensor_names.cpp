// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/tensor_names.h"

#include <utility>

namespace moire::capture {

namespace {

/// Collects the tensors of one layer.
class LayerList
{
public:
    explicit LayerList(std::size_t layer)
        : m_layer(layer)
    {}

    void vector(const std::string& name, std::int64_t width)
    {
        m_tensors.push_back({layerTensor(m_layer, name), {width}});
    }
    void linear(const std::string& module, std::int64_t out, std::int64_t in, bool bias)
    {
        m_tensors.push_back({layerTensor(m_layer, module + ".weight"), {out, in}});
        if (bias)
            vector(module + ".bias", out);
    }
    void norm(const ModelPlan& plan, const std::string& module, std::int64_t width)
    {
        if (plan.norm == NormKind::LayerNormPlain)
            return;
        vector(module + ".weight", width);
        if (plan.norm == NormKind::LayerNorm)
            vector(module + ".bias", width);
    }
    std::vector<NeededTensor> take() { return std::move(m_tensors); }

private:
    std::size_t m_layer;
    std::vector<NeededTensor> m_tensors;
};

void addMlp(LayerList& list, const ModelPlan& plan, const std::string& module, std::int64_t width,
            bool bias)
{
    if (plan.mlp == MlpKind::Gated)
        list.linear(module + ".gate_proj", width, plan.hidden, bias);
    list.linear(module + ".up_proj", width, plan.hidden, bias);
    list.linear(module + ".down_proj", plan.hidden, width, bias);
}

void addAttention(LayerList& list, const ModelPlan& plan)
{
    const auto queryWidth = std::int64_t{plan.heads} * plan.headDim;
    const auto keyWidth = std::int64_t{plan.kvHeads} * plan.headDim;
    list.linear("self_attn.q_proj", queryWidth, plan.hidden, plan.qkvBias);
    list.linear("self_attn.k_proj", keyWidth, plan.hidden, plan.qkvBias);
    list.linear("self_attn.v_proj", keyWidth, plan.hidden, plan.qkvBias);
    if (plan.qkNorm != QkNorm::None) {
        const bool perHead = plan.qkNorm == QkNorm::PerHead;
        list.vector("self_attn.q_norm.weight", perHead ? plan.headDim : queryWidth);
        list.vector("self_attn.k_norm.weight", perHead ? plan.headDim : keyWidth);
    }
    list.linear("self_attn.o_proj", plan.hidden, queryWidth, plan.outBias);
}

void addExperts(LayerList& list, const ModelPlan& plan)
{
    const MoePlan& moe = *plan.moe;
    list.linear("mlp.gate", moe.experts, plan.hidden, false);
    for (std::uint32_t expert = 0; expert < moe.experts; ++expert)
        addMlp(list, plan, "mlp.experts." + std::to_string(expert), moe.expertWidth, false);
    if (moe.sharedWidth == 0)
        return;
    addMlp(list, plan, "mlp.shared_expert", moe.sharedWidth, false);
    list.linear("mlp.shared_expert_gate", 1, plan.hidden, false);
}

} // namespace

std::string layerTensor(std::size_t layer, std::string_view rest)
{
    return "model.layers." + std::to_string(layer) + "." + std::string(rest);
}

std::string expertTensor(std::size_t layer, std::size_t expert, std::string_view rest)
{
    return layerTensor(layer, "mlp.experts." + std::to_string(expert) + "." + std::string(rest));
}

std::string headTensor(const ModelPlan& plan)
{
    return plan.tiedHead ? std::string(embeddingTensor) : "lm_head.weight";
}

std::vector<NeededTensor> layerTensors(const ModelPlan& plan, std::size_t layer)
{
    LayerList list(layer);
    const bool before = plan.normPlace == NormPlace::BeforeBlocks;
    if (before)
        list.norm(plan, "input_layernorm", plan.hidden);
    addAttention(list, plan);
    list.norm(plan, "post_attention_layernorm", plan.hidden);
    if (plan.layers[layer].sparse)
        addExperts(list, plan);
    else
        addMlp(list, plan, "mlp", plan.mlpWidth, plan.mlpBias);
    if (!before)
        list.norm(plan, "post_feedforward_layernorm", plan.hidden);
    return list.take();
}

std::vector<NeededTensor> outerTensors(const ModelPlan& plan)
{
    std::vector<NeededTensor> outer;
    outer.push_back({std::string(embeddingTensor), {plan.vocabulary, plan.hidden}});
    if (plan.norm != NormKind::LayerNormPlain)
        outer.push_back({std::string(finalNormTensor), {plan.hidden}});
    if (plan.norm == NormKind::LayerNorm)
        outer.push_back({"model.norm.bias", {plan.hidden}});
    if (!plan.tiedHead)
        outer.push_back({headTensor(plan), {plan.vocabulary, plan.hidden}});
    return outer;
}

} // namespace moire::capture
