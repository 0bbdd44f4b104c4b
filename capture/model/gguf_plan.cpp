// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_plan.h"

#include "capture/model/families.h"
#include "capture/model/ggml_types.h"
#include "capture/model/gguf_fields.h"
#include "capture/model/plan_check.h"
#include "capture/model/rope_config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

namespace moire::capture {

namespace {

constexpr std::string_view ropeFactors = "rope_freqs.weight";

/// Rows of a tensor's matrix; `fallback` where there is no such tensor.
std::uint32_t rowsOf(const GgufFile& file, std::string_view name, std::uint32_t fallback)
{
    const GgufTensor* tensor = file.findTensor(std::string(name));
    return tensor == nullptr
               ? fallback
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(tensor->extents[1], maxWidth));
}

/// `width`: of the dense MLPs, which no sparse layer has.
void readExperts(ModelPlan& plan, const Family& family, std::uint32_t width, GgufFields& fields,
                 const GgufFile& file)
{
    MoePlan& moe = *plan.moe;
    moe.expertWidth =
        fields.countOr("expert_feed_forward_length",
                       rowsOf(file, "blk.0.ffn_gate_exps.weight", width), 1, maxWidth);
    moe.experts = fields.count("expert_count", 1, maxExperts);
    moe.chosen = fields.count("expert_used_count", 1, maxExperts);
    if (!family.normalisesWeights)
        moe.normaliseWeights = fields.flagOr("expert_weights_norm", family.ggufNormalises);
    if (family.sharedExpert)
        moe.sharedWidth =
            fields.countOr("expert_shared_feed_forward_length",
                           rowsOf(file, "blk.0.ffn_gate_shexp.weight", width), 1, maxWidth);
}

void readSizes(ModelPlan& plan, const Family& family, GgufFields& fields, const GgufFile& file)
{
    plan.hidden = fields.count("embedding_length", 1, maxWidth);
    plan.heads = fields.count("attention.head_count", 1, maxHeads);
    plan.kvHeads = fields.countOr("attention.head_count_kv", plan.heads, 1, maxHeads);
    plan.headDim = fields.countOr("attention.key_length", plan.hidden / plan.heads, 1, maxWidth);
    plan.context = fields.count("context_length", 1, maxContext);
    const bool sparse = family.sparse != SparseRule::Never;
    plan.layers.assign(fields.count("block_count", 1, maxLayers), LayerPlan{sparse, 0});
    const std::uint32_t width = fields.count("feed_forward_length", 1, maxWidth);
    if (sparse)
        readExperts(plan, family, width, fields, file);
    if (family.sparse != SparseRule::Always)
        plan.mlpWidth = width;
    const GgufTensor* embedding = file.findTensor("token_embd.weight");
    const std::uint64_t rows = embedding == nullptr ? 0 : embedding->extents[1];
    plan.vocabulary =
        fields.has("vocab_size")
            ? fields.count("vocab_size", 1, maxVocabulary)
            : static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, maxVocabulary));
}

/// What a file can say that the plan cannot.
void refuseOthers(const ModelPlan& plan, const Family& family, GgufFields& fields)
{
    const std::string supported = "Supported: " + supportedGgufArchitectures();
    if (family.sparse == SparseRule::Never && fields.countOr("expert_count", 0, 0, maxExperts) > 0)
        fields.fail(Errc::Unsupported, "has experts, which this architecture has not", supported);
    if (fields.countOr("attention.sliding_window", 0, 0, maxContext) > 0)
        fields.fail(Errc::Unsupported, "has layers that see only a window of the tokens",
                    "Use the model's Hugging Face folder");
    if (plan.rope.kind == RopeKind::None)
        return;
    if (fields.countOr("attention.value_length", plan.headDim, 1, maxWidth) != plan.headDim
        || fields.countOr("rope.dimension_count", plan.headDim, 1, maxWidth) != plan.headDim)
        fields.fail(Errc::Unsupported,
                    "has heads whose queries, values and rotation differ in width", supported);
}

