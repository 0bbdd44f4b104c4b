// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/rope_config.h"

#include "capture/model/plan_check.h"

#include <algorithm>
#include <cmath>

namespace moire::capture {

namespace {

void checkWholeRotation(JsonFields& fields)
{
    if (fields.positiveOr("partial_rotary_factor", 1.0) != 1.0)
        fields.fail(Errc::Unsupported, "a partial_rotary_factor other than 1 is not supported",
                    "Supported: models that rotate whole heads");
}

void readLlama3(ModelPlan& plan, JsonFields& fields)
{
    RopePlan& rope = plan.rope;
    rope.scaling = RopeScaling::Llama3;
    rope.factor = fields.positive("factor");
    rope.lowFrequencyFactor = fields.positive("low_freq_factor");
    rope.highFrequencyFactor = fields.positive("high_freq_factor");
    rope.originalContext = fields.count("original_max_position_embeddings", 1, maxContext);
    if (!(rope.highFrequencyFactor > rope.lowFrequencyFactor))
        fields.fail(Errc::Damaged, "high_freq_factor is not above low_freq_factor");
}

void readYarn(ModelPlan& plan, JsonFields& fields)
{
    RopePlan& rope = plan.rope;
    rope.scaling = RopeScaling::Yarn;
    rope.originalContext =
        fields.countOr("original_max_position_embeddings", plan.context, 1, maxContext);
    rope.factor = fields.has("factor") ? fields.positive("factor")
                                       : static_cast<double>(plan.context) / rope.originalContext;
    rope.betaFast = fields.positiveOr("beta_fast", rope.betaFast);
    rope.betaSlow = fields.positiveOr("beta_slow", rope.betaSlow);
    rope.truncate = fields.flagOr("truncate", true);
    if (fields.has("attention_factor"))
        rope.attentionFactor = fields.positive("attention_factor");
    else if (fields.has("mscale") && fields.has("mscale_all_dim"))
        rope.attentionFactor = yarnMagnitude(rope.factor, fields.positive("mscale"))
                               / yarnMagnitude(rope.factor, fields.positive("mscale_all_dim"));
    else
        rope.attentionFactor = yarnMagnitude(rope.factor, 1.0);
}

void readScaling(ModelPlan& plan, JsonFields& fields)
{
    RopePlan& rope = plan.rope;
    const char* key = fields.has("rope_type") ? "rope_type" : "type";
    const std::string kind = fields.textOr(key, "default");
    checkWholeRotation(fields);
    if (kind == "default")
        return;
    if (kind == "linear" || kind == "dynamic") {
        rope.scaling = kind == "linear" ? RopeScaling::Linear : RopeScaling::Dynamic;
        rope.factor = fields.positive("factor");
        rope.originalContext = plan.context;
    } else if (kind == "llama3") {
        readLlama3(plan, fields);
    } else if (kind == "yarn") {
        readYarn(plan, fields);
    } else {
        fields.fail(Errc::Unsupported, "rope scaling " + kind + " is not supported",
                    "Supported: default, linear, dynamic, llama3, yarn");
    }
}

} // namespace

Result<void> readRope(ModelPlan& plan, JsonFields& fields, const std::string& place)
{
    plan.rope.theta = fields.positiveOr("rope_theta", plan.rope.theta);
    checkWholeRotation(fields);
    if (auto read = fields.status(); !read)
        return read;
    for (const std::string key : {"rope_scaling", "rope_parameters"}) {
        const nlohmann::json* object = fields.find(key);
        if (object == nullptr)
            continue;
        JsonFields inner(*object, place, key + ".");
        plan.rope.theta = inner.positiveOr("rope_theta", plan.rope.theta);
        readScaling(plan, inner);
        if (auto read = inner.status(); !read)
            return read;
    }
    widenContext(plan);
    return {};
}

double yarnMagnitude(double factor, double weight)
{
    return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

void widenContext(ModelPlan& plan)
{
    const double reach = plan.rope.factor * plan.rope.originalContext;
    const RopeScaling scaling = plan.rope.scaling;
    if (scaling != RopeScaling::None && scaling != RopeScaling::Llama3 && reach > plan.context)
        plan.context = static_cast<std::uint32_t>(std::min<double>(reach, maxContext));
}

} // namespace moire::capture
