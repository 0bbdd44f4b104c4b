// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A family of decoders as data: what the engine computes, in which order, where it rounds.
/// Conventions are those of transformers 5.24; every enumerator names the family it was read from.
namespace moire::capture {

enum class NormKind : std::uint8_t
{
    RmsRoundTwice,  ///< Llama: x·rsqrt(mean(x²)+eps) in fp32, round, × weight, round
    RmsRoundOnce,   ///< OLMo-2, gpt-oss: weight applied in fp32, one rounding
    LayerNorm,      ///< GPT-2, Jais-2: weight and bias in fp32, one rounding
    LayerNormPlain, ///< OLMo: no weight, no bias
};

/// Where modules stand in the tree of transformers, and what their tensors are called on the hub
/// (module_names.h).
enum class NameStyle : std::uint8_t
{
    Llama,
    Mixtral, ///< the hub has block_sparse_moe, w1, w3, w2
    Gpt2,    ///< transformer.h.N; the hub has no "transformer."
};

enum class RopeKind : std::uint8_t
{
    None,
    RoundEach,
    Fp32Tables
}; ///< R1 and R2 of the conventions
enum class RopeScaling : std::uint8_t
{
    None,
    Linear,
    Dynamic,
    Llama3,
    Yarn
};
enum class MlpKind : std::uint8_t
{
    Gated,
    Plain
};
enum class Activation : std::uint8_t
{
    Silu,
    Gelu,
    GeluTanh,
    GeluNew,
    Relu,
    ReluSquared
};
enum class QkNorm : std::uint8_t
{
    None,
    PerHead,
    WholeWidth
};
enum class NormPlace : std::uint8_t
{
    BeforeBlocks,
    AfterBlocks
};
enum class ExpertOrder : std::uint8_t
{
    AscendingId, ///< transformers "eager": each expert in turn adds weight × output, rounding after
                 ///< every add
    SlotOrder, ///< "grouped_mm": fp32 sum in slot order, one rounding
};

struct RopePlan
{
    RopeKind kind = RopeKind::RoundEach;
    double theta = 10000.0;
    RopeScaling scaling = RopeScaling::None;
    double factor = 1.0;
    double lowFrequencyFactor = 1.0;   ///< llama3
    double highFrequencyFactor = 4.0;  ///< llama3
    std::uint32_t originalContext = 0; ///< llama3, yarn, dynamic
    double betaFast = 32.0;            ///< yarn: rotations above which nothing is scaled
    double betaSlow = 1.0;             ///< yarn: rotations below which all is
    bool truncate = true;              ///< yarn: the bounds are whole dimensions
    double attentionFactor = 1.0;      ///< yarn: on cos and sin
};

struct MoePlan
{
    std::uint32_t experts = 0;
    std::uint32_t chosen = 0;
    std::uint32_t expertWidth = 0; ///< intermediate size of one expert
    bool normaliseWeights = false; ///< norm_topk_prob
    bool fp32Weights = false;      ///< Mixtral: router weights stay fp32
    std::uint32_t sharedWidth = 0; ///< 0: no shared expert
    ExpertOrder order = ExpertOrder::AscendingId;
};

/// One decoder layer, where layers differ.
struct LayerPlan
{
    bool sparse = false;      ///< MoE instead of the dense MLP
    std::uint32_t window = 0; ///< sliding window, 0 = none
};

struct ModelPlan
{
    std::string name;         ///< folder or file name, for people
    std::string architecture; ///< "LlamaForCausalLM"
    std::uint32_t hidden = 0;
    std::uint32_t heads = 0;
    std::uint32_t kvHeads = 0;
    std::uint32_t headDim = 0;
    std::uint32_t mlpWidth = 0; ///< dense MLP
    std::uint32_t vocabulary = 0;
    std::uint32_t context = 0; ///< max_position_embeddings
    std::vector<LayerPlan> layers;
    numeric::DType dtype = numeric::DType::FP32; ///< the model's own (torch_dtype or dtype)
    NormKind norm = NormKind::RmsRoundTwice;
    double normEps = 1e-5;
    NormPlace normPlace = NormPlace::BeforeBlocks;
    QkNorm qkNorm = QkNorm::None;
    std::optional<double>
        clipQkv; ///< clamps q, k, v to ± this, after the projection (and q/k norm)
    RopePlan rope;
    bool qkvBias = false, outBias = false, mlpBias = false;
    MlpKind mlp = MlpKind::Gated;
    Activation activation = Activation::Silu;
    std::optional<MoePlan> moe;
    bool tiedHead = false;
    NameStyle names = NameStyle::Llama;
    bool learnedPositions = false;       ///< GPT-2: a vector a position is added to the embedding
    bool fusedQkv = false;               ///< GPT-2: one linear layer for q, k and v
    bool transposedWeights = false;      ///< GPT-2: linear weights are stored [in, out]
    bool scaleAttention = true;          ///< by headDim^−0.5
    bool scaleByInverseLayer = false;    ///< GPT-2: by 1 / (layer + 1), too
    std::vector<std::int32_t> endTokens; ///< eos_token_id
};

} // namespace moire::capture
