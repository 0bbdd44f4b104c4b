// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/origin.h"

#include <algorithm>
#include <vector>

namespace moire::diff {

namespace {

/// K and V are what attention reads at earlier rows; its third input, q, it reads at its own row
/// only. Their modules are called k_… and v_… (or kv_…) in every family.
bool isReadAtEarlierRows(const trace::Tap& tap)
{
    if (tap.kind != trace::TapKind::Rotated && tap.kind != trace::TapKind::Projection)
        return false;
    return tap.name.find(".q_") == std::string::npos;
}

Origin merge(Origin soFar, Site::State input)
{
    if (soFar == Origin::Carried || input == Site::State::Different)
        return Origin::Carried;
    return input == Site::State::Equal ? soFar : Origin::Unknown;
}

/// The states of `inputs` at all earlier positions of the row's sample.
Origin overEarlierRows(const OriginContext& context, std::size_t row,
                       const std::vector<std::size_t>& inputs, Origin origin)
{
    std::uint32_t seen = 0;
    for (std::size_t i = row; i-- > 0 && context.rows[i].sample == context.rows[row].sample;) {
        ++seen;
        for (const std::size_t input : inputs)
            origin = merge(origin, context.state(i, input));
        if (origin == Origin::Carried)
            return origin;
    }
    // A position that was not recorded may hold another K or V.
    return seen < context.rows[row].position ? Origin::Unknown : origin;
}

} // namespace

std::optional<std::size_t> pairOfTap(std::span<const TapPair> taps, trace::TapIndex reference)
{
    const auto at = std::lower_bound(
        taps.begin(), taps.end(), reference,
        [](const TapPair& pair, trace::TapIndex wanted) { return pair.reference < wanted; });
    if (at == taps.end() || at->reference != reference)
        return std::nullopt;
    return static_cast<std::size_t>(at - taps.begin());
}

Origin originOf(const OriginContext& context, std::size_t row, std::size_t tap)
{
    const trace::Tap& ours = context.reference.taps[indexOf(context.taps[tap].reference)];
    const trace::Tap& theirs = context.target.taps[indexOf(context.taps[tap].target)];
    Origin origin =
        ours.inputsComplete && theirs.inputsComplete ? Origin::Introduced : Origin::Unknown;
    std::vector<std::size_t> earlier;
    for (const trace::TapIndex input : ours.inputs) {
        const auto pair = pairOfTap(context.taps, input);
        origin = merge(origin, pair ? context.state(row, *pair) : Site::State::NotRecorded);
        if (pair && isReadAtEarlierRows(context.reference.taps[indexOf(input)]))
            earlier.push_back(*pair);
    }
    if (origin == Origin::Carried || !ours.readsEarlierRows)
        return origin;
    return overEarlierRows(context, row, earlier, origin);
}

} // namespace moire::diff
