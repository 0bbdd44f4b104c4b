// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace moire::diff {

/// Indices into both headers' routers.
using RouterPairs = std::span<const std::pair<std::size_t, std::size_t>>;

/// Per-slot taps are laid out in slot order and compared by expert: slot 0 of one run and slot 3 of
/// the other stand for the same thing when they hold the same expert.
struct SlotPairing
{
    /// For every slot of the reference the target's slot of the same expert, −1: none.
    std::vector<std::int32_t> targetSlot;
    std::uint32_t slotWidth = 0; ///< elements a slot

    /// The target's element that stands for the reference's; none where the expert is missing.
    std::optional<std::uint32_t> targetElement(std::uint32_t element) const;
};

/// The router pair of a per-slot tap pair, when both sides have the same slots and it is aligned.
std::optional<std::size_t> routerOfSlots(const trace::RunHeader& reference,
                                         const trace::RunHeader& target, RouterPairs routers,
                                         const TapPair& tap);

/// How the slots of a row correspond; nothing for a tap without slots or router, and where both
/// runs chose the same experts in the same order.
Result<std::optional<SlotPairing>> pairSlots(const trace::Run& reference, const trace::Run& target,
                                             RouterPairs routers, const RowPair& row,
                                             const TapPair& tap);

} // namespace moire::diff
