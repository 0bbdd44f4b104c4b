// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

namespace moire::report {

/// The report as JUnit XML, for the test pages of a CI system: one suite whose first case is the
/// verdict (it fails when the exit status is 1, and is an error when nothing could be compared),
/// then, with a tolerance, one case a criterion, else one a tap (bitwise) and one a kind of first
/// divergence. Where the verdict passes none fails: what was allowed to miss is not held against
/// anyone. No times, no host names: equal reports give equal bytes.
std::string junitText(const diff::Report& report);

} // namespace moire::report
