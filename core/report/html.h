// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <string>

namespace moire::report {

/// The report as one self-contained HTML page: no network, no script; light and dark by the
/// reader's preference, A4 when printed. `reference` and `target` are the runs compared (their
/// tokens and routers are shown). Everything that comes from files is escaped. Maps are pooled and
/// tables cut, so that the page stays below 2 MB whatever the runs' size. Equal inputs give equal
/// bytes.
std::string htmlText(const diff::Report& report, const trace::Run& reference,
                     const trace::Run& target);

} // namespace moire::report
