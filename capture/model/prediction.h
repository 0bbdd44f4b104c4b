// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// The letter with the largest logit (`logits`: one a letter), the first of several; "" when none
/// is a number.
std::string letterByLogits(std::span<const float> logits, const std::vector<std::string>& letters);

/// The letter that comes first in a text with no word character (letter, digit, mark, "_") beside
/// it, as in "The answer is (B)."; "" when none does.
std::string letterInText(std::string_view text, const std::vector<std::string>& letters);

} // namespace moire::capture
