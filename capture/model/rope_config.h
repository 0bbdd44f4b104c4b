// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/json_text.h"
#include "capture/model/model_plan.h"
#include "core/base/result.h"

#include <string>

namespace moire::capture {

/// Rotation as config.json has it: `rope_theta` and `rope_scaling` at the top level, or
/// `rope_parameters`. Widens plan.context to what the scaling reaches. Errors: Unsupported (a
/// scaling, rotation of a part of a head), Damaged (a key missing, of the wrong type or out of
/// range); those of the top level are remembered in `fields`, too.
Result<void> readRope(ModelPlan& plan, JsonFields& fields, const std::string& place);

/// On cosines and sines: 0.1 · weight · ln factor + 1 (YaRN, arXiv 2309.00071, equation 22).
double yarnMagnitude(double factor, double weight);

/// plan.context to the positions that a scaled model serves: the number in its configuration can be
/// that of its training (not where the scaling is llama3, which came with the extended one).
void widenContext(ModelPlan& plan);

} // namespace moire::capture
