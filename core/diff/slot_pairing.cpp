// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/slot_pairing.h"

#include <algorithm>

namespace moire::diff {

std::optional<std::uint32_t> SlotPairing::targetElement(std::uint32_t element) const
{
    const std::int32_t slot = targetSlot[element / slotWidth];
    if (slot < 0)
        return std::nullopt;
    return static_cast<std::uint32_t>(slot) * slotWidth + element % slotWidth;
}

std::optional<std::size_t> routerOfSlots(const trace::RunHeader& reference,
                                         const trace::RunHeader& target, RouterPairs routers,
                                         const TapPair& tap)
{
    const trace::Tap& ours = reference.taps[indexOf(tap.reference)];
    const trace::Tap& theirs = target.taps[indexOf(tap.target)];
    if (ours.slots == 0 || ours.slots != theirs.slots || !tap.whole(ours.width, theirs.width))
        return std::nullopt;
    for (std::size_t i = 0; i < routers.size(); ++i) {
        const trace::RouterLayer& router = reference.routers[routers[i].first];
        if (router.layer == ours.layer && router.chosen == ours.slots)
            return i;
    }
    return std::nullopt;
}

Result<std::optional<SlotPairing>> pairSlots(const trace::Run& reference, const trace::Run& target,
                                             RouterPairs routers, const RowPair& row,
                                             const TapPair& tap)
{
    const auto router = routerOfSlots(reference.header(), target.header(), routers, tap);
    if (!router)
        return std::optional<SlotPairing>();
    const auto ours = reference.routing(routers[*router].first, row.reference);
    if (!ours)
        return ours.error();
    const auto theirs = target.routing(routers[*router].second, row.target);
    if (!theirs)
        return theirs.error();
    if (std::equal(ours->ids.begin(), ours->ids.end(), theirs->ids.begin(), theirs->ids.end()))
        return std::optional<SlotPairing>();
    const trace::Tap& description = reference.header().taps[indexOf(tap.reference)];
    SlotPairing pairing{{}, description.width / description.slots};
    for (const std::int32_t id : ours->ids) {
        const auto at = std::find(theirs->ids.begin(), theirs->ids.end(), id);
        pairing.targetSlot.push_back(
            at == theirs->ids.end() ? -1 : static_cast<std::int32_t>(at - theirs->ids.begin()));
    }
    return std::optional(std::move(pairing));
}

} // namespace moire::diff
