// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/inspect.h"
#include "core/trace/run.h"

#include <string>

namespace moire::report {

enum class SiteExtent
{
    Some, ///< the first elements and the largest
    All   ///< every element
};

/// One site of one capture for people: where it is, digest, value classes, row statistics, values
/// with their bits as sign, exponent and mantissa; for a router its experts and weights, for the
/// head its best tokens. With site.element only that element's value. Errors: NotFound when the
/// capture has no such sample, row, tap or element.
Result<std::string> describeSite(const trace::Run& run, const diff::SiteName& site,
                                 SiteExtent extent);

} // namespace moire::report
