// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/gguf_file.h"
#include "capture/model/model_plan.h"
#include "core/base/result.h"

namespace moire::capture {

/// The plan that the metadata and tensors of a GGUF file describe. A head without a tensor of its
/// own is tied to the embedding; the model's own dtype is that of its projections, fp32 where they
/// are packed. llama.cpp keeps llama3's rope scaling as one factor per frequency
/// (rope_freqs.weight) instead of its parameters; these are found again, and factors of another
/// origin are refused. Errors: Unsupported (architecture, rope scaling), Damaged (key missing or
/// out of range), named.
Result<ModelPlan> planFromGguf(const GgufFile& file);

} // namespace moire::capture
