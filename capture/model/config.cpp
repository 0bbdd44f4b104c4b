// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/config.h"

#include "capture/model/families.h"
#include "capture/model/json_text.h"
#include "capture/model/layer_config.h"
#include "capture/model/plan_check.h"
#include "capture/model/rope_config.h"
#include "core/base/file.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace moire::capture {

namespace {

using nlohmann::json;

constexpr std::size_t maxConfigBytes = 16U << 20;
constexpr int maxConfigDepth = 16;

void readHeadDim(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    plan.headDim = fields.countOr("head_dim", family.headDim, 1, maxWidth);
    if (plan.headDim != 0)
        return;
    if (plan.hidden % plan.heads != 0)
        fields.fail(Errc::Damaged, std::string(family.keys.hidden) + " "
                                       + std::to_string(plan.hidden) + " is no multiple of "
                                       + std::string(family.keys.heads) + " "
                                       + std::to_string(plan.heads) + " and there is no head_dim");
    plan.headDim = plan.hidden / plan.heads;
}

void readExperts(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    MoePlan& moe = *plan.moe;
    moe.expertWidth = fields.count(family.keys.expertWidth, 1, maxWidth);
    const char* experts = fields.has("num_local_experts") ? "num_local_experts" : "num_experts";
    moe.experts = fields.count(experts, 1, maxExperts);
    moe.chosen = fields.count("num_experts_per_tok", 1, maxExperts);
    if (!family.normalisesWeights)
        moe.normaliseWeights = fields.flagOr("norm_topk_prob", false);
    if (family.sharedExpert)
        moe.sharedWidth = fields.count("shared_expert_intermediate_size", 1, maxWidth);
}

void readSizes(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    const ConfigKeys& keys = family.keys;
    plan.vocabulary = fields.count("vocab_size", 1, maxVocabulary);
    plan.hidden = fields.count(keys.hidden, 1, maxWidth);
    plan.heads = fields.count(keys.heads, 1, maxHeads);
    plan.kvHeads = family.fusedQkv ? plan.heads
                                   : fields.countOr("num_key_value_heads", plan.heads, 1, maxHeads);
    plan.context = fields.count(keys.context, 1, maxContext);
    if (family.sparse != SparseRule::Never)
        readExperts(plan, family, fields);
    if (family.mlpFactor > 0)
        plan.mlpWidth = fields.countOr(keys.mlpWidth, family.mlpFactor * plan.hidden, 1, maxWidth);
    else if (family.sparse != SparseRule::Always)
        plan.mlpWidth = fields.count(keys.mlpWidth, 1, maxWidth);
    readHeadDim(plan, family, fields);
}

void readActivation(const ModelPlan& plan, const Family& family, JsonFields& fields)
{
    constexpr std::array spellings{
        std::pair{Activation::Silu, "silu"}, std::pair{Activation::Silu, "swish"},
        std::pair{Activation::GeluNew, "gelu_new"}, std::pair{Activation::ReluSquared, "relu2"}};
    std::string usual;
    for (const auto& [activation, spelling] : spellings)
        if (activation == family.activation && usual.empty())
            usual = spelling;
    const std::string name = fields.textOr(family.keys.activation, usual);
    for (const auto& [activation, spelling] : spellings)
        if (activation == family.activation && name == spelling)
            return;
    fields.fail(Errc::Unsupported,
                std::string(family.keys.activation) + " " + name + " is not supported for "
                    + plan.architecture,
                "Supported: " + usual);
}

bool readBias(BiasRule rule, std::string_view key, JsonFields& fields)
{
    switch (rule) {
    case BiasRule::Never:
        return false;
    case BiasRule::Always:
        return true;
    case BiasRule::IfNamed:
        return fields.flagOr(key, false);
    case BiasRule::UnlessDenied:
        return fields.flagOr(key, true);
    }
    return false;
}

/// Options of GPT-2's attention.
void readGpt2Attention(ModelPlan& plan, JsonFields& fields)
{
    for (const char* key : {"reorder_and_upcast_attn", "add_cross_attention"})
        if (fields.flagOr(key, false))
            fields.fail(Errc::Unsupported, std::string(key) + " is not supported",
                        "Supported: models without it");
    plan.scaleAttention = fields.flagOr("scale_attn_weights", true);
    plan.scaleByInverseLayer = fields.flagOr("scale_attn_by_inverse_layer_idx", false);
}

std::optional<numeric::DType> readDType(JsonFields& fields)
{
    const char* key = fields.has("dtype") ? "dtype" : "torch_dtype";
    if (!fields.has(key))
        return std::nullopt;
    std::string name = fields.text(key);
    constexpr std::string_view prefix = "torch.";
    if (name.starts_with(prefix))
        name.erase(0, prefix.size());
    constexpr std::array known{std::pair{"bfloat16", numeric::DType::BF16},
                               std::pair{"float16", numeric::DType::FP16},
                               std::pair{"float32", numeric::DType::FP32}};
    for (const auto& [spelling, dtype] : known)
        if (name == spelling)
            return dtype;
    fields.fail(Errc::Unsupported, std::string(key) + " " + name + " is not supported",
                "Supported: bfloat16, float16, float32");
    return std::nullopt;
}

/// An id, a list of ids, or nothing.
std::vector<std::int32_t> readEndTokens(JsonFields& fields)
{
    constexpr std::string_view key = "eos_token_id";
    const json* value = fields.find(key);
    if (value == nullptr)
        return {};
    const auto single = json::array({*value});
    const json& list = value->is_array() ? *value : single;
    std::vector<std::int32_t> ids;
    for (const json& id : list) {
        if (!id.is_number_unsigned()
            || id.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max()) {
            fields.failType(key, id, "a token id or a list of token ids");
            return {};
        }
        ids.push_back(static_cast<std::int32_t>(id.get<std::uint64_t>()));
    }
    return ids;
}

Result<const Family*> readFamily(JsonFields& fields, const std::string& place)
{
    const json* list = fields.find("architectures");
    if (list == nullptr)
        return Error{Errc::Damaged, "has no key architectures", place, comparePublished};
    if (!list->is_array() || list->empty() || !list->front().is_string()) {
        fields.failType("architectures", *list, "a list with one name");
        return fields.status().error();
    }
    const auto& name = list->front().get_ref<const std::string&>();
    const Family* family = findFamily(name);
    if (family == nullptr)
        return Error{Errc::Unsupported, "the architecture " + name + " is not supported", place,
                     "Supported: " + supportedArchitectures()};
    return family;
}

} // namespace

