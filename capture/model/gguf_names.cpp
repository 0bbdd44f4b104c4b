// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_names.h"

#include "capture/model/module_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace moire::capture {

namespace {

using Kind = HubTensor::Kind;
using Name = std::string_view ModuleNames::*;

/// Under which module of a layer another one stands.
enum class Parent
{
    Layer,
    Attention,
    Mlp,
    SharedExpert,
    Experts,
};

struct OuterName
{
    std::string_view gguf;
    Name module;
};

constexpr std::array outerNames{
    OuterName{"token_embd", &ModuleNames::embedding},
    OuterName{"position_embd", &ModuleNames::positions},
    OuterName{"output_norm", &ModuleNames::finalNorm},
};

struct LayerName
{
    std::string_view gguf;
    Parent parent;
    Name module;
    Kind kind = Kind::Whole;
};

/// Modules of a layer; ".weight" or ".bias" follows.
constexpr std::array layerNames{
    LayerName{"attn_norm", Parent::Layer, &ModuleNames::inputNorm},
    LayerName{"attn_qkv", Parent::Attention, &ModuleNames::qkv, Kind::Linear},
    LayerName{"attn_q", Parent::Attention, &ModuleNames::q, Kind::Query},
    LayerName{"attn_k", Parent::Attention, &ModuleNames::k, Kind::Key},
    LayerName{"attn_v", Parent::Attention, &ModuleNames::v},
    LayerName{"attn_output", Parent::Attention, &ModuleNames::o, Kind::Linear},
    LayerName{"attn_q_norm", Parent::Attention, &ModuleNames::qNorm},
    LayerName{"attn_k_norm", Parent::Attention, &ModuleNames::kNorm},
    LayerName{"ffn_norm", Parent::Layer, &ModuleNames::postNorm},
    LayerName{"post_attention_norm", Parent::Layer, &ModuleNames::postNorm},
    LayerName{"post_ffw_norm", Parent::Layer, &ModuleNames::mlpNorm},
    LayerName{"ffn_gate", Parent::Mlp, &ModuleNames::gate},
    LayerName{"ffn_up", Parent::Mlp, &ModuleNames::up, Kind::Linear},
    LayerName{"ffn_down", Parent::Mlp, &ModuleNames::down, Kind::Linear},
    LayerName{"ffn_gate_exps", Parent::Experts, &ModuleNames::gate, Kind::Experts},
    LayerName{"ffn_up_exps", Parent::Experts, &ModuleNames::up, Kind::Experts},
    LayerName{"ffn_down_exps", Parent::Experts, &ModuleNames::down, Kind::Experts},
    LayerName{"ffn_gate_shexp", Parent::SharedExpert, &ModuleNames::gate},
    LayerName{"ffn_up_shexp", Parent::SharedExpert, &ModuleNames::up},
    LayerName{"ffn_down_shexp", Parent::SharedExpert, &ModuleNames::down},
};

struct RouterName
{
    std::string_view gguf;
    std::string_view path; ///< below the layer, the same in every style
    Kind kind;
};

constexpr std::array routerNames{
    RouterName{"ffn_gate_inp", ".mlp.gate", Kind::Whole},
    RouterName{"ffn_gate_inp_shexp", ".mlp.shared_expert_gate", Kind::OneRow},
};

std::string expertPath(std::string_view expert)
{
    return ".mlp.experts." + std::string(expert) + ".";
}

std::string parentPath(Parent parent, const ModuleNames& names)
{
    switch (parent) {
    case Parent::Layer:
        return ".";
    case Parent::Attention:
        return "." + std::string(names.attention) + ".";
    case Parent::Mlp:
        return ".mlp.";
    case Parent::SharedExpert:
        return ".mlp.shared_expert.";
    case Parent::Experts:
        return ".mlp.experts.";
    }
    return ".";
}

bool isNumber(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isdigit(c) != 0;
    });
}

/// Cuts "blk.<layer>." off; empty when that is not there.
std::string_view takeLayer(std::string_view& name)
{
    constexpr std::string_view prefix = "blk.";
    if (!name.starts_with(prefix))
        return {};
    name.remove_prefix(prefix.size());
    const std::size_t dot = name.find('.');
    const std::string_view layer = name.substr(0, dot);
    if (dot == std::string_view::npos || !isNumber(layer))
        return {};
    name.remove_prefix(dot + 1);
    return layer;
}

/// Cuts the number of an expert off the end, as in "ffn_gate.3": llama.cpp's layout before March
/// 2024, a tensor an expert. Empty when that is not there.
std::string_view takeExpert(std::string_view& module)
{
    const std::size_t dot = module.rfind('.');
    if (dot == std::string_view::npos || !isNumber(module.substr(dot + 1)))
        return {};
    const std::string_view expert = module.substr(dot + 1);
    module = module.substr(0, dot);
    return expert;
}

} // namespace

HubTensor hubTensor(std::string_view ggufName, NameStyle style)
{
    const std::size_t dot = ggufName.rfind('.');
    if (dot == std::string_view::npos)
        return {};
    std::string_view module = ggufName.substr(0, dot);
    const std::string last(ggufName.substr(dot));
    if (last != ".weight" && last != ".bias")
        return {};
    if (ggufName == "output.weight")
        return {"lm_head.weight", {}, Kind::Whole};
    const ModuleNames& names = moduleNames(style);
    for (const OuterName& outer : outerNames)
        if (outer.gguf == module && !(names.*outer.module).empty())
            return {std::string(names.*outer.module) + last, {}, Kind::Whole};
    const std::string_view layer = takeLayer(module);
    if (layer.empty())
        return {};
    const std::string path = std::string(names.layers) + std::string(layer);
    for (const RouterName& router : routerNames)
        if (router.gguf == module)
            return {path + std::string(router.path) + last, {}, router.kind};
    const std::string_view expert = takeExpert(module);
    for (const LayerName& inner : layerNames) {
        const std::string found(names.*inner.module);
        if (inner.gguf != module || found.empty())
            continue;
        if (!expert.empty() && inner.parent == Parent::Mlp && last == ".weight")
            return {path + expertPath(expert) + found + last, {}, Kind::Whole};
        if (!expert.empty())
            return {};
        const std::string name = path + parentPath(inner.parent, names) + found + last;
        if (inner.kind != Kind::Experts)
            return {name, {}, inner.kind};
        if (last == ".weight")
            return {name, found, inner.kind};
    }
    return {};
}

} // namespace moire::capture
