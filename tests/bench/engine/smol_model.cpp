// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/engine/smol_model.h"

#include "capture/engine/operations.h"
#include "capture/model/tensor_names.h"
#include "core/numeric/digest.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

namespace moire::bench {

namespace {

using namespace moire::capture;

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

class RandomWeights : public Weights
{
public:
    RandomWeights(const ModelPlan& plan, numeric::DType dtype)
        : m_dtype(dtype)
    {
        std::vector<NeededTensor> needed = outerTensors(plan);
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
            for (NeededTensor& tensor : layerTensors(plan, layer))
                needed.push_back(std::move(tensor));
        for (const NeededTensor& tensor : needed) {
            m_entries.push_back({tensor.name, dtype, tensor.shape});
            m_tensors.push_back(
                randomTensor(tensor.shape, m_tensors.size()).to(scalarTypeOf(dtype)));
        }
    }

    const std::vector<Entry>& entries() const override { return m_entries; }

    Result<Weight> load(std::string_view name) const override
    {
        for (std::size_t i = 0; i < m_entries.size(); ++i)
            if (m_entries[i].name == name) {
                const auto owner = std::make_shared<at::Tensor>(m_tensors[i]);
                return Weight{
                    m_dtype, m_entries[i].shape,
                    std::span(static_cast<const std::byte*>(owner->data_ptr()), owner->nbytes()),
                    owner};
            }
        return Error{Errc::NotFound, "no such tensor", std::string(name), {}};
    }

private:
    /// From a counter.
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

    numeric::DType m_dtype;
    std::vector<Entry> m_entries;
    std::vector<at::Tensor> m_tensors;
};

} // namespace

capture::Checkpoint smolCheckpoint(numeric::DType dtype)
{
    capture::Checkpoint checkpoint;
    checkpoint.plan = smolPlan();
    checkpoint.plan.dtype = dtype;
    checkpoint.weights = std::make_shared<RandomWeights>(checkpoint.plan, dtype);
    return checkpoint;
}

} // namespace moire::bench
