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

} // namespace moire::capture
