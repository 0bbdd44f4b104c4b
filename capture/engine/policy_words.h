// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/policy.h"
#include "capture/model/model_plan.h"
#include "core/base/result.h"

#include <string_view>

namespace moire::capture {

/// The model's own 16-bit dtype; bf16 where it has none.
numeric::DType narrowDType(const ModelPlan& plan);

/// Whether a policy of this name needs no rules of anybody's.
bool isPolicyWord(std::string_view word);

/// The rules that a policy's word stands for (POLICIES.md), those left out that match no module of
/// the model. Errors: Invalid for an unknown word or part, one given twice, or one that the model
/// does not have.
Result<PolicyRules> rulesOfWord(std::string_view word, const ModelPlan& plan);

} // namespace moire::capture
