// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/families.h"

#include <algorithm>
#include <array>

namespace moire::capture {

namespace {

constexpr ConfigKeys expertsKeys{.expertWidth = "moe_intermediate_size"};

constexpr std::array families{
    Family{.architecture = "LlamaForCausalLM",
           .ggufName = "llama",
           .qkvBias = BiasRule::IfNamed,
           .outBias = true,
           .mlpBias = BiasRule::IfNamed,
           .ggufPermutes = true},
    Family{.architecture = "MistralForCausalLM",
           .ggufName = "",
           .window = WindowRule::WhereNumber,
           .windowWidth = 4096},
    Family{.architecture = "Qwen2ForCausalLM",
           .ggufName = "qwen2",
           .qkvBias = BiasRule::Always,
           .window = WindowRule::FromLayer},
    Family{.architecture = "Qwen3ForCausalLM",
           .ggufName = "qwen3",
           .qkNorm = QkNorm::PerHead,
           .qkvBias = BiasRule::IfNamed,
           .outBias = true,
           .window = WindowRule::FromLayer,
           .headDim = 128},
    Family{.architecture = "OlmoForCausalLM",
           .ggufName = "olmo",
           .keys = {.normEps = ""},
           .norm = NormKind::LayerNormPlain,
           .rope = RopeKind::Fp32Tables,
           .qkvBias = BiasRule::IfNamed,
           .outBias = true,
           .clipsQkv = true,
           .ggufPermutes = true},
    Family{.architecture = "Olmo2ForCausalLM",
           .ggufName = "olmo2",
           .norm = NormKind::RmsRoundOnce,
           .normPlace = NormPlace::AfterBlocks,
           .qkNorm = QkNorm::WholeWidth,
           .rope = RopeKind::Fp32Tables,
           .qkvBias = BiasRule::IfNamed,
           .outBias = true},
    Family{.architecture = "OlmoeForCausalLM",
           .ggufName = "olmoe",
           .qkNorm = QkNorm::WholeWidth,
           .qkvBias = BiasRule::IfNamed,
           .outBias = true,
           .sparse = SparseRule::Always,
           .clipsQkv = true},
    Family{.architecture = "Qwen2MoeForCausalLM",
           .ggufName = "qwen2moe",
           .keys = {.expertWidth = "moe_intermediate_size", .qkvBias = "qkv_bias"},
           .qkvBias = BiasRule::UnlessDenied,
           .window = WindowRule::EvenBelow,
           .sparse = SparseRule::Steps,
           .sharedExpert = true},
    Family{.architecture = "Qwen3MoeForCausalLM",
           .ggufName = "qwen3moe",
           .keys = expertsKeys,
           .qkNorm = QkNorm::PerHead,
           .qkvBias = BiasRule::IfNamed,
           .outBias = true,
           .window = WindowRule::AllIfUsed,
           .sparse = SparseRule::Steps,
           .ggufNormalises = true},
    Family{.architecture = "MixtralForCausalLM",
           .ggufName = "llama",
           .names = NameStyle::Mixtral,
           .theta = 1e6,
           .window = WindowRule::WhereNumber,
           .sparse = SparseRule::Always,
           .normalisesWeights = true,
           .fp32RouterWeights = true,
           .ggufPermutes = true},
    Family{.architecture = "GPT2LMHeadModel",
           .ggufName = "gpt2",
           .names = NameStyle::Gpt2,
           .keys = {.hidden = "n_embd",
                    .heads = "n_head",
                    .layers = "n_layer",
                    .context = "n_positions",
                    .mlpWidth = "n_inner",
                    .activation = "activation_function",
                    .normEps = "layer_norm_epsilon"},
           .norm = NormKind::LayerNorm,
           .rope = RopeKind::None,
           .mlp = MlpKind::Plain,
           .activation = Activation::GeluNew,
           .qkvBias = BiasRule::Always,
           .outBias = true,
           .mlpBias = BiasRule::Always,
           .mlpFactor = 4,
           .tiedHead = true,
           .learnedPositions = true,
           .fusedQkv = true,
           .transposedWeights = true},
    Family{.architecture = "Jais2ForCausalLM",
           .ggufName = "jais2",
           .keys = {.normEps = "layer_norm_eps"},
           .norm = NormKind::LayerNorm,
           .mlp = MlpKind::Plain,
           .activation = Activation::ReluSquared,
           .qkvBias = BiasRule::UnlessDenied,
           .outBias = true,
           .mlpBias = BiasRule::UnlessDenied},
};

template <class Chosen>
std::string listOf(Chosen&& chosen)
{
    std::string list;
    for (const Family& family : families)
        if (chosen(family))
            list += (list.empty() ? "" : ", ") + std::string(family.architecture);
    return list;
}

} // namespace

const Family* findFamily(std::string_view architecture)
{
    const auto* const it =
        std::find_if(families.begin(), families.end(),
                     [&](const Family& family) { return family.architecture == architecture; });
    return it == families.end() ? nullptr : &*it;
}

const Family* findGgufFamily(std::string_view ggufName, bool experts)
{
    const Family* found = nullptr;
    for (const Family& family : families) {
        if (ggufName.empty() || family.ggufName != ggufName)
            continue;
        if (found == nullptr || (family.sparse != SparseRule::Never) == experts)
            found = &family;
    }
    return found;
}

std::string supportedArchitectures()
{
    return listOf([](const Family&) { return true; });
}

std::string supportedGgufArchitectures()
{
    return listOf([](const Family& family) { return !family.ggufName.empty(); });
}

ModelPlan familyPlan(const Family& family)
{
    ModelPlan plan;
    plan.architecture = family.architecture;
    plan.names = family.names;
    plan.norm = family.norm;
    plan.normPlace = family.normPlace;
    plan.qkNorm = family.qkNorm;
    plan.rope.kind = family.rope;
    plan.rope.theta = family.theta;
    plan.mlp = family.mlp;
    plan.activation = family.activation;
    plan.tiedHead = family.tiedHead;
    plan.learnedPositions = family.learnedPositions;
    plan.fusedQkv = family.fusedQkv;
    plan.transposedWeights = family.transposedWeights;
    if (family.sparse != SparseRule::Never) {
        plan.moe.emplace();
        plan.moe->normaliseWeights = family.normalisesWeights;
        plan.moe->fp32Weights = family.fp32RouterWeights;
    }
    return plan;
}

} // namespace moire::capture
