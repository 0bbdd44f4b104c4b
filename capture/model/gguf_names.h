// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// What a tensor of a GGUF file is in transformers.
struct HubTensor
{
    enum class Kind
    {
        Whole,
        Query,   ///< rows in llama.cpp's rotary order, where the family has it
        Key,     ///< the same, over the key-value heads
        Linear,  ///< a layer's weight [out, in], which the hub may keep transposed
        OneRow,  ///< a linear weight of one row, stored without that extent
        Experts, ///< one tensor for all experts of a layer
    };
    std::string name;       ///< of Experts: "model.layers.3.mlp.experts.gate_proj.weight"
    std::string projection; ///< of Experts: "gate_proj"
    Kind kind = Kind::Whole;
};

/// The name in transformers' tree for llama.cpp's: "blk.3.attn_q.weight" becomes
/// "model.layers.3.self_attn.q_proj.weight" (hubName makes it the hub's). Empty name when the tree
/// of this style has none.
HubTensor hubTensor(std::string_view ggufName, NameStyle style);

} // namespace moire::capture
