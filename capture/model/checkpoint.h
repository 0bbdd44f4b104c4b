// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "capture/model/tokenizer.h"
#include "capture/model/weights.h"
#include "core/base/result.h"

#include <filesystem>
#include <memory>

namespace moire::capture {

/// A model as found on disk: plan, weights and tokenizer, all checked against each other (every
/// tensor that the plan needs is there with the shape it needs; a missing or misshapen one is
/// named).
struct Checkpoint
{
    ModelPlan plan;
    std::shared_ptr<const Weights> weights;
    std::shared_ptr<const Tokenizer>
        tokenizer;        ///< null when the folder has none; only ids can be run then
    Error tokenizerError; ///< why it is null
};

/// Opens a Hugging Face folder or a .gguf file.
Result<Checkpoint> openCheckpoint(const std::filesystem::path& path);

} // namespace moire::capture
