// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>
#include <string_view>

namespace moire::report {

/// Text out of a file for GitHub-flavoured Markdown: escaped for one line (base::visibleText), and
/// everything that Markdown or HTML would read as its own with a backslash before it.
std::string markdownEscaped(std::string_view bytes);

/// The report as Markdown for an issue: verdict, both runs, families, first divergences, cause,
/// tolerance, the taps that differ most, what differs in the environment, how to reproduce. Equal
/// reports give equal bytes.
std::string markdownText(const diff::Report& report);

} // namespace moire::report
