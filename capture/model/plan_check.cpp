// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/plan_check.h"

#include "capture/model/json_text.h"
#include "capture/model/module_names.h"
#include "capture/model/tensor_names.h"
#include "capture/model/weight_index.h"

#include <string_view>

namespace moire::capture {

namespace {

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text = "[";
    for (const std::int64_t extent : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + "]";
}

bool isUsable(numeric::DType dtype)
{
    return dtype == numeric::DType::BF16 || dtype == numeric::DType::FP16
           || dtype == numeric::DType::FP32;
}

Result<void> checkTensor(const NeededTensor& needed, const Weights& weights,
                         const std::string& place)
{
    const auto& entries = weights.entries();
    const std::size_t i = findEntry(entries, needed.name);
    if (i == entries.size()) {
        // The container knows why: not there, or of a type that it cannot read.
        const auto loaded = weights.load(needed.name);
        return loaded ? Error{Errc::Internal, "lists no tensor " + needed.name, place, {}}
                      : loaded.error();
    }
    const Weights::Entry& entry = entries[i];
    if (entry.shape != needed.shape)
        return Error{Errc::Damaged,
                     "tensor " + needed.name + " has the shape " + shapeText(entry.shape)
                         + ", but the configuration asks for " + shapeText(needed.shape),
                     place, "Check that configuration and weights belong together"};
    if (!isUsable(entry.dtype))
        return Error{Errc::Unsupported,
                     "tensor " + needed.name + " holds " + std::string(numeric::nameOf(entry.dtype))
                         + " values; weights can be bf16, fp16 or fp32",
                     place, "Take a checkpoint that is not quantised"};
    return {};
}

Error sizeError(const std::string& sentence, const std::string& place)
{
    return {Errc::Damaged, sentence, place, comparePublished};
}

/// Tensors that the decoder of this plan would not read say that another one was trained: more
/// layers, biases, norms.
Result<void> checkLeftOver(const ModelPlan& plan, const Weights& weights,
                           const std::vector<bool>& used, const std::string& place)
{
    std::string first;
    std::size_t count = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
        const std::string& name = weights.entries()[i].name;
        if (used[i] || !isOfDecoder(plan.names, name)
            || (plan.tiedHead && name == "lm_head.weight"))
            continue;
        if (++count == 1)
            first = name;
    }
    if (count == 0)
        return {};
    const std::string others = count == 1   ? std::string()
                               : count == 2 ? " and one other"
                                            : " and " + std::to_string(count - 1) + " others";
    return Error{
        Errc::Damaged,
        "has tensors that a model of this configuration does not use: " + first + others, place,
        "Check that configuration (the number of layers first) and weights belong together"};
}

} // namespace

Result<void> checkSizes(const ModelPlan& plan, const std::string& place)
{
    const std::uint64_t queryWidth = std::uint64_t{plan.heads} * plan.headDim;
    if (plan.headDim == 0)
        return sizeError("has fewer hidden values (" + std::to_string(plan.hidden)
                             + ") than attention heads (" + std::to_string(plan.heads) + ")",
                         place);
    if (plan.kvHeads == 0 || plan.heads % plan.kvHeads != 0)
        return sizeError("has " + std::to_string(plan.heads)
                             + " attention heads, which is no multiple of its "
                             + std::to_string(plan.kvHeads) + " key-value heads",
                         place);
    if (queryWidth > maxWidth)
        return sizeError("has attention heads of " + std::to_string(queryWidth)
                             + " values in all, more than " + std::to_string(maxWidth),
                         place);
    if (plan.rope.kind != RopeKind::None && plan.headDim % 2 != 0)
        return sizeError("has heads of " + std::to_string(plan.headDim)
                             + " values, which cannot be rotated in pairs",
                         place);
    if (plan.rope.scaling == RopeScaling::Dynamic && plan.headDim <= 2)
        return sizeError("has heads of " + std::to_string(plan.headDim)
                             + " values, too few for dynamic rope scaling",
                         place);
    if (plan.moe && plan.moe->chosen > plan.moe->experts)
        return sizeError("chooses " + std::to_string(plan.moe->chosen) + " experts of "
                             + std::to_string(plan.moe->experts),
                         place);
    return {};
}

Result<void> checkTensors(const ModelPlan& plan, const Weights& weights, const std::string& place)
{
    std::vector<bool> used(weights.entries().size(), false);
    const auto check = [&](const std::vector<NeededTensor>& tensors) -> Result<void> {
        for (const NeededTensor& needed : tensors) {
            if (auto checked = checkTensor(needed, weights, place); !checked)
                return checked;
            used[findEntry(weights.entries(), needed.name)] = true;
        }
        return {};
    };
    if (auto checked = check(outerTensors(plan)); !checked)
        return checked;
    // Layer by layer: a plan may ask for more tensors than memory holds, and the first one missing
    // ends the check.
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        if (auto checked = check(layerTensors(plan, layer)); !checked)
            return checked;
    return checkLeftOver(plan, weights, used, place);
}

} // namespace moire::capture
