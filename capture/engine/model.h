// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/device_choice.h"
#include "capture/engine/k_plan.h"
#include "capture/engine/operations.h"
#include "capture/engine/parallel_plan.h"
#include "capture/engine/policy.h"
#include "capture/engine/runner.h"
#include "capture/model/model_plan.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace moire::capture {

struct MlpLayers
{
    std::unique_ptr<LinearLayer> gate, up, down; ///< gate: null where the MLP has none
    at::ScalarType activationType = at::kFloat;  ///< in which the activation computes
};

/// Vectors by id or position.
struct VectorTable
{
    at::Tensor weight;                 ///< entries × hidden; undefined: there is no such table
    at::ScalarType dtype = at::kFloat; ///< of its output
};

/// The weights of one decoder layer; what the plan does not have is null or undefined.
struct DecoderLayer
{
    NormLayer inputNorm, postNorm, mlpNorm, qNorm, kNorm;
    std::unique_ptr<LinearLayer> qkv, q, k, v, o;
    MlpLayers dense;
    std::unique_ptr<LinearLayer> router, sharedGate;
    std::vector<MlpLayers> experts;
    MlpLayers shared;
    at::ScalarType attentionType = at::kFloat; ///< of rotation, cache, scores and weighted values
    at::ScalarType expertType = at::kFloat;
};

/// A model's weights on their device, each in the dtype of its module, with the operations that
/// they were prepared for. Weights whose stored dtype is the policy's stay in the mapped file.
/// Every linear layer converts its input to the dtype that its module computes in.
/// One run at a time: the operations' threads are shared.
class Model
{
public:
    static Result<std::shared_ptr<const Model>> load(const Checkpoint& checkpoint,
                                                     const RunOptions& options);
    /// As the library names it.
    static at::Device placeOf(const DeviceChoice& device);

    const ModelPlan& plan() const { return m_plan; }
    const Policy& policy() const { return m_policy; }
    const std::string& arithmetic() const { return m_arithmetic; }
    const std::string& attention() const { return m_attention; }
    const KPlan& kPlan() const { return m_kPlan; }
    const ParallelPlan& parallel() const { return m_parallel; }
    at::Device device() const { return m_device; }
    Operations& operations() const { return *m_operations; }

    const VectorTable& embedding() const { return m_embedding; }
    /// Learned positions.
    const VectorTable& positions() const { return m_positions; }
    /// Of the rotary tables as they are made; each attention converts them to its own.
    at::ScalarType rotaryType() const { return m_rotaryType; }
    /// A layer each.
    std::vector<at::ScalarType> cacheTypes() const;
    /// headDim / 2, fp32, for a pass up to position length − 1.
    at::Tensor inverseFrequencies(std::int64_t length) const;
    const std::vector<DecoderLayer>& layers() const { return m_layers; }
    const NormLayer& finalNorm() const { return m_finalNorm; }
    const LinearLayer& head() const { return *m_head; }

private:
    class Loader;
    Model(ModelPlan plan, Policy policy, at::Device device)
        : m_plan(std::move(plan))
        , m_policy(std::move(policy))
        , m_device(device)
    {}

    ModelPlan m_plan;
    Policy m_policy;
    at::Device m_device;
    std::string m_arithmetic;
    std::string m_attention;
    KPlan m_kPlan;
    ParallelPlan m_parallel;
    std::unique_ptr<Operations> m_operations;
    VectorTable m_embedding;
    VectorTable m_positions;
    at::ScalarType m_rotaryType = at::kFloat;
    at::Tensor m_inverseFrequencies; ///< where they do not depend on the length
    std::vector<DecoderLayer> m_layers;
    NormLayer m_finalNorm;
    std::unique_ptr<LinearLayer> m_head;
};

} // namespace moire::capture
