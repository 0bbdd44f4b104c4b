// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/config.h"

#include "capture/model/families.h"
#include "capture/model/json_text.h"
#include "capture/model/plan_check.h"
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

void readSizes(ModelPlan& plan, const Family& family, JsonFields& fields)
{
    plan.vocabulary = fields.count("vocab_size", 1, maxVocabulary);
    plan.hidden = fields.count("hidden_size", 1, maxWidth);
    plan.heads = fields.count("num_attention_heads", 1, maxHeads);
    plan.kvHeads = fields.countOr("num_key_value_heads", plan.heads, 1, maxHeads);
    plan.context = fields.count("max_position_embeddings", 1, maxContext);
    setLayers(plan, family, fields.count("num_hidden_layers", 1, maxLayers));
    const std::uint32_t width = fields.count("intermediate_size", 1, maxWidth);
    if (family.sparse) {
        plan.moe->expertWidth = width;
        const char* experts = fields.has("num_local_experts") ? "num_local_experts" : "num_experts";
        plan.moe->experts = fields.count(experts, 1, maxExperts);
        plan.moe->chosen = fields.count("num_experts_per_tok", 1, maxExperts);
        plan.moe->normaliseWeights = fields.flagOr("norm_topk_prob", false);
    } else {
        plan.mlpWidth = width;
    }
    plan.headDim = fields.countOr("head_dim", 0, 1, maxWidth);
    if (plan.headDim == 0) {
        if (plan.hidden % plan.heads != 0)
            fields.fail(Errc::Damaged, "hidden_size " + std::to_string(plan.hidden)
                                           + " is no multiple of num_attention_heads "
                                           + std::to_string(plan.heads)
                                           + " and there is no head_dim");
        plan.headDim = plan.hidden / plan.heads;
    }
}

void readActivation(ModelPlan& plan, JsonFields& fields)
{
    const std::string name = fields.textOr("hidden_act", "silu");
    if (name != "silu" && name != "swish")
        fields.fail(Errc::Unsupported,
                    "hidden_act " + name + " is not supported for " + plan.architecture,
                    "Supported: silu");
    plan.activation = Activation::Silu;
}

void checkWholeRotation(JsonFields& fields)
{
    if (fields.positiveOr("partial_rotary_factor", 1.0) != 1.0)
        fields.fail(Errc::Unsupported, "a partial_rotary_factor other than 1 is not supported",
                    "Supported: models that rotate whole heads");
}

/// The parameters of a scaling, from `rope_scaling` or `rope_parameters`.
void readScaling(RopePlan& rope, JsonFields& fields)
{
    const char* key = fields.has("rope_type") ? "rope_type" : "type";
    const std::string kind = fields.textOr(key, "default");
    checkWholeRotation(fields);
    if (kind == "default")
        return;
    if (kind == "linear") {
        rope.scaling = RopeScaling::Linear;
        rope.factor = fields.positive("factor");
        return;
    }
    if (kind != "llama3") {
        fields.fail(Errc::Unsupported, "rope scaling " + kind + " is not supported",
                    "Supported: default, linear, llama3");
        return;
    }
    rope.scaling = RopeScaling::Llama3;
    rope.factor = fields.positive("factor");
    rope.lowFrequencyFactor = fields.positive("low_freq_factor");
    rope.highFrequencyFactor = fields.positive("high_freq_factor");
    rope.originalContext = fields.count("original_max_position_embeddings", 1, maxContext);
    if (!(rope.highFrequencyFactor > rope.lowFrequencyFactor))
        fields.fail(Errc::Damaged, "high_freq_factor is not above low_freq_factor");
}

Result<void> readRope(ModelPlan& plan, JsonFields& fields, const std::string& place)
{
    plan.rope.theta = fields.positiveOr("rope_theta", plan.rope.theta);
    checkWholeRotation(fields);
    for (const std::string key : {"rope_scaling", "rope_parameters"}) {
        const json* object = fields.find(key);
        if (object == nullptr)
            continue;
        JsonFields inner(*object, place, key + ".");
        plan.rope.theta = inner.positiveOr("rope_theta", plan.rope.theta);
        readScaling(plan.rope, inner);
        if (auto read = inner.status(); !read)
            return read;
    }
    return {};
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

    ModelPlan plan = familyPlan(**family);
    readSizes(plan, **family, fields);
    readActivation(plan, fields);
    plan.normEps = fields.positive("rms_norm_eps");
    plan.qkvBias = plan.outBias = fields.flagOr("attention_bias", false);
    if (!(*family)->sparse)
        plan.mlpBias = fields.flagOr("mlp_bias", false);
    if ((*family)->qkNorm == QkNorm::WholeWidth && fields.has("clip_qkv"))
        plan.clipQkv = fields.positive("clip_qkv");
    plan.tiedHead = fields.flagOr("tie_word_embeddings", false);
    plan.endTokens = readEndTokens(fields);
    const auto dtype = readDType(fields);
    plan.dtype = dtype.value_or(numeric::DType::FP32);
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
