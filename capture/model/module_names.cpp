// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/module_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace moire::capture {

namespace {

constexpr ModuleNames llamaNames;
constexpr ModuleNames gpt2Names{.embedding = "transformer.wte",
                                .positions = "transformer.wpe",
                                .embeddingSum = "transformer.drop",
                                .rotary = "",
                                .layers = "transformer.h.",
                                .finalNorm = "transformer.ln_f",
                                .inputNorm = "ln_1",
                                .postNorm = "ln_2",
                                .mlpNorm = "",
                                .attention = "attn",
                                .qkv = "c_attn",
                                .q = "",
                                .k = "",
                                .v = "",
                                .qNorm = "",
                                .kNorm = "",
                                .o = "c_proj",
                                .gate = "",
                                .activation = "act",
                                .up = "c_fc",
                                .down = "c_proj"};

constexpr std::string_view gpt2Prefix = "transformer.";

/// Path parts of Mixtral's mixture, in transformers and on the hub.
constexpr std::array mixtralParts{
    std::pair<std::string_view, std::string_view>{".mlp.gate.", ".block_sparse_moe.gate."},
    std::pair<std::string_view, std::string_view>{".mlp.experts.", ".block_sparse_moe.experts."},
    std::pair<std::string_view, std::string_view>{".gate_proj.", ".w1."},
    std::pair<std::string_view, std::string_view>{".down_proj.", ".w2."},
    std::pair<std::string_view, std::string_view>{".up_proj.", ".w3."},
};

bool startsWithOneOf(std::string_view name, std::initializer_list<std::string_view> prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

} // namespace

const ModuleNames& moduleNames(NameStyle style)
{
    return style == NameStyle::Gpt2 ? gpt2Names : llamaNames;
}

std::string layerPath(NameStyle style, std::size_t layer)
{
    return std::string(moduleNames(style).layers) + std::to_string(layer);
}

std::string hubName(NameStyle style, std::string_view name)
{
    if (style == NameStyle::Gpt2 && name.starts_with(gpt2Prefix))
        name.remove_prefix(gpt2Prefix.size());
    std::string result(name);
    if (style != NameStyle::Mixtral)
        return result;
    for (const auto& [module, hub] : mixtralParts)
        if (const std::size_t at = result.find(module); at != std::string::npos)
            result.replace(at, module.size(), hub);
    return result;
}

bool isComputedAnew(NameStyle style, std::string_view name)
{
    if (name.ends_with("rotary_emb.inv_freq") || name.ends_with(".masked_bias"))
        return true;
    return style == NameStyle::Gpt2 && name.ends_with(".attn.bias");
}

bool isOfDecoder(NameStyle style, std::string_view name)
{
    if (startsWithOneOf(name, {"lm_head.", "blk."})) // blk: of GGUF, where the hub has no name
        return true;
    if (style == NameStyle::Gpt2)
        return startsWithOneOf(name, {"h.", "wte.", "wpe.", "ln_f."});
    return startsWithOneOf(name, {"model.layers.", "model.embed_tokens.", "model.norm."});
}

} // namespace moire::capture
