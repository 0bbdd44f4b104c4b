// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

/// Sections of the HTML report on what the findings mean. Markup.
namespace moire::report {

/// Why the runs differ, with what each rule saw; empty when nothing differs.
std::string causeSection(const diff::Report& report);

/// What each criterion of the tolerance met; empty without one.
std::string toleranceSection(const diff::Report& report);

} // namespace moire::report
