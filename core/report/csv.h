// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>
#include <vector>

namespace moire::report {

/// Fields as RFC 4180 has them, a line: quoted where they hold a comma, a quote or a line break.
/// Text that a spreadsheet would take for a formula (it begins with = + - @, and is no number) gets
/// an apostrophe in front, by which spreadsheets know text.
std::string csvLine(const std::vector<std::string>& fields);

/// Every number of the report, one a line, under the heads scope, name, id, measure, value, unit,
/// n, low, high, method, at, note. `scope` is verdict, cause, first, tolerance, all, tap or sample;
/// `name` says which tap or sample. Numbers are the shortest that read back equal; text of files is
/// escaped (base::visibleText). Lines end in LF. Equal reports give equal bytes.
std::string csvText(const diff::Report& report);

} // namespace moire::report
