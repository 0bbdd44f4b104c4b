// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// What every model of a family has in common, whatever its configuration says.
struct Family
{
    std::string_view architecture; ///< in config.json
    std::string_view ggufName;     ///< general.architecture
    NormKind norm;
    NormPlace normPlace;
    QkNorm qkNorm;
    RopeKind rope;
    bool sparse;       ///< every layer is a mixture of experts of `intermediate_size`
    bool ggufPermutes; ///< llama.cpp stores q and k rows in its own rotary order
};

/// Null when the family is not supported.
const Family* findFamily(std::string_view architecture);
const Family* findGgufFamily(std::string_view ggufName);

/// "LlamaForCausalLM, OlmoeForCausalLM", for the sentence that refuses another.
std::string supportedArchitectures();

/// A plan with the family's traits and none of the sizes.
ModelPlan familyPlan(const Family& family);

/// Gives the plan its layers, all alike.
void setLayers(ModelPlan& plan, const Family& family, std::size_t count);

} // namespace moire::capture
