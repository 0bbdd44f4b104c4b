// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/origin.h"

#include <algorithm>
#include <cmath>
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

std::pair<std::size_t, std::size_t> pairsOfTap(std::span<const TapPair> taps,
                                               trace::TapIndex reference)
{
    const auto begin = std::lower_bound(
        taps.begin(), taps.end(), reference,
        [](const TapPair& pair, trace::TapIndex wanted) { return pair.reference < wanted; });
    const auto end = std::find_if(begin, taps.end(), [reference](const TapPair& pair) {
        return pair.reference != reference;
    });
    return {static_cast<std::size_t>(begin - taps.begin()),
            static_cast<std::size_t>(end - taps.begin())};
}

std::optional<std::size_t> pairOfTap(std::span<const TapPair> taps, trace::TapIndex reference)
{
    const auto [begin, end] = pairsOfTap(taps, reference);
    return begin == end ? std::nullopt : std::optional(begin);
}

std::optional<double> amplificationOf(const trace::RunHeader& reference,
                                      std::span<const TapPair> taps,
                                      const std::function<const Site&(std::size_t tap)>& site,
                                      std::size_t tapPair)
{
    if (!site(tapPair).valuesCompared)
        return std::nullopt;
    double largest = 0;
    for (const trace::TapIndex input : reference.taps[indexOf(taps[tapPair].reference)].inputs) {
        const auto [begin, end] = pairsOfTap(taps, input);
        Site whole;
        for (std::size_t pair = begin; pair < end; ++pair) {
            if (!site(pair).valuesCompared)
                continue;
            whole.sumSquares += site(pair).sumSquares;
            whole.referenceSquares += site(pair).referenceSquares;
        }
        largest = std::max(largest, whole.relativeL2());
    }
    const double amplification = site(tapPair).relativeL2() / largest;
    return std::isfinite(amplification) ? std::optional(amplification) : std::nullopt;
}

Origin originOf(const OriginContext& context, std::size_t row, std::size_t tap)
{
    const trace::Tap& ours = context.reference.taps[indexOf(context.taps[tap].reference)];
    const trace::Tap& theirs = context.target.taps[indexOf(context.taps[tap].target)];
    Origin origin =
        ours.inputsComplete && theirs.inputsComplete ? Origin::Introduced : Origin::Unknown;
    std::vector<std::size_t> earlier;
    for (const trace::TapIndex input : ours.inputs) {
        const trace::Tap& read = context.reference.taps[indexOf(input)];
        const auto [begin, end] = pairsOfTap(context.taps, input);
        std::uint64_t covered = 0;
        for (std::size_t pair = begin; pair < end; ++pair) {
            covered += context.taps[pair].width;
            origin = merge(origin, context.state(row, pair));
            if (isReadAtEarlierRows(read))
                earlier.push_back(pair);
        }
        if (covered < read.width)
            origin = merge(origin, Site::State::NotRecorded);
    }
    if (origin == Origin::Carried || !ours.readsEarlierRows)
        return origin;
    return overEarlierRows(context, row, earlier, origin);
}

} // namespace moire::diff
