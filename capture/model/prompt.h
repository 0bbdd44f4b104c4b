// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/records.h"

#include <cstdint>
#include <vector>

namespace moire::capture {

/// One sample to run. ids[0 … promptLength) are the prompt; what follows is a response to be
/// scored.
struct Prompt
{
    trace::Sample sample;
    std::vector<std::int32_t> ids;
    std::uint32_t promptLength = 0;
    std::vector<std::int32_t> askedIds; ///< answer letters whose logits are recorded at every row
};

} // namespace moire::capture
