// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>
#include <vector>

namespace moire::report {

/// An argument as a POSIX shell takes it.
std::string shellQuoted(const std::string& text);

/// The commands that made both captures (where recorded), the comparison, and a look at the first
/// divergence. Not escaped.
std::vector<std::string> reproduceCommands(const diff::Report& report);

} // namespace moire::report
