// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/comparison.h"
#include "core/report/format.h"

#include <CLI/App.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::app {

/// What a comparison was told, word for word; alignment and comparison are completed by
/// completeOptions().
struct CompareArguments
{
    std::string reference;
    std::string target;
    std::string repeat;
    std::string tolerance;
    std::string mapping;
    std::vector<std::string> criteria;
    std::optional<std::string> format;
    std::string output;
    diff::AlignmentOptions alignment;
    diff::ComparisonOptions comparison;
    unsigned threads = 1;
    bool quiet = false;
};

/// As many threads as the machine has.
unsigned defaultThreads();

// Options that more than one command has.
void addThreads(CLI::App& app, unsigned& threads);
void addResamples(CLI::App& app, unsigned& resamples);
void addSelection(CLI::App& app, diff::AlignmentOptions& alignment);

/// Adds everything that `moire-diff REF TARGET` takes; it is written into `given`.
void describeCompare(CLI::App& app, CompareArguments& given);

/// Reads profile, criteria and mapping, and refuses what contradicts itself. Errors: Invalid, and
/// what reading says.
Result<void> completeOptions(CompareArguments& given);

/// As asked, else by the ending of the output's name, else text.
report::Format formatOf(const CompareArguments& given);

} // namespace moire::app