Result<ConfiguredPlan> planFromConfig(std::string_view text, const std::string& place)
{
    auto document = parseJson(text, place, maxConfigDepth);
    if (!document)
        return document.error();
    JsonFields fields(*document, place);
    if (auto read = fields.status(); !read)
        return read.error();
    const auto family = readFamily(fields, place);
    if (!family)
        return family.error();
    if (fields.has("quantization_config"))
        return Error{Errc::Unsupported, "describes quantised weights (quantization_config)", place,
                     "Take a checkpoint that is not quantised, or a .gguf file"};

    const Family& traits = **family;
    ModelPlan plan = familyPlan(traits);
    readSizes(plan, traits, fields);
    if (auto read = fields.status(); !read)
        return read.error();
    readLayers(plan, traits, fields);
    readActivation(plan, traits, fields);
    if (!traits.keys.normEps.empty())
        plan.normEps = fields.positive(traits.keys.normEps);
    plan.qkvBias = readBias(traits.qkvBias, traits.keys.qkvBias, fields);
    plan.outBias = plan.qkvBias && traits.outBias;
    plan.mlpBias = readBias(traits.mlpBias, "mlp_bias", fields);
    if (traits.clipsQkv && fields.has("clip_qkv"))
        plan.clipQkv = fields.positive("clip_qkv");
    if (traits.names == NameStyle::Gpt2)
        readGpt2Attention(plan, fields);
    plan.tiedHead = fields.flagOr("tie_word_embeddings", traits.tiedHead);
    plan.endTokens = readEndTokens(fields);
    const auto dtype = readDType(fields);
    plan.dtype = dtype.value_or(numeric::DType::FP32);
    if (traits.rope != RopeKind::None)
        if (auto read = readRope(plan, fields, place); !read)
            return read.error();
    if (auto read = fields.status(); !read)
        return read.error();
    if (auto checked = checkSizes(plan, place); !checked)
        return checked.error();
    return ConfiguredPlan{std::move(plan), dtype.has_value()};
}

Result<ConfiguredPlan> planFromFolder(const std::filesystem::path& folder)
{
    const auto path = folder / "config.json";
    const auto text = base::readSmallFile(path, maxConfigBytes);
    if (!text)
        return text.error();
    auto configured = planFromConfig(*text, path.string());
    if (!configured)
        return configured;

    const auto generationPath = folder / "generation_config.json";
    const auto generation = base::readSmallFile(generationPath, maxConfigBytes);
    if (!generation) {
        if (generation.error().code == Errc::NotFound)
            return configured;
        return generation.error();
    }
    const auto document = parseJson(*generation, generationPath.string(), maxConfigDepth);
    if (!document)
        return document.error();
    JsonFields fields(*document, generationPath.string());
    auto endTokens = readEndTokens(fields);
    if (auto read = fields.status(); !read)
        return read.error();
    if (!endTokens.empty())
        configured->plan.endTokens = std::move(endTokens);
    return configured;
}

} // namespace moire::capture
