// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"
#include "core/base/result.h"

#include <CLI/App.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace moire::app {

/// What `moire-capture run` was told, word for word.
struct RunArguments
{
    std::string model;
    std::optional<std::string> text;
    std::optional<std::string> promptsFile;
    bool chat = false;               ///< texts are what a user says
    std::optional<std::string> task; ///< mmlu:… or arc:…
    std::string letters;
    std::uint32_t shots = 0;
    std::uint32_t limit = 0;
    std::optional<std::string> idsFile;
    std::optional<std::string> reference; ///< --replay-from
    std::vector<std::string> taps;
    std::string level;
    std::string construction;
    std::string expertOrder;
    std::string padding;
    std::optional<std::uint32_t> batch;
    std::optional<std::uint64_t> seed;
    std::optional<std::uint32_t> tensorParallel; ///< --tp
    std::optional<std::string> policyFile;
    std::optional<std::string> output;
    bool dryRun = false;
    std::optional<std::uint64_t> limitBytes; ///< a capture that could be larger is not begun
    std::optional<std::string> matrix;       ///< a file that describes many runs
    std::string commandLine;
    capture::RunOptions options; ///< what needs no interpretation stands here at once
};

/// Adds the options of `run` to its subcommand; they write into `arguments`.
void addRunOptions(CLI::App& command, RunArguments& arguments);

/// Checks what belongs together and completes `arguments.options`. Errors: Invalid; those of a tap
/// pattern file and of a policy file.
Result<void> interpret(RunArguments& arguments);

/// The words of a command line as a shell would take them.
std::string commandLineOf(int argc, const char* const* argv);

} // namespace moire::app
