// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

namespace moire::diff {

/// One line of METRICS.md.
struct Metric
{
    std::string_view id; ///< without brackets
    std::string_view name;
    std::string_view family; ///< "A" … "L"
    std::string_view unit;   ///< of the value; "" for a pure number
};

/// Every measure that a report may hold, in METRICS.md order. A test holds the two lists equal.
std::span<const Metric> metricCatalogue();

/// The entry of an id, brackets left out (assert: there is one).
const Metric& metricOf(std::string_view id);

} // namespace moire::diff
