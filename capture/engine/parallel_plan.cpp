// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/parallel_plan.h"

#include "capture/engine/runner.h"
#include "capture/model/module_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

namespace moire::capture {

using numeric::DType;

namespace {

struct ReductionName
{
    Reduction reduction;
    std::string_view name;
};
constexpr std::array names{
    ReductionName{Reduction::Seq, "seq"},         ReductionName{Reduction::OneShot, "oneshot"},
    ReductionName{Reduction::TwoShot, "twoshot"}, ReductionName{Reduction::Ring, "ring"},
    ReductionName{Reduction::Auto, "auto"},       ReductionName{Reduction::TreeA, "tree-a"},
    ReductionName{Reduction::TreeB, "tree-b"},    ReductionName{Reduction::TreeC, "tree-c"}};

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

/// What a plan cannot do with a layer, as the end of a sentence; nothing where it can.
std::optional<std::string> obstacle(const ParallelPlan& plan, const RowParallelLayer& layer)
{
    const std::string inner = "its inner index of " + std::to_string(layer.inputs);
    if (!plan.isTree()) {
        if (layer.inputs % plan.size == 0)
            return {};
        return inner + " does not divide into " + std::to_string(plan.size) + " equal parts";
    }
    const std::uint32_t leaf = plan.leafOf(layer.dtype);
    const std::string leaves = "leaves of " + std::to_string(leaf);
    const TreeShape shape = TreeShape::of(layer.inputs, leaf);
    if (shape.leaves == 0)
        return inner + " is not a whole number of " + leaves;
    if (shape.maxRanks % plan.size == 0)
        return {};
    return inner + " has " + std::to_string(shape.leaves) + ' ' + leaves
           + ", which form whole subtrees for at most " + std::to_string(shape.maxRanks)
           + (shape.maxRanks == 1 ? " rank" : " ranks");
}

bool serves(const ParallelPlan& plan, const std::vector<RowParallelLayer>& layers)
{
    return std::none_of(layers.begin(), layers.end(), [&](const RowParallelLayer& layer) {
        return obstacle(plan, layer).has_value();
    });
}

/// The largest leaf, a power of two, that serves this size.
std::optional<std::uint32_t> leafThatServes(ParallelPlan plan,
                                            const std::vector<RowParallelLayer>& layers)
{
    constexpr std::uint32_t largestLeaf = 256;
    for (plan.treeLeaf = largestLeaf; plan.treeLeaf > 0; plan.treeLeaf /= 2)
        if (serves(plan, layers))
            return plan.treeLeaf;
    return {};
}

/// The largest size, below the one asked for, that this plan serves.
std::optional<std::uint32_t> sizeThatServes(ParallelPlan plan,
                                            const std::vector<RowParallelLayer>& layers)
{
    while (--plan.size > 0)
        if (serves(plan, layers))
            return plan.size;
    return {};
}

std::string whatWorks(const ParallelPlan& plan, const std::vector<RowParallelLayer>& layers)
{
    std::string text;
    if (const auto size = sizeThatServes(plan, layers))
        text = "--tp " + std::to_string(*size) + " works here";
    if (const auto leaf = plan.isTree() ? leafThatServes(plan, layers) : std::nullopt) {
        const std::string option = "--tree-leaf " + std::to_string(*leaf);
        text += text.empty() ? option + " works here" : ", and so does " + option;
    }
    return text.empty() ? "No tree serves this model; take seq, oneshot, twoshot, ring or auto"
                        : text;
}

} // namespace

std::string_view nameOf(Reduction reduction)
{
    const auto found = std::find_if(names.begin(), names.end(), [&](const ReductionName& entry) {
        return entry.reduction == reduction;
    });
    return found == names.end() ? "none" : found->name;
}

Result<ParallelPlan> ParallelPlan::of(const RunOptions& options)
{
    ParallelPlan plan;
    plan.size = options.tensorParallel;
    plan.treeLeaf = options.treeLeaf;
    constexpr std::uint32_t mostRanks = 1024;
    if (plan.size == 0 || plan.size > mostRanks)
        return invalid("tensor parallelism over " + std::to_string(plan.size)
                           + " ranks makes no sense",
                       "Take --tp 1 to " + std::to_string(mostRanks));
    const std::string_view word =
        options.reduce.empty() ? "auto" : std::string_view(options.reduce);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const ReductionName& entry) { return entry.name == word; });
    if (found == names.end())
        return invalid("unknown reduction '" + options.reduce + "'",
                       "The reductions are seq, oneshot, twoshot, ring, auto, tree-a, tree-b and "
                       "tree-c");
    plan.reduction = found->reduction;
    if (plan.treeLeaf > 0 && !plan.isTree())
        return invalid("--tree-leaf is the leaf of a tree, and the reduction is "
                           + std::string(nameOf(plan.reduction)),
                       "Leave it out, or take --reduce tree-a, tree-b or tree-c");
    if (plan.isTree() && !std::has_single_bit(plan.size))
        return invalid("a tree over " + std::to_string(plan.size)
                           + " ranks is impossible: it takes a power of two",
                       "Take --tp 1, 2, 4 or 8, or another reduction");
    if (plan.size == 1 && !plan.isTree())
        plan.reduction = Reduction::None;
    return plan;
}

