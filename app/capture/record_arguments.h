// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/remote_arguments.h"
#include "app/capture/run_arguments.h"
#include "core/base/result.h"
#include "core/wire/requests.h"

#include <CLI/App.hpp>

#include <optional>
#include <string>

namespace moire::app {

/// What `moire-capture record` was told: a run to be made, or one that is there.
struct RecordArguments
{
    RemoteArguments remote;
    RunArguments run;
    std::optional<std::string> attach; ///< a run's name
    /// The options of `run` as they travel, with their files; filled by completeRequest().
    wire::RunRequest request;
};

void addRecordOptions(CLI::App& command, RecordArguments& arguments);

/// Checks what was given and fills `arguments.request` from what `command` parsed. Files are read
/// here, and travel. Errors: those of interpret() and of the files; Invalid.
Result<void> completeRequest(const CLI::App& command, RecordArguments& arguments);

} // namespace moire::app