/// The values of rope_freqs.weight. Errors: Damaged.
Result<std::vector<float>> readRopeFactors(const GgufFile& file, const GgufTensor& tensor,
                                           std::uint32_t headDim)
{
    const auto bytes = file.mapped()->bytes().subspan(tensor.offset, tensor.size);
    const GgmlType* type = findGgmlType(tensor.type);
    std::vector<float> factors(headDim / 2);
    if (type == nullptr || type->packed() || type->dtype != numeric::DType::FP32
        || bytes.size() != factors.size() * sizeof(float))
        return Error{Errc::Damaged,
                     "tensor rope_freqs.weight does not hold one fp32 factor for "
                     "each pair of a head",
                     file.place(), "Fetch the file again"};
    std::memcpy(factors.data(), bytes.data(), bytes.size());
    return factors;
}

/// The factor that llama.cpp's converter writes for frequency i (convert_hf_to_gguf.py, Llama 3),
/// in double precision.
double llama3Factor(const RopePlan& rope, std::size_t i, std::uint32_t headDim)
{
    const double exponent = 2.0 * static_cast<double>(i) / headDim;
    const double wave = 2 * std::numbers::pi * std::pow(rope.theta, exponent);
    const double shortest = rope.originalContext / rope.highFrequencyFactor;
    const double longest = rope.originalContext / rope.lowFrequencyFactor;
    if (wave < shortest)
        return 1;
    if (wave > longest)
        return rope.factor;
    const double smooth = (rope.originalContext / wave - rope.lowFrequencyFactor)
                          / (rope.highFrequencyFactor - rope.lowFrequencyFactor);
    return 1 / ((1 - smooth) / rope.factor + smooth);
}

bool agrees(const RopePlan& rope, const std::vector<float>& factors, std::uint32_t headDim)
{
    // The converter computes in fp32: a few ulps, and more where its wave length is nearly a bound.
    constexpr double tolerance = 1e-5;
    for (std::size_t i = 0; i < factors.size(); ++i)
        if (!(std::abs(factors[i] / llama3Factor(rope, i, headDim) - 1) <= tolerance))
            return false;
    return true;
}

/// Finds llama3's parameters from its factors: the largest is the factor itself, the frequency
/// factors are 1 and 4 in every model known, and the original context is one of a few.
Result<void> recogniseLlama3(ModelPlan& plan, GgufFields& fields, const GgufFile& file,
                             const GgufTensor& tensor)
{
    const auto factors = readRopeFactors(file, tensor, plan.headDim);
    if (!factors)
        return factors.error();
    constexpr std::uint32_t usualContext = 8192; ///< of Llama 3
    RopePlan rope = plan.rope;
    rope.scaling = RopeScaling::Llama3;
    rope.lowFrequencyFactor = 1;
    rope.highFrequencyFactor = 4;
    rope.factor = factors->empty() ? 1 : *std::max_element(factors->begin(), factors->end());
    const double shrunk = plan.context / rope.factor;
    const auto named =
        fields.countOr("rope.scaling.original_context_length", usualContext, 1, maxContext);
    const auto derived =
        shrunk >= 1 && shrunk <= maxContext ? static_cast<std::uint32_t>(shrunk) : usualContext;
    for (const std::uint32_t context : {named, usualContext, derived}) {
        rope.originalContext = context;
        if (agrees(rope, *factors, plan.headDim)) {
            plan.rope = rope;
            return {};
        }
    }
    return Error{Errc::Unsupported,
                 "scales its rotary frequencies (rope_freqs.weight) in a way that is not llama3's",
                 file.place(), "Use the model's Hugging Face folder"};
}

void readYarn(RopePlan& rope, std::uint32_t context, GgufFields& fields)
{
    rope.scaling = RopeScaling::Yarn;
    rope.factor = fields.positive("rope.scaling.factor");
    rope.originalContext =
        fields.countOr("rope.scaling.original_context_length", context, 1, maxContext);
    rope.attentionFactor = yarnMagnitude(rope.factor, 1.0);
    for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_log_multiplier",
                            "rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor",
                            "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow"})
        if (fields.has(key))
            fields.fail(Errc::Unsupported, std::string("sets ") + key + ", which is not supported",
                        "Use the model's Hugging Face folder");
}

