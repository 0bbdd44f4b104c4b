// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <string>

namespace moire::report {

struct TextOptions
{
    bool colour = false;      ///< ANSI colours and weights, for a terminal
    bool verdictOnly = false; ///< the first line alone
};

/// The report for a terminal or a log: the verdict in the first line, then both runs, first
/// divergences, families, the taps that differ most, samples. What comes from files is escaped
/// (base::visibleText). Equal reports give equal bytes.
std::string plainText(const diff::Report& report, const TextOptions& options);

} // namespace moire::report
