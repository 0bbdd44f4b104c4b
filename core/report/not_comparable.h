// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

namespace moire::report {

/// diff::Report::exit of captures that cannot be compared.
inline constexpr int notComparable = 3;

/// A report that says why nothing was compared, so that whoever waits for a document gets one: both
/// runs, what differs in their environments, the verdict; no measure, no tap, no sample.
diff::Report notComparableReport(const trace::Run& reference, const trace::Run& target,
                                 const Error& why);

} // namespace moire::report
