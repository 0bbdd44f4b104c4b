// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace moire::diff {

/// How a change of a measure between two targets is said.
enum class ChangeKind : std::uint8_t
{
    Points,    ///< shares in percent: their difference
    Percent,   ///< the difference as a share of the former value
    Difference ///< in the measure's unit: what can be negative, and places, have no share
};
ChangeKind changeKindOf(std::string_view id, std::string_view unit);

/// "points", "%", or the unit, of places in the plural ("layers").
std::string changeUnitOf(std::string_view id, std::string_view unit);

} // namespace moire::diff
