// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/records.h"

#include <cstdint>
#include <string>
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

    /// How the sample's prediction is found.
    enum class Scoring
    {
        None,
        Logits, ///< the letter whose askedIds' logit is largest in the prompt's last row
        Text,   ///< the first letter that stands alone in what the model writes
    };
    Scoring scoring = Scoring::None;
    std::vector<std::string> letters; ///< of the choices, in their order
};

} // namespace moire::capture
