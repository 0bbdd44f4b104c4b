// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tap_names.h"

#include <algorithm>
#include <array>

namespace moire::diff {

namespace {

struct Alias
{
    std::string_view theirs; ///< '#' stands for the number of a layer
    std::string_view hub;
};

constexpr std::array aliases{
    // llama.cpp: names of weights (GGUF)
    Alias{"token_embd", "model.embed_tokens"},
    Alias{"output_norm", "model.norm"},
    Alias{"output", "lm_head"},
    Alias{"blk.#.attn_norm", "model.layers.#.input_layernorm"},
    Alias{"blk.#.attn_q", "model.layers.#.self_attn.q_proj"},
    Alias{"blk.#.attn_k", "model.layers.#.self_attn.k_proj"},
    Alias{"blk.#.attn_v", "model.layers.#.self_attn.v_proj"},
    Alias{"blk.#.attn_qkv", "model.layers.#.self_attn.qkv_proj"},
    Alias{"blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm"},
    Alias{"blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm"},
    Alias{"blk.#.attn_output", "model.layers.#.self_attn.o_proj"},
    Alias{"blk.#.ffn_norm", "model.layers.#.post_attention_layernorm"},
    Alias{"blk.#.ffn_gate", "model.layers.#.mlp.gate_proj"},
    Alias{"blk.#.ffn_up", "model.layers.#.mlp.up_proj"},
    Alias{"blk.#.ffn_down", "model.layers.#.mlp.down_proj"},
    Alias{"blk.#.ffn_gate_inp", "model.layers.#.mlp.gate"},
    // llama.cpp: names of its graph's nodes that stand once in it
    Alias{"inp_embd", "model.embed_tokens"},
    Alias{"attn_norm-#", "model.layers.#.input_layernorm"},
    Alias{"attn_out-#", "model.layers.#.self_attn"},
    Alias{"ffn_norm-#", "model.layers.#.post_attention_layernorm"},
    Alias{"ffn_up-#", "model.layers.#.mlp.up_proj"},
    Alias{"ffn_gate-#", "model.layers.#.mlp.gate_proj"},
    Alias{"ffn_out-#", "model.layers.#.mlp"},
    Alias{"ffn_moe_logits-#", "model.layers.#.mlp.gate"},
    Alias{"ffn_moe_out-#", "model.layers.#.mlp"},
    Alias{"l_out-#", "model.layers.#"},
    Alias{"result_norm", "model.norm"},
    Alias{"result_output", "lm_head"},
    // Megatron
    Alias{"embedding.word_embeddings", "model.embed_tokens"},
    Alias{"decoder.layers.#", "model.layers.#"},
    Alias{"decoder.layers.#.input_layernorm", "model.layers.#.input_layernorm"},
    Alias{"decoder.layers.#.self_attention", "model.layers.#.self_attn"},
    Alias{"decoder.layers.#.self_attention.linear_qkv", "model.layers.#.self_attn.linear_qkv"},
    Alias{"decoder.layers.#.self_attention.q_layernorm", "model.layers.#.self_attn.q_norm"},
    Alias{"decoder.layers.#.self_attention.k_layernorm", "model.layers.#.self_attn.k_norm"},
    Alias{"decoder.layers.#.self_attention.linear_proj", "model.layers.#.self_attn.o_proj"},
    Alias{"decoder.layers.#.pre_mlp_layernorm", "model.layers.#.post_attention_layernorm"},
    Alias{"decoder.layers.#.mlp", "model.layers.#.mlp"},
    Alias{"decoder.layers.#.mlp.router", "model.layers.#.mlp.gate"},
    Alias{"decoder.layers.#.mlp.linear_fc1", "model.layers.#.mlp.gate_up_proj"},
    Alias{"decoder.layers.#.mlp.linear_fc2", "model.layers.#.mlp.down_proj"},
    Alias{"decoder.final_layernorm", "model.norm"},
    Alias{"output_layer", "lm_head"},
    // vLLM and SGLang, where they are not Hugging Face's
    Alias{"logits_processor", "lm_head"},
};

/// What '#' met when the whole name is like the pattern; "" for a pattern without '#'.
std::optional<std::string_view> layerOf(std::string_view pattern, std::string_view name)
{
    const std::size_t mark = pattern.find('#');
    if (mark == std::string_view::npos)
        return name == pattern ? std::optional(std::string_view()) : std::nullopt;
    const std::string_view before = pattern.substr(0, mark);
    const std::string_view behind = pattern.substr(mark + 1);
    if (name.size() <= before.size() + behind.size() || !name.starts_with(before)
        || !name.ends_with(behind))
        return std::nullopt;
    const std::string_view number =
        name.substr(before.size(), name.size() - before.size() - behind.size());
    const bool digits =
        std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? std::optional(number) : std::nullopt;
}

bool dropPrefix(std::string_view& name, std::string_view prefix)
{
    if (!name.starts_with(prefix))
        return false;
    name.remove_prefix(prefix.size());
    return true;
}

/// Takes the ending off that says which side of a module it is.
std::string_view sideOf(std::string_view& name)
{
    constexpr std::pair<std::string_view, std::string_view> endings[] = {
        {".out", ".out"},    {".in", ".in"},       {".slots", ".slots"}, {".output.0", ".out"},
        {".output", ".out"}, {".inputs.0", ".in"}, {".inputs", ".in"},   {".input.0", ".in"},
        {".input", ".in"},   {".weight", ".out"},
    };
    for (const auto& [ending, side] : endings)
        if (name.ends_with(ending) && name.size() > ending.size()) {
            name.remove_suffix(ending.size());
            return side;
        }
    return ".out";
}

} // namespace

std::optional<std::string> hubName(std::string_view name)
{
    std::string_view module = name;
    dropPrefix(module, "non_intrusive__");
    while (dropPrefix(module, "module."))
        ;
    const bool firstOfSeveral = module.ends_with(".output.0");
    if (module.ends_with(".output.1"))
        return std::nullopt; // what a fused norm hands on beside its result
    const std::string_view side = sideOf(module);
    // vLLM's and SGLang's decoder layers return two addends of the residual stream.
    if (firstOfSeveral && layerOf("model.layers.#", module))
        return std::nullopt;
    for (const Alias& alias : aliases) {
        const auto layer = layerOf(alias.theirs, module);
        if (!layer)
            continue;
        std::string hub(alias.hub);
        if (const std::size_t mark = hub.find('#'); mark != std::string::npos)
            hub.replace(mark, 1, *layer);
        return hub + std::string(side);
    }
    // The attention kernel of vLLM and SGLang is a module of its own: what o_proj reads.
    constexpr std::string_view kernel = ".self_attn.attn";
    if (side == ".out" && module.ends_with(kernel))
        return std::string(module.substr(0, module.size() - kernel.size()))
               + ".self_attn.o_proj.in";
    return std::string(module) + std::string(side);
}

std::optional<FusedModule> fusedModule(std::string_view hubName)
{
    struct Fused
    {
        std::string_view ending;
        FusedLayout layout;
        std::array<std::string_view, 3> parts;
    };
    constexpr std::array<std::string_view, 3> attention{"q_proj", "k_proj", "v_proj"};
    constexpr Fused known[] = {
        {"qkv_proj.out", FusedLayout::Joined, attention},
        {"W_pack.out", FusedLayout::Joined, attention},
        {"Wqkv.out", FusedLayout::Joined, attention},
        {"linear_qkv.out", FusedLayout::Grouped, attention},
        {"query_key_value.out", FusedLayout::Grouped, attention},
        {"gate_up_proj.out", FusedLayout::Joined, {"gate_proj", "up_proj", {}}},
    };
    for (const Fused& fused : known) {
        if (!hubName.ends_with(fused.ending))
            continue;
        const std::string_view prefix = hubName.substr(0, hubName.size() - fused.ending.size());
        if (!prefix.empty() && !prefix.ends_with('.'))
            continue;
        FusedModule module{fused.layout, {}};
        for (const std::string_view part : fused.parts)
            if (!part.empty())
                module.parts.push_back(std::string(prefix) + std::string(part) + ".out");
        return module;
    }
    return std::nullopt;
}

} // namespace moire::diff
