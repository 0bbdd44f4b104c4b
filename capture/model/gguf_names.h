// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace moire::capture {

/// What a tensor of a GGUF file is on the hub.
struct HubTensor
{
    enum class Kind
    {
        Whole,
        Query,   ///< rows in llama.cpp's rotary order, where the family has it
        Key,     ///< the same, over the key-value heads
        Experts, ///< one tensor for all experts of a layer
    };
    std::string name;       ///< of Experts: "model.layers.3.mlp.experts.gate_proj.weight"
    std::string projection; ///< of Experts: "gate_proj"
    Kind kind = Kind::Whole;
};

/// The hub's name for llama.cpp's: "blk.3.attn_q.weight" becomes
/// "model.layers.3.self_attn.q_proj.weight". Empty name when it is none that the hub has.
HubTensor hubTensor(std::string_view ggufName);

} // namespace moire::capture
