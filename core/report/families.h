// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>
#include <string_view>
#include <vector>

/// The verdict line's numbers, the same in every format and in the window.
namespace moire::report {

/// One of the five families, or routing. They are always shown together and in this order; one that
/// cannot be computed keeps its place and says why.
struct Chip
{
    std::string title;  ///< "Bits equal"
    std::string value;  ///< "41.2 %"; short words where there is none ("no task")
    std::string detail; ///< interval, a second quantity, or why there is no value
    bool known = false; ///< value is a number
};
std::vector<Chip> familyChips(const diff::Report& report);

/// "A" → "Bitwise" … "L" → "Statistics"; the letter itself when unknown.
std::string_view familyName(std::string_view letter);

/// "[40.1, 42.3]", or "" when the measure has none.
std::string intervalText(const diff::Measure& measure);

/// The measure of that id among `measures`, or null.
const diff::Measure* findIn(const std::vector<diff::Measure>& measures, std::string_view id);

/// The value of measure `id` with its unit; "–" when there is none.
std::string valueIn(const std::vector<diff::Measure>& measures, std::string_view id);

/// How two taps rank by difference: larger relative L2 first, then more unequal bits, then
/// execution order. Indices into report.taps of those that differ.
std::vector<std::size_t> tapsByDifference(const diff::Report& report);

/// "SmolLM2-135M · bf16 · ordered · 4 samples · 214 rows · 210 taps": what tells a run apart.
std::string runLine(const diff::RunSummary& run);

/// "4 samples, 214 rows, 210 taps" and one sentence for everything left over on either side.
std::vector<std::string> alignmentLines(const diff::Report& report);

} // namespace moire::report
