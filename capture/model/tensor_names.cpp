// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/tensor_names.h"

#include "capture/model/module_names.h"

#include <utility>

namespace moire::capture {

namespace {

/// Collects tensors by their modules' paths.
class TensorList
{
public:
    explicit TensorList(const ModelPlan& plan)
        : m_plan(plan)
    {}

    void add(const std::string& path, std::vector<std::int64_t> shape)
    {
        m_tensors.push_back({hubName(m_plan.names, path), std::move(shape)});
    }
    void linear(const std::string& module, std::int64_t out, std::int64_t in, bool bias)
    {
        if (m_plan.transposedWeights)
            add(module + ".weight", {in, out});
        else
            add(module + ".weight", {out, in});
        if (bias)
            add(module + ".bias", {out});
    }
    void norm(const std::string& module, std::int64_t width)
    {
        if (m_plan.norm == NormKind::LayerNormPlain)
            return;
        add(module + ".weight", {width});
        if (m_plan.norm == NormKind::LayerNorm)
            add(module + ".bias", {width});
    }
    std::vector<NeededTensor> take() { return std::move(m_tensors); }

private:
    const ModelPlan& m_plan;
    std::vector<NeededTensor> m_tensors;
};

std::string below(const std::string& path, std::string_view module)
{
    return path + "." + std::string(module);
}

void addMlp(TensorList& list, const ModelPlan& plan, const std::string& path, std::int64_t width,
            bool bias)
{
    const ModuleNames& names = moduleNames(plan.names);
    if (plan.mlp == MlpKind::Gated)
        list.linear(below(path, names.gate), width, plan.hidden, bias);
    list.linear(below(path, names.up), width, plan.hidden, bias);
    list.linear(below(path, names.down), plan.hidden, width, bias);
}

void addAttention(TensorList& list, const ModelPlan& plan, const std::string& path)
{
    const ModuleNames& names = moduleNames(plan.names);
    const auto queryWidth = std::int64_t{plan.heads} * plan.headDim;
    const auto keyWidth = std::int64_t{plan.kvHeads} * plan.headDim;
    if (plan.fusedQkv) {
        list.linear(below(path, names.qkv), queryWidth + 2 * keyWidth, plan.hidden, plan.qkvBias);
    } else {
        list.linear(below(path, names.q), queryWidth, plan.hidden, plan.qkvBias);
        list.linear(below(path, names.k), keyWidth, plan.hidden, plan.qkvBias);
        list.linear(below(path, names.v), keyWidth, plan.hidden, plan.qkvBias);
    }
    if (plan.qkNorm != QkNorm::None) {
        const bool perHead = plan.qkNorm == QkNorm::PerHead;
        list.norm(below(path, names.qNorm), perHead ? plan.headDim : queryWidth);
        list.norm(below(path, names.kNorm), perHead ? plan.headDim : keyWidth);
    }
    list.linear(below(path, names.o), plan.hidden, queryWidth, plan.outBias);
}

void addExperts(TensorList& list, const ModelPlan& plan, const std::string& path)
{
    const MoePlan& moe = *plan.moe;
    list.linear(path + ".gate", moe.experts, plan.hidden, false);
    for (std::uint32_t expert = 0; expert < moe.experts; ++expert)
        addMlp(list, plan, path + ".experts." + std::to_string(expert), moe.expertWidth, false);
    if (moe.sharedWidth == 0)
        return;
    addMlp(list, plan, path + ".shared_expert", moe.sharedWidth, false);
    list.linear(path + ".shared_expert_gate", 1, plan.hidden, false);
}

} // namespace

std::string layerTensor(std::size_t layer, std::string_view rest)
{
    return layerPath(NameStyle::Llama, layer) + "." + std::string(rest);
}

std::string embeddingTensor(const ModelPlan& plan)
{
    return hubName(plan.names, std::string(moduleNames(plan.names).embedding) + ".weight");
}

std::string headTensor(const ModelPlan& plan)
{
    return plan.tiedHead ? embeddingTensor(plan) : "lm_head.weight";
}

std::vector<NeededTensor> layerTensors(const ModelPlan& plan, std::size_t layer)
{
    const ModuleNames& names = moduleNames(plan.names);
    const std::string path = layerPath(plan.names, layer);
    TensorList list(plan);
    const bool before = plan.normPlace == NormPlace::BeforeBlocks;
    if (before)
        list.norm(below(path, names.inputNorm), plan.hidden);
    addAttention(list, plan, below(path, names.attention));
    list.norm(below(path, names.postNorm), plan.hidden);
    if (plan.layers[layer].sparse)
        addExperts(list, plan, path + ".mlp");
    else
        addMlp(list, plan, path + ".mlp", plan.mlpWidth, plan.mlpBias);
    if (!before)
        list.norm(below(path, names.mlpNorm), plan.hidden);
    return list.take();
}

std::vector<NeededTensor> outerTensors(const ModelPlan& plan)
{
    const ModuleNames& names = moduleNames(plan.names);
    TensorList list(plan);
    list.add(std::string(names.embedding) + ".weight", {plan.vocabulary, plan.hidden});
    if (plan.learnedPositions)
        list.add(std::string(names.positions) + ".weight", {plan.context, plan.hidden});
    list.norm(std::string(names.finalNorm), plan.hidden);
    if (!plan.tiedHead)
        list.add("lm_head.weight", {plan.vocabulary, plan.hidden});
    return list.take();
}

} // namespace moire::capture
