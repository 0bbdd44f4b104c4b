// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/model.h"

#include "capture/engine/device_choice.h"
#include "capture/engine/failure.h"
#include "capture/engine/rope.h"
#include "capture/engine/row_parallel.h"
#include "capture/model/module_names.h"
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

/// A layer of a module: what it is given becomes the dtype that the module computes in.
class ModuleLinear : public LinearLayer
{
public:
    ModuleLinear(std::unique_ptr<LinearLayer> layer, at::ScalarType dtype)
        : m_layer(std::move(layer))
        , m_dtype(dtype)
    {}

    at::Tensor apply(const at::Tensor& x) const override { return m_layer->apply(x.to(m_dtype)); }
    at::Tensor applyWithPartials(const at::Tensor& x,
                                 std::vector<at::Tensor>& partials) const override
    {
        return m_layer->applyWithPartials(x.to(m_dtype), partials);
    }

private:
    std::unique_ptr<LinearLayer> m_layer;
    at::ScalarType m_dtype;
};

} // namespace

/// Takes tensors out of the checkpoint by their hub names and puts them into the model. Failures
/// are thrown as Failure and end in load().
class Model::Loader
{
public:
    Loader(const Weights& weights, Model& model)
        : m_weights(weights)
        , m_model(model)
        , m_plan(model.m_plan)
        , m_names(moduleNames(model.m_plan.names))
    {}
    void loadAll();

private:
    Precision precisionOf(std::string_view module) const
    {
        return m_model.m_policy.precisionOf(module);
    }
    at::ScalarType typeOf(std::string_view module) const
    {
        return scalarTypeOf(precisionOf(module).compute);
    }
    /// Rounded to the weights' dtype, kept in the one that is held.
    at::Tensor tensor(const std::string& path, Precision precision) const
    {
        const at::Tensor stored =
            tensorOver(valueOrThrow(m_weights.load(hubName(m_plan.names, path))));
        return stored.to(m_model.m_device, scalarTypeOf(precision.weights))
            .to(scalarTypeOf(precision.held()))
            .contiguous();
    }
    std::unique_ptr<LinearLayer> ofModule(const std::string& module,
                                          std::unique_ptr<LinearLayer> layer) const
    {
        return std::make_unique<ModuleLinear>(std::move(layer), typeOf(module));
    }
    /// The layer of a module, its tensors below another path where an expert shares the module.
    std::unique_ptr<LinearLayer> linear(const std::string& module, const std::string& path,
                                        bool hasBias) const
    {
        const Precision precision = precisionOf(module);
        auto layer = m_model.m_operations->makeLinear(linearWeight(path, precision),
                                                      hasBias ? tensor(path + ".bias", precision)
                                                              : at::Tensor());
        release(path);
        return ofModule(module, std::move(layer));
    }
    /// Of a weight that its layer may have copied.
    void release(const std::string& path) const
    {
        m_weights.release(hubName(m_plan.names, path + ".weight"));
    }
    /// out × in.
    at::Tensor linearWeight(const std::string& path, Precision precision) const
    {
        const at::Tensor weight = tensor(path + ".weight", precision);
        return m_plan.transposedWeights ? weight.t().contiguous() : weight;
    }
    /// One that tensor parallelism cuts along its inputs (rowParallelLayers()).
    std::unique_ptr<LinearLayer> rowParallel(const std::string& module, const std::string& path,
                                             bool hasBias) const
    {
        const ParallelPlan& parallel = m_model.m_parallel;
        if (!parallel.isActive())
            return linear(module, path, hasBias);
        const Precision precision = precisionOf(module);
        Operations& operations = *m_model.m_operations;
        auto ranks =
            simulatedRanks(operations, parallel, linearWeight(path, precision), precision.compute);
        release(path);
        return ofModule(
            module, makeRowParallel(operations, parallel, std::move(ranks),
                                    hasBias ? tensor(path + ".bias", precision) : at::Tensor()));
    }
    std::unique_ptr<LinearLayer> linear(const std::string& module, bool hasBias) const
    {
        return linear(module, module, hasBias);
    }
    MlpLayers mlp(const std::string& module, const std::string& path, bool hasBias) const;
    NormLayer norm(const std::string& module) const;
    VectorTable table(std::string_view module) const;
    void attention(const std::string& path, DecoderLayer& layer) const;
    void sparse(const std::string& path, DecoderLayer& layer) const;
    DecoderLayer layer(std::size_t index) const;
    std::unique_ptr<LinearLayer> head() const;

    const Weights& m_weights;
    Model& m_model;
    const ModelPlan& m_plan;
    const ModuleNames& m_names;
};

namespace {

std::string below(const std::string& path, std::string_view module)
{
    return path + "." + std::string(module);
}

} // namespace

/// Its modules below `path`, in the dtype of `module` where that is one for all (experts), else
/// each in its own.
MlpLayers Model::Loader::mlp(const std::string& module, const std::string& path, bool hasBias) const
{
    const auto part = [&](std::string_view name) {
        const std::string own = below(path, name);
        return linear(module.empty() ? own : module, own, hasBias);
    };
    MlpLayers layers;
    if (m_plan.mlp == MlpKind::Gated)
        layers.gate = part(m_names.gate);
    layers.up = part(m_names.up);
    const std::string down = below(path, m_names.down);
    layers.down = rowParallel(module.empty() ? down : module, down, hasBias);
    layers.activationType = typeOf(module.empty() ? below(path, m_names.activation) : module);
    return layers;
}

