// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/policy.h"
#include "capture/engine/tree_shape.h"
#include "capture/model/model_plan.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

struct RunOptions;

/// How the partial products of the ranks are put together (TENSOR_PARALLEL.md).
enum class Reduction : std::uint8_t
{
    None, ///< one rank and no tree: the arithmetic's own product
    Seq,
    OneShot,
    TwoShot,
    Ring,
    Auto,
    TreeA,
    TreeB,
    TreeC
};
std::string_view nameOf(Reduction reduction);

/// Tensor parallelism of a run: in how many parts the inner index of its row-parallel layers is
/// cut, and how the parts are summed.
struct ParallelPlan
{
    std::uint32_t size = 1;
    Reduction reduction = Reduction::None;
    std::uint32_t treeLeaf = 0; ///< 0: that of the paper for the dtype

    /// From the words of the command line; every size fits some model. Errors: Invalid (unknown
    /// word, a tree over no power of two, a leaf without a tree).
    static Result<ParallelPlan> of(const RunOptions& options);

    bool isTree() const { return reduction >= Reduction::TreeA; }
    /// Whether row-parallel layers are made in another way than all others.
    bool isActive() const { return reduction != Reduction::None; }
    /// Inner indices of a leaf: 256 for 16-bit dtypes, 128 for fp32 (arXiv 2511.17826, table 5),
    /// unless the plan says otherwise.
    std::uint32_t leafOf(numeric::DType dtype) const;
    /// Only for the trees.
    TreeContract contract() const;
    /// What the ranks send: fp32 in tree-c, else the layer's own dtype.
    numeric::DType wireType(numeric::DType layerType) const;

    friend bool operator==(const ParallelPlan&, const ParallelPlan&) = default;
};

/// A layer that tensor parallelism cuts along its inner index.
struct RowParallelLayer
{
    std::string module; ///< "model.layers.0.mlp.experts.*.down_proj" stands for every expert's
    std::uint32_t inputs = 0;
    numeric::DType dtype = numeric::DType::FP32;
};
std::vector<RowParallelLayer> rowParallelLayers(const ModelPlan& model, const Policy& policy);

/// Errors: Unsupported names the first layer that the plan cannot serve, its inner index, leaf and
/// largest size, and what would work.
Result<void> checkParallel(const ParallelPlan& plan, const ModelPlan& model, const Policy& policy);

/// For the environment: "none", "ring", "tree-a, leaf 256", "tree-b, leaf 128 and 256".
std::string reductionText(const ParallelPlan& plan, const ModelPlan& model, const Policy& policy);

} // namespace moire::capture
