// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/inspect.h"
#include "core/trace/run.h"

#include <cstddef>
#include <string>

namespace moire::report {

/// One site of two captures for people: how much differs, whether it was introduced there, the
/// worst `worstCount` elements with values, bits and ulps, the histogram of ulps, value classes;
/// for the head both rankings, for a router both choices. The site is named by the reference; with
/// site.element only that element. Reads the sample's rows up to the site. Errors: those of
/// diff::align; NotFound when the site is not among what aligns; what reading says.
Result<std::string> describeSitePair(const trace::RunPointer& reference,
                                     const trace::RunPointer& target, const diff::SiteName& site,
                                     std::size_t worstCount);

} // namespace moire::report
