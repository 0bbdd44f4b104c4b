// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"

#include <cstdint>
#include <vector>

namespace moire::capture {

/// The headDim/2 inverse frequencies 1 / theta^(2i/headDim), scaled as the plan says. All fp32
/// operations in the order of transformers (modeling_rope_utils.py): angles multiply them by the
/// position, so that one ulp here shows there. powf of the C library. `length`: positions up to the
/// last one of the pass; only dynamic scaling depends on it, beyond the original context.
std::vector<float> inverseFrequencies(const RopePlan& rope, std::uint32_t headDim,
                                      std::int64_t length = 0);

} // namespace moire::capture
