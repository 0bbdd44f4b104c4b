// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "capture/model/weights.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>

/// Bounds of what a description of a model may say. Far above every known model, and small enough
/// that no product of two sizes overflows 64 bits.
namespace moire::capture {

inline constexpr std::uint32_t maxWidth = 1U << 22; ///< hidden, MLP, heads · headDim
inline constexpr std::uint32_t maxHeads = 1U << 16;
inline constexpr std::uint32_t maxLayers = 1U << 12;
inline constexpr std::uint32_t maxExperts = 1U << 12;
inline constexpr std::uint32_t maxVocabulary = 1U << 26;
inline constexpr std::uint32_t maxContext = 0x7FFFFFFFU;

/// Whether the sizes of a plan fit each other (heads are a multiple of the KV heads, an even head
/// width where it is rotated, no more experts chosen than there are …). Errors: Damaged.
Result<void> checkSizes(const ModelPlan& plan, const std::string& place);

/// Whether every tensor that the plan needs is there, with its shape and a float dtype, and whether
/// none of the decoder's is left over (a tied head's own weight is not read and may be there).
/// Errors: NotFound, Damaged (shape; tensors left over), Unsupported (dtype); each names the
/// tensor.
Result<void> checkTensors(const ModelPlan& plan, const Weights& weights, const std::string& place);

} // namespace moire::capture
