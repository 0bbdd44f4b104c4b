// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/report/format.h"
#include "core/trace/run.h"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace moire::app {

/// What `matrix` and `study` have in common: captures, and how their document is written.
struct SeveralArguments
{
    std::vector<std::string> files; ///< REF T1 T2 …
    bool json = false;
    bool html = false;
    std::string output;
    bool quiet = false;
    unsigned threads = 1;
    diff::AlignmentOptions alignment;
};

/// Text, JSON or HTML: by flag, else by the ending of the output's name. Invalid for an ending of
/// none of them.
Result<report::Format> documentFormat(const SeveralArguments& given);

void describeSeveral(CLI::App& app, SeveralArguments& given, int fewest);

/// All of them, in order. Errors: Invalid when one stands twice; those of openRun().
Result<std::vector<trace::RunPointer>> openRuns(const std::vector<std::string>& files);

} // namespace moire::app
