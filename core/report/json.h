// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

namespace moire::report {

inline constexpr std::string_view jsonSchema = "moire-report/1";

/// The report as the contract of report.schema.json has it: UTF-8, two blanks of indentation, a
/// line break at the end. Whole numbers have no decimal point (−0 apart), other numbers are the
/// shortest that read back equal; bits are "0x…"; what is not finite is "NaN", "Infinity",
/// "-Infinity". Equal reports give equal bytes.
std::string jsonText(const diff::Report& report);

} // namespace moire::report
