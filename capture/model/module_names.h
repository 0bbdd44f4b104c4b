// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// Module paths of transformers 5.24; those of a layer are relative to it. "" where a family has no
/// such module.
struct ModuleNames
{
    std::string_view embedding = "model.embed_tokens";
    std::string_view positions;    ///< learned positions
    std::string_view embeddingSum; ///< their sum with the embedding
    std::string_view rotary = "model.rotary_emb";
    std::string_view layers = "model.layers."; ///< the layer's number follows
    std::string_view finalNorm = "model.norm";
    std::string_view inputNorm = "input_layernorm";
    std::string_view postNorm = "post_attention_layernorm";
    std::string_view mlpNorm = "post_feedforward_layernorm";
    std::string_view attention = "self_attn";
    std::string_view qkv; ///< relative to the attention, like those that follow
    std::string_view q = "q_proj";
    std::string_view k = "k_proj";
    std::string_view v = "v_proj";
    std::string_view qNorm = "q_norm";
    std::string_view kNorm = "k_norm";
    std::string_view o = "o_proj";
    std::string_view gate = "gate_proj"; ///< relative to an MLP, like those that follow
    std::string_view activation = "act_fn";
    std::string_view up = "up_proj";
    std::string_view down = "down_proj";
};

const ModuleNames& moduleNames(NameStyle style);

/// "model.layers.3", "transformer.h.3".
std::string layerPath(NameStyle style, std::size_t layer);

/// The hub's name of a tensor whose name is its module's path in transformers, or the hub's
/// already: "model.layers.0.mlp.experts.1.up_proj.weight" of Mixtral is
/// "model.layers.0.block_sparse_moe.experts.1.w3.weight".
std::string hubName(NameStyle style, std::string_view name);

/// Tensors that checkpoints carry and no decoder reads: tables and masks that are computed anew
/// ("….rotary_emb.inv_freq", "….masked_bias", GPT-2's "h.N.attn.bias"). By the hub's name.
bool isComputedAnew(NameStyle style, std::string_view name);

/// Whether a tensor of this name (the hub's) belongs to the decoder and not to something beside it,
/// such as a vision tower.
bool isOfDecoder(NameStyle style, std::string_view name);

} // namespace moire::capture
