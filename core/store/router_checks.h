// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/records.h"

#include <cstddef>
#include <string>
#include <vector>

namespace moire::store {

/// A MoE layer's routing at one row as it lies in the file.
struct RouterLines
{
    const std::byte* ids;
    const std::byte* weights;
    const std::byte* logits;
    const std::byte* scores; ///< null where the logits choose
};

/// What of a row's routing contradicts itself. An expert comes once, and padding last. Where no
/// scores were recorded no expert that was left out has a larger logit than a chosen one; and the
/// weights are, up to a common factor, the softmax or the sigmoids of the chosen experts' logits.
/// Scores may choose by groups and biases that no capture holds, so that there nothing but the ids
/// is judged, and so where a logit is not finite. Rounding of the runs' own is let pass: 2⁻⁷ of a
/// logit, 0.05 of the weights' sum.
std::vector<std::string> routerFaults(const trace::RouterLayer& router, const RouterLines& lines);

} // namespace moire::store