NormLayer Model::Loader::norm(const std::string& module) const
{
    const Precision precision = precisionOf(module);
    NormLayer layer{m_plan.norm, m_plan.normEps, {}, {}, typeOf(module)};
    if (m_plan.norm != NormKind::LayerNormPlain)
        layer.weight = tensor(module + ".weight", precision).to(layer.dtype);
    if (m_plan.norm == NormKind::LayerNorm)
        layer.bias = tensor(module + ".bias", precision).to(layer.dtype);
    return layer;
}

VectorTable Model::Loader::table(std::string_view module) const
{
    return {tensor(std::string(module) + ".weight", precisionOf(module)), typeOf(module)};
}

void Model::Loader::attention(const std::string& path, DecoderLayer& layer) const
{
    if (m_plan.fusedQkv) {
        layer.qkv = linear(below(path, m_names.qkv), m_plan.qkvBias);
    } else {
        layer.q = linear(below(path, m_names.q), m_plan.qkvBias);
        layer.k = linear(below(path, m_names.k), m_plan.qkvBias);
        layer.v = linear(below(path, m_names.v), m_plan.qkvBias);
    }
    if (m_plan.qkNorm != QkNorm::None) {
        layer.qNorm = norm(below(path, m_names.qNorm));
        layer.kNorm = norm(below(path, m_names.kNorm));
    }
    const std::string o = below(path, m_names.o);
    layer.o = rowParallel(o, o, m_plan.outBias);
    layer.attentionType = typeOf(path);
}

void Model::Loader::sparse(const std::string& path, DecoderLayer& layer) const
{
    const std::string module = path + ".experts";
    layer.router = linear(path + ".gate", false);
    layer.expertType = typeOf(module);
    for (std::size_t e = 0; e < m_plan.moe->experts; ++e)
        layer.experts.push_back(mlp(module, module + "." + std::to_string(e), false));
    if (m_plan.moe->sharedWidth == 0)
        return;
    layer.shared = mlp({}, path + ".shared_expert", false);
    layer.sharedGate = linear(path + ".shared_expert_gate", false);
}

DecoderLayer Model::Loader::layer(std::size_t index) const
{
    const std::string path = layerPath(m_plan.names, index);
    const bool before = m_plan.normPlace == NormPlace::BeforeBlocks;
    DecoderLayer result;
    if (before)
        result.inputNorm = norm(below(path, m_names.inputNorm));
    else
        result.mlpNorm = norm(below(path, m_names.mlpNorm));
    result.postNorm = norm(below(path, m_names.postNorm));
    attention(below(path, m_names.attention), result);
    if (m_plan.layers[index].sparse)
        sparse(path + ".mlp", result);
    else
        result.dense = mlp({}, path + ".mlp", m_plan.mlpBias);
    return result;
}

/// A tied head is the embedding, [out, in] in every family.
std::unique_ptr<LinearLayer> Model::Loader::head() const
{
    const std::string module = "lm_head";
    return ofModule(module, m_model.m_operations->makeLinear(
                                tensor(headTensor(m_plan), precisionOf(module)), {}));
}

void Model::Loader::loadAll()
{
    if (m_plan.rope.kind != RopeKind::None && m_plan.rope.scaling != RopeScaling::Dynamic)
        m_model.m_inverseFrequencies = m_model.inverseFrequencies(0);
    m_model.m_rotaryType = typeOf(m_names.rotary);
    m_model.m_embedding = table(m_names.embedding);
    if (m_plan.learnedPositions)
        m_model.m_positions = table(m_names.positions);
    for (std::size_t index = 0; index < m_plan.layers.size(); ++index)
        m_model.m_layers.push_back(layer(index));
    m_model.m_finalNorm = norm(std::string(m_names.finalNorm));
    m_model.m_head = head();
}

at::Tensor Model::inverseFrequencies(std::int64_t length) const
{
    if (m_inverseFrequencies.defined())
        return m_inverseFrequencies;
    const auto frequencies = capture::inverseFrequencies(m_plan.rope, m_plan.headDim, length);
    return at::tensor(at::ArrayRef<float>(frequencies), at::kFloat).to(m_device);
}

std::vector<at::ScalarType> Model::cacheTypes() const
{
    std::vector<at::ScalarType> types;
    for (const DecoderLayer& layer : m_layers)
        types.push_back(layer.attentionType);
    return types;
}

at::Device Model::placeOf(const DeviceChoice& device)
{
    if (device.kind == DeviceChoice::Kind::Cpu)
        return at::Device(at::kCPU);
    return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device.index));
}

Result<std::shared_ptr<const Model>> Model::load(const Checkpoint& checkpoint,
                                                 const RunOptions& options)
{
    const auto policy = Policy::of(options, checkpoint.plan);
    if (!policy)
        return policy.error();
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    const auto parallel = ParallelPlan::of(options);
    if (!parallel)
        return parallel.error();
    const auto kPlan = KPlan::parse(options.kPlan);
    if (!kPlan)
        return kPlan.error();
    return atEdge([&]() -> Result<std::shared_ptr<const Model>> {
        const std::shared_ptr<Model> model(new Model(checkpoint.plan, *policy, placeOf(*device)));
        model->m_arithmetic = options.arithmetic;
        model->m_kPlan = *kPlan;
        model->m_parallel = *parallel;
        if (model->m_plan.moe)
            model->m_plan.moe->order = options.expertOrder;
        model->m_operations =
            options.arithmetic == "ordered"
                ? makeOrderedOperations(options.threads, *kPlan)
                : makeNativeOperations(options.attention == "sdpa" ? AttentionKind::Sdpa
                                                                   : AttentionKind::Eager);
        model->m_attention = options.attention;
        model->m_operations->useThreads(options.threads);
        Loader(*checkpoint.weights, *model).loadAll();
        return std::shared_ptr<const Model>(model);
    });
}

} // namespace moire::capture
