// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace moire::capture {

namespace {

using Kind = HubTensor::Kind;

struct NamePair
{
    std::string_view gguf;
    std::string_view hub;
    Kind kind = Kind::Whole;
};

constexpr std::array outerNames{
    NamePair{"token_embd.weight", "model.embed_tokens.weight"},
    NamePair{"output_norm.weight", "model.norm.weight"},
    NamePair{"output.weight", "lm_head.weight"},
};

/// Modules of a layer; ".weight" or ".bias" follows.
constexpr std::array layerNames{
    NamePair{"attn_norm", "input_layernorm"},
    NamePair{"attn_q", "self_attn.q_proj", Kind::Query},
    NamePair{"attn_k", "self_attn.k_proj", Kind::Key},
    NamePair{"attn_v", "self_attn.v_proj"},
    NamePair{"attn_output", "self_attn.o_proj"},
    NamePair{"attn_q_norm", "self_attn.q_norm"},
    NamePair{"attn_k_norm", "self_attn.k_norm"},
    NamePair{"ffn_norm", "post_attention_layernorm"},
    NamePair{"ffn_gate", "mlp.gate_proj"},
    NamePair{"ffn_up", "mlp.up_proj"},
    NamePair{"ffn_down", "mlp.down_proj"},
    NamePair{"ffn_gate_inp", "mlp.gate"},
    NamePair{"ffn_gate_exps", "gate_proj", Kind::Experts},
    NamePair{"ffn_up_exps", "up_proj", Kind::Experts},
    NamePair{"ffn_down_exps", "down_proj", Kind::Experts},
};

/// Cuts "blk.<layer>." off; empty when that is not there.
std::string_view takeLayer(std::string_view& name)
{
    constexpr std::string_view prefix = "blk.";
    if (!name.starts_with(prefix))
        return {};
    name.remove_prefix(prefix.size());
    const std::size_t dot = name.find('.');
    const std::string_view layer = name.substr(0, dot);
    if (dot == std::string_view::npos || layer.empty()
        || !std::all_of(layer.begin(), layer.end(),
                        [](unsigned char c) { return std::isdigit(c) != 0; }))
        return {};
    name.remove_prefix(dot + 1);
    return layer;
}

} // namespace

HubTensor hubTensor(std::string_view ggufName)
{
    for (const NamePair& pair : outerNames)
        if (pair.gguf == ggufName)
            return {std::string(pair.hub), {}, pair.kind};
    std::string_view rest = ggufName;
    const std::string_view layer = takeLayer(rest);
    const std::size_t dot = rest.rfind('.');
    if (layer.empty() || dot == std::string_view::npos)
        return {};
    const std::string_view module = rest.substr(0, dot);
    const std::string_view last = rest.substr(dot);
    if (last != ".weight" && last != ".bias")
        return {};
    const std::string prefix = "model.layers." + std::string(layer) + ".";
    for (const NamePair& pair : layerNames) {
        if (pair.gguf != module)
            continue;
        if (pair.kind != Kind::Experts)
            return {prefix + std::string(pair.hub) + std::string(last), {}, pair.kind};
        if (last == ".weight")
            return {prefix + "mlp.experts." + std::string(pair.hub) + std::string(last),
                    std::string(pair.hub), pair.kind};
    }
    return {};
}

} // namespace moire::capture
