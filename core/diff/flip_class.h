// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/row_record.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace moire::diff {

/// How surprising it is that the best token of a row differs (F4), by the gap in the reference
/// between its own choice and the target's.
enum class FlipClass : std::uint8_t
{
    ExactTie,
    FewUlps, ///< up to 2 last places
    NearTie, ///< no more than ordinary noise moves the two
    Moderate,
    DefectSuspect
};

/// Up to how many last places, and up to how many nats.
inline constexpr std::uint64_t fewUlps = 2;
inline constexpr double moderateNats = 2;

/// `nearTieBound`: F4's parameter near_tie_bound. For a row whose best tokens differ.
FlipClass flipClassOf(const LogitsRecord& logits, std::optional<double> nearTieBound);
/// "exact tie", "up to 2 ulp", "near tie", "moderate", "defect suspect".
std::string_view nameOf(FlipClass flip);

} // namespace moire::diff
