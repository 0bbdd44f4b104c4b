// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/model.h"

#include "capture/engine/device_choice.h"
#include "capture/engine/failure.h"
#include "capture/engine/rope.h"
#include "capture/model/tensor_names.h"

#include <ATen/ATen.h>

namespace moire::capture {

namespace {

/// A weight's bytes as a tensor that shares them and keeps their owner.
at::Tensor tensorOver(const Weight& weight)
{
    // LibTorch takes no pointer to const; nothing writes to a weight.
    void* bytes = const_cast<std::byte*>(weight.bytes.data());
    return at::from_blob(
        bytes, weight.shape, [owner = weight.owner](void*) {},
        at::TensorOptions(scalarTypeOf(weight.dtype)));
}

} // namespace

/// Takes tensors out of the checkpoint by their hub names and puts them into the model. Failures
/// are thrown as Failure and end in load().
class Model::Loader
{
public:
    Loader(const Weights& weights, Model& model)
        : m_weights(weights)
        , m_model(model)
    {}
    void loadAll();

private:
    static constexpr std::string_view weightSuffix = ".weight";

    at::Tensor tensor(const std::string& name, numeric::DType dtype) const
    {
        const at::Tensor stored = tensorOver(valueOrThrow(m_weights.load(name)));
        return stored.to(m_model.m_device, scalarTypeOf(dtype)).contiguous();
    }
    std::unique_ptr<LinearLayer> linear(const std::string& module, const std::string& tensors,
                                        bool hasBias) const
    {
        const numeric::DType dtype = m_model.m_policy.dtypeOf(module);
        return m_model.m_operations->makeLinear(tensor(tensors + ".weight", dtype),
                                                hasBias ? tensor(tensors + ".bias", dtype)
                                                        : at::Tensor());
    }
    std::unique_ptr<LinearLayer> linear(const std::string& module, bool hasBias) const
    {
        return linear(module, module, hasBias);
    }
    NormLayer norm(const std::string& module) const
    {
        const NormKind kind = m_model.m_plan.norm;
        const numeric::DType dtype = m_model.m_policy.dtypeOf(module);
        NormLayer layer{kind, m_model.m_plan.normEps, {}, {}};
        if (kind != NormKind::LayerNormPlain)
            layer.weight = tensor(module + ".weight", dtype);
        if (kind == NormKind::LayerNorm)
            layer.bias = tensor(module + ".bias", dtype);
        return layer;
    }
    DecoderLayer layer(std::size_t index) const;

    const Weights& m_weights;
    Model& m_model;
};

DecoderLayer Model::Loader::layer(std::size_t index) const
{
    const ModelPlan& plan = m_model.m_plan;
    const auto name = [&](std::string_view rest) { return layerTensor(index, rest); };
    DecoderLayer result;
    result.inputNorm = norm(name("input_layernorm"));
    result.postNorm = norm(name("post_attention_layernorm"));
    result.q = linear(name("self_attn.q_proj"), plan.qkvBias);
    result.k = linear(name("self_attn.k_proj"), plan.qkvBias);
    result.v = linear(name("self_attn.v_proj"), plan.qkvBias);
    result.o = linear(name("self_attn.o_proj"), plan.outBias);
    if (plan.qkNorm != QkNorm::None) {
        result.qNorm = norm(name("self_attn.q_norm"));
        result.kNorm = norm(name("self_attn.k_norm"));
    }
    if (!plan.layers[index].sparse) {
        result.gate = linear(name("mlp.gate_proj"), plan.mlpBias);
        result.up = linear(name("mlp.up_proj"), plan.mlpBias);
        result.down = linear(name("mlp.down_proj"), plan.mlpBias);
        return result;
    }
    result.router = linear(name("mlp.gate"), false);
    const std::string module = name("mlp.experts");
    for (std::size_t e = 0; e < plan.moe->experts; ++e)
        result.experts.push_back({linear(module, expertTensor(index, e, "gate_proj"), false),
                                  linear(module, expertTensor(index, e, "up_proj"), false),
                                  linear(module, expertTensor(index, e, "down_proj"), false)});
    return result;
}

void Model::Loader::loadAll()
{
    const ModelPlan& plan = m_model.m_plan;
    const auto frequencies = valueOrThrow(capture::inverseFrequencies(plan.rope, plan.headDim));
    m_model.m_inverseFrequencies =
        at::tensor(at::ArrayRef<float>(frequencies), at::kFloat).to(m_model.m_device);
    m_model.m_embedding =
        tensor(std::string(embeddingTensor), m_model.m_policy.dtypeOf("model.embed_tokens"));
    for (std::size_t index = 0; index < plan.layers.size(); ++index)
        m_model.m_layers.push_back(layer(index));
    m_model.m_finalNorm = norm("model.norm");
    const std::string head = headTensor(plan);
    m_model.m_head = linear("lm_head", head.substr(0, head.size() - weightSuffix.size()), false);
}

Result<std::shared_ptr<const Model>> Model::load(const Checkpoint& checkpoint,
                                                 const RunOptions& options)
{
    const auto policy = Policy::parse(options.policy, checkpoint.plan);
    if (!policy)
        return policy.error();
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    return atEdge([&]() -> Result<std::shared_ptr<const Model>> {
        const at::Device place =
            device->kind == DeviceChoice::Kind::Cpu
                ? at::Device(at::kCPU)
                : at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device->index));
        const std::shared_ptr<Model> model(new Model(checkpoint.plan, *policy, place));
        model->m_arithmetic = options.arithmetic;
        model->m_operations = options.arithmetic == "ordered"
                                  ? makeOrderedOperations(options.threads)
                                  : makeNativeOperations();
        model->m_operations->useThreads(options.threads);
        Loader(*checkpoint.weights, *model).loadAll();
        return std::shared_ptr<const Model>(model);
    });
}

} // namespace moire::capture
