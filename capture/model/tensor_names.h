// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// A tensor that a plan needs, under its Hugging Face hub name, with the shape it must have
/// (row-major, linear layers [out, in], or [in, out] where the plan says so).
struct NeededTensor
{
    std::string name;
    std::vector<std::int64_t> shape;
};

/// "model.layers.<layer>.<rest>", e.g. layerTensor(3, "self_attn.q_proj.weight"); of Llama's names.
std::string layerTensor(std::size_t layer, std::string_view rest);

/// The hub's name of the embedding.
std::string embeddingTensor(const ModelPlan& plan);

/// "lm_head.weight", or the embedding's name where the head is tied to it.
std::string headTensor(const ModelPlan& plan);

/// The tensors of one layer, in execution order.
std::vector<NeededTensor> layerTensors(const ModelPlan& plan, std::size_t layer);

/// The tensors outside the layers: embedding, positions, final norm, and the head where it is not
/// tied.
std::vector<NeededTensor> outerTensors(const ModelPlan& plan);

} // namespace moire::capture
