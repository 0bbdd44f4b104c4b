// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/diff/compare_arguments.h"
#include "app/diff/output.h"
#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

namespace moire::app {

/// The report over two runs, with progress on stderr; with --repeat the noise floor first. Errors:
/// those of diff::compare() and of reading the repeat.
Result<diff::Report> compareRuns(const trace::RunPointer& reference,
                                 const trace::RunPointer& target, CompareArguments& given);

/// Writes it in the format that was asked for; returns the exit status.
int writeReport(const diff::Report& report, const trace::Run& reference, const trace::Run& target,
                const CompareArguments& given, Output& output);

/// Why there is no report; whoever asked for a document to read by machine gets one all the same
/// where the captures are not comparable. Returns the exit status.
int tellAbsence(const Error& error, const trace::Run& reference, const trace::Run& target,
                const CompareArguments& given, Output& output);

} // namespace moire::app
