// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/checkpoint.h"

namespace moire::bench {

/// A model of SmolLM2-135M's shapes with random weights of that dtype (fp32 or bf16), uniform in
/// ± 0.05, which keeps activations finite. No tokenizer.
capture::Checkpoint smolCheckpoint(numeric::DType dtype);

} // namespace moire::bench
