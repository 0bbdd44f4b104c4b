// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/families.h"
#include "capture/model/json_text.h"

namespace moire::capture {

/// Gives the plan its layers: which are a mixture of experts, which see only a window, by the
/// family's rules and by `layer_types` where config.json has it. What is wrong is remembered in
/// `fields`.
void readLayers(ModelPlan& plan, const Family& family, JsonFields& fields);

} // namespace moire::capture
