// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// The keys of config.json that hold what every family has.
struct ConfigKeys
{
    std::string_view hidden = "hidden_size";
    std::string_view heads = "num_attention_heads";
    std::string_view layers = "num_hidden_layers";
    std::string_view context = "max_position_embeddings";
    std::string_view mlpWidth = "intermediate_size";
    std::string_view expertWidth = "intermediate_size";
    std::string_view activation = "hidden_act";
    std::string_view normEps = "rms_norm_eps"; ///< "": fixed, 1e-5
    std::string_view qkvBias = "attention_bias";
};

/// Whether linear layers have a bias: never, always, or as a key says, with its value where it is
/// absent.
enum class BiasRule : std::uint8_t
{
    Never,
    Always,
    IfNamed,
    UnlessDenied
};

/// Which layers see only a window, from `sliding_window` and other keys.
enum class WindowRule : std::uint8_t
{
    None,
    WhereNumber, ///< Mistral, Mixtral: all layers, if there is a number
    FromLayer,   ///< Qwen2, Qwen3: from `max_window_layers` on, if `use_sliding_window`
    EvenBelow,   ///< Qwen2-MoE: even layers below `max_window_layers`, if `use_sliding_window`
    AllIfUsed    ///< Qwen3-MoE: all layers, if `use_sliding_window`
};

/// Which layers are a mixture of experts.
enum class SparseRule : std::uint8_t
{
    Never,
    Always,
    Steps ///< by `mlp_only_layers` and `decoder_sparse_step`
};

/// What every model of a family has in common, whatever its configuration says.
struct Family
{
    std::string_view architecture; ///< in config.json
    std::string_view ggufName;     ///< general.architecture; "": no GGUF file of it is read
    NameStyle names = NameStyle::Llama;
    ConfigKeys keys = {};
    NormKind norm = NormKind::RmsRoundTwice;
    NormPlace normPlace = NormPlace::BeforeBlocks;
    QkNorm qkNorm = QkNorm::None;
    RopeKind rope = RopeKind::RoundEach;
    double theta = 10000.0; ///< where the configuration has none
    MlpKind mlp = MlpKind::Gated;
    Activation activation = Activation::Silu;
    BiasRule qkvBias = BiasRule::Never;
    bool outBias = false; ///< o has a bias where q, k and v have
    BiasRule mlpBias = BiasRule::Never;
    WindowRule window = WindowRule::None;
    SparseRule sparse = SparseRule::Never;
    bool clipsQkv = false;          ///< reads `clip_qkv`
    bool normalisesWeights = false; ///< whatever `norm_topk_prob` says
    bool fp32RouterWeights = false;
    bool sharedExpert = false;
    std::uint32_t headDim = 0;     ///< where the configuration has none; 0: hidden / heads
    std::uint32_t mlpFactor = 0;   ///< MLP width / hidden where the configuration has none
    std::uint32_t windowWidth = 0; ///< where the key `sliding_window` is absent
    bool tiedHead = false;         ///< where the configuration does not say
    bool learnedPositions = false;
    bool fusedQkv = false;
    bool transposedWeights = false;
    bool ggufPermutes = false;   ///< llama.cpp stores q and k rows in its own rotary order
    bool ggufNormalises = false; ///< llama.cpp normalises expert weights where a file does not say
};

/// Null when the family is not supported.
const Family* findFamily(std::string_view architecture);
/// Two families may share a name: `experts` tells which is meant.
const Family* findGgufFamily(std::string_view ggufName, bool experts);

/// "LlamaForCausalLM, OlmoeForCausalLM, …", for the sentence that refuses another.
std::string supportedArchitectures();
/// Those of which GGUF files are read.
std::string supportedGgufArchitectures();

/// A plan with the family's traits and none of the sizes.
ModelPlan familyPlan(const Family& family);

} // namespace moire::capture
