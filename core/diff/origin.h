// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <functional>
#include <optional>
#include <span>

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

/// The tap pair of a tap of the reference, when it is compared.
std::optional<std::size_t> pairOfTap(std::span<const TapPair> taps, trace::TapIndex reference);

} // namespace moire::diff
