// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/option_words.h"
#include "core/base/result.h"

#include <CLI/App.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace moire::app {

struct MatrixCell
{
    std::string name; ///< of its capture: the values, "bf16-batch8"
    std::vector<OptionValue> settings;
};

/// The runs that a file describes: every combination of the values of its [axes], the last axis
/// fastest, without those that a [[skip]] table matches, each with the settings of [run]. With a
/// table [reference], the one cell that has its values comes first; the others replay its tokens.
struct RunMatrix
{
    std::vector<MatrixCell> cells;
    bool withReference = false; ///< the first cell is what the others replay
};

/// Reads TOML, or JSON. Errors: NotFound, Io; Invalid, at the line: another table, an axis without
/// values, an option that is not one of `run`, two cells of one name, a [reference] that fits not
/// exactly one cell.
Result<RunMatrix> readRunMatrix(const std::filesystem::path& path);

/// Runs every cell whose capture is not complete in `folder`, with the options that `command` (of
/// `run`) was given besides, and says what became of each. A cell that fails does not stop the
/// others; a reference that fails, or a signal, does. Errors: those of the file and the folder;
/// Invalid when a capture of the name was made otherwise; Internal, in the end, when cells failed.
Result<std::string> runMatrix(const CLI::App& command, const std::filesystem::path& file,
                              const std::filesystem::path& folder, bool dryRun);

} // namespace moire::app
