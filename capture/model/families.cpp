// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/families.h"

#include <algorithm>
#include <array>

namespace moire::capture {

namespace {

constexpr std::array families{
    Family{"LlamaForCausalLM", "llama", NormKind::RmsRoundTwice, NormPlace::BeforeBlocks,
           QkNorm::None, RopeKind::RoundEach, false, true},
    Family{"OlmoeForCausalLM", "olmoe", NormKind::RmsRoundTwice, NormPlace::BeforeBlocks,
           QkNorm::WholeWidth, RopeKind::RoundEach, true, false},
};

const Family* findBy(std::string_view Family::*key, std::string_view name)
{
    const auto it = std::find_if(families.begin(), families.end(),
                                 [&](const Family& family) { return family.*key == name; });
    return it == families.end() ? nullptr : &*it;
}

} // namespace

const Family* findFamily(std::string_view architecture)
{
    return findBy(&Family::architecture, architecture);
}

const Family* findGgufFamily(std::string_view ggufName)
{
    return findBy(&Family::ggufName, ggufName);
}

std::string supportedArchitectures()
{
    std::string list;
    for (const Family& family : families)
        list += (list.empty() ? "" : ", ") + std::string(family.architecture);
    return list;
}

ModelPlan familyPlan(const Family& family)
{
    ModelPlan plan;
    plan.architecture = family.architecture;
    plan.norm = family.norm;
    plan.normPlace = family.normPlace;
    plan.qkNorm = family.qkNorm;
    plan.rope.kind = family.rope;
    if (family.sparse)
        plan.moe.emplace();
    return plan;
}

void setLayers(ModelPlan& plan, const Family& family, std::size_t count)
{
    plan.layers.assign(count, LayerPlan{family.sparse, 0});
}

} // namespace moire::capture