Result<void> readRope(ModelPlan& plan, GgufFields& fields, const GgufFile& file)
{
    plan.rope.theta = fields.positiveOr("rope.freq_base", plan.rope.theta);
    const std::string kind = fields.textOr("rope.scaling.type", "none");
    if (kind == "linear") {
        plan.rope.scaling = RopeScaling::Linear;
        plan.rope.factor = fields.positive("rope.scaling.factor");
        plan.rope.originalContext = plan.context;
    } else if (kind == "yarn") {
        readYarn(plan.rope, plan.context, fields);
    } else if (kind != "none") {
        fields.fail(Errc::Unsupported, "rope scaling " + kind + " is not supported",
                    "Supported: linear, llama3, yarn");
    }
    widenContext(plan);
    const GgufTensor* factors = file.findTensor(ropeFactors);
    if (factors == nullptr || !fields.status())
        return fields.status();
    return recogniseLlama3(plan, fields, file, *factors);
}

std::vector<std::int32_t> readEndTokens(const GgufFile& file)
{
    std::vector<std::int32_t> ids;
    GgufFields fields(file, "tokenizer.ggml.");
    for (const std::string_view key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
        const GgufValue* value = fields.find(key);
        const auto id = value == nullptr ? std::nullopt : unsignedOf(*value);
        if (id && *id <= std::uint64_t{std::numeric_limits<std::int32_t>::max()})
            ids.push_back(static_cast<std::int32_t>(*id));
    }
    return ids;
}

/// Whether the layers' module (by its GGUF stem, such as "attn_q") has a bias.
bool hasBias(const GgufFile& file, std::string_view stem)
{
    return file.findTensor("blk.0." + std::string(stem) + ".bias") != nullptr;
}

numeric::DType ownDType(const GgufFile& file)
{
    const GgufTensor* projection = file.findTensor("blk.0.attn_q.weight");
    if (projection == nullptr)
        projection = file.findTensor("blk.0.attn_qkv.weight");
    const GgmlType* type = projection == nullptr ? nullptr : findGgmlType(projection->type);
    return type == nullptr ? numeric::DType::FP32 : type->dtype;
}

} // namespace

Result<ModelPlan> planFromGguf(const GgufFile& file)
{
    GgufFields general(file, "general.");
    const std::string name = general.text("architecture");
    if (auto read = general.status(); !read)
        return read.error();
    GgufFields fields(file, name + ".");
    const Family* family =
        findGgufFamily(name, fields.countOr("expert_count", 0, 0, maxExperts) > 0);
    if (family == nullptr)
        return Error{Errc::Unsupported, "the architecture " + name + " is not supported",
                     file.place(), "Supported: " + supportedGgufArchitectures()};

    ModelPlan plan = familyPlan(*family);
    readSizes(plan, *family, fields, file);
    refuseOthers(plan, *family, fields);
    const bool rms =
        family->norm == NormKind::RmsRoundTwice || family->norm == NormKind::RmsRoundOnce;
    plan.normEps =
        fields.positive(rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon");
    if (family->clipsQkv && fields.has("attention.clamp_kqv"))
        plan.clipQkv = fields.positive("attention.clamp_kqv");
    if (auto read = fields.status(); !read)
        return read.error();
    if (auto checked = checkSizes(plan, file.place()); !checked)
        return checked.error();
    plan.qkvBias = hasBias(file, family->fusedQkv ? "attn_qkv" : "attn_q");
    plan.outBias = hasBias(file, "attn_output");
    plan.mlpBias = family->sparse == SparseRule::Never && hasBias(file, "ffn_down");
    plan.tiedHead = file.findTensor("output.weight") == nullptr;
    plan.endTokens = readEndTokens(file);
    plan.dtype = ownDType(file);
    if (plan.rope.kind != RopeKind::None)
        if (auto read = readRope(plan, fields, file); !read)
            return read.error();
    return plan;
}

} // namespace moire::capture
