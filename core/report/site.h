// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/inspect.h"
#include "core/trace/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moire::report {

enum class SiteExtent
{
    Some, ///< the first elements and the largest
    All   ///< every element
};

/// The tap of that name; "layers.3.mlp" stands for "model.layers.3.mlp.out" (diff::spelledOut).
std::optional<trace::TapIndex> findTapByName(const trace::Run& run, std::string_view name);

/// What the vocabulary says of an id, escaped, shortened and in quotes; "" where the run does not
/// know it.
std::string wordOf(const trace::Run& run, std::int32_t id);

/// One site of one capture for people: where it is, digest, value classes, row statistics, values
/// with their bits as sign, exponent and mantissa; for a router its experts and weights, for the
/// head its best tokens. With site.element only that element's value. Errors: NotFound when the
/// capture has no such sample, row, tap or element.
Result<std::string> describeSite(const trace::Run& run, const diff::SiteName& site,
                                 SiteExtent extent);

} // namespace moire::report
