// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace moire::diff {

/// What origins are told from: the pairs, and the state of any site.
struct OriginContext
{
    const trace::RunHeader& reference;
    const trace::RunHeader& target;
    std::span<const RowPair> rows;
    std::span<const TapPair> taps;
    std::function<Site::State(std::size_t row, std::size_t tap)> state;
};

/// Introduced: all inputs of the op were recorded and are bitwise equal at this row, and for an op
/// that reads earlier rows its K and V are bitwise equal at every earlier position of the sample.
/// Carried: any of those differs. Unknown: otherwise. For a site that differs.
Origin originOf(const OriginContext& context, std::size_t row, std::size_t tap);

/// The tap pairs of a tap of the reference, [first, last): one, none, or its slices.
std::pair<std::size_t, std::size_t> pairsOfTap(std::span<const TapPair> taps,
                                               trace::TapIndex reference);
/// The first of them.
std::optional<std::size_t> pairOfTap(std::span<const TapPair> taps, trace::TapIndex reference);

/// Relative L2 of a site over the largest of the op's inputs at the same row, an input's slices
/// together; none where values are missing or no input differs.
std::optional<double> amplificationOf(const trace::RunHeader& reference,
                                      std::span<const TapPair> taps,
                                      const std::function<const Site&(std::size_t tap)>& site,
                                      std::size_t tapPair);

} // namespace moire::diff