std::uint32_t ParallelPlan::leafOf(DType dtype) const
{
    constexpr std::uint32_t narrowLeaf = 256;
    constexpr std::uint32_t wideLeaf = 128;
    if (treeLeaf > 0)
        return treeLeaf;
    return dtype == DType::FP32 ? wideLeaf : narrowLeaf;
}

TreeContract ParallelPlan::contract() const
{
    switch (reduction) {
    case Reduction::TreeB:
        return TreeContract::B;
    case Reduction::TreeC:
        return TreeContract::C;
    default:
        return TreeContract::A;
    }
}

DType ParallelPlan::wireType(DType layerType) const
{
    return reduction == Reduction::TreeC ? DType::FP32 : layerType;
}

std::vector<RowParallelLayer> rowParallelLayers(const ModelPlan& model, const Policy& policy)
{
    const ModuleNames& names = moduleNames(model.names);
    std::vector<RowParallelLayer> layers;
    const auto add = [&](const std::string& module, const std::string& decides,
                         std::uint32_t inputs) {
        layers.push_back({module, inputs, policy.dtypeOf(decides)});
    };
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const std::string path = layerPath(model.names, i);
        const std::string o =
            path + '.' + std::string(names.attention) + '.' + std::string(names.o);
        const std::string mlp = path + ".mlp";
        const std::string down = '.' + std::string(names.down);
        add(o, o, model.heads * model.headDim);
        if (!model.layers[i].sparse) {
            add(mlp + down, mlp + down, model.mlpWidth);
            continue;
        }
        add(mlp + ".experts.*" + down, mlp + ".experts", model.moe->expertWidth);
        const std::string shared = mlp + ".shared_expert" + down;
        if (model.moe->sharedWidth > 0)
            add(shared, shared, model.moe->sharedWidth);
    }
    return layers;
}

Result<void> checkParallel(const ParallelPlan& plan, const ModelPlan& model, const Policy& policy)
{
    if (!plan.isActive())
        return {};
    const auto layers = rowParallelLayers(model, policy);
    for (const RowParallelLayer& layer : layers)
        if (const auto reason = obstacle(plan, layer))
            return Error{Errc::Unsupported,
                         std::string(nameOf(plan.reduction)) + " over " + std::to_string(plan.size)
                             + (plan.size == 1 ? " rank" : " ranks") + " cannot serve "
                             + layer.module + ": " + *reason,
                         model.name, whatWorks(plan, layers)};
    return {};
}

std::string reductionText(const ParallelPlan& plan, const ModelPlan& model, const Policy& policy)
{
    std::string text(nameOf(plan.reduction));
    if (!plan.isTree())
        return text;
    std::set<std::uint32_t> leaves;
    for (const RowParallelLayer& layer : rowParallelLayers(model, policy))
        leaves.insert(plan.leafOf(layer.dtype));
    std::string_view before = ", leaf ";
    for (const std::uint32_t leaf : leaves) {
        text += before;
        text += std::to_string(leaf);
        before = " and ";
    }
    return text;
}

} // namespace moire::capture
