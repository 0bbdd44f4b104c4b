// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace moire::capture {

/// A plan read from a description of the model.
struct ConfiguredPlan
{
    ModelPlan plan;
    bool dtypeNamed = false; ///< else the dtype of the weights is the model's own
};

/// The text of a config.json, in the style of transformers 4 (`rope_theta`, `rope_scaling`,
/// `torch_dtype`) or 5 (`rope_parameters`, `dtype`). `place` is the file's name for errors.
/// Errors: Unsupported (architecture, rope scaling, activation, quantisation, named with what is
/// supported), Damaged (key missing, of the wrong type or out of range, named).
Result<ConfiguredPlan> planFromConfig(std::string_view text, const std::string& place);

/// config.json of a folder; the end tokens of generation_config.json win over its own, as in
/// transformers' generate().
Result<ConfiguredPlan> planFromFolder(const std::filesystem::path& folder);

} // namespace moire::capture
