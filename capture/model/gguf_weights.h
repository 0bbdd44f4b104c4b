// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/gguf_file.h"
#include "capture/model/model_plan.h"
#include "capture/model/weights.h"
#include "core/base/result.h"

#include <memory>

namespace moire::capture {

/// The tensors of a GGUF file under the hub's names: packed types as fp32, one entry per expert,
/// the rows of q and k in the hub's order. Tensors that the hub does not have (rope_freqs.weight)
/// are no entries. Errors: Damaged (two tensors with the same meaning).
Result<std::shared_ptr<const Weights>> openGgufWeights(const GgufFile& file, const ModelPlan& plan);

} // namespace moire::capture
