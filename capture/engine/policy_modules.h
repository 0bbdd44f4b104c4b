// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <string>
#include <vector>

namespace moire::capture {

/// Paths of the modules of a decoder that compute something themselves, in execution order: those
/// that a policy gives dtypes to. `….self_attn` stands for what happens between its projections
/// (rotation, cache, scores, softmax, weighted values), `….mlp.experts` for all experts.
std::vector<std::string> policyModules(const ModelPlan& plan);

} // namespace moire::capture
