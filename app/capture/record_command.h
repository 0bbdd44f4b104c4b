// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/record_arguments.h"
#include "core/base/result.h"

#include <string>

namespace moire::app {

/// Records a daemon's run into a capture file, without losing a row, across lost links and restarts
/// of the daemon. Ctrl-C cancels a run of its own at the daemon; one that was attached to goes on
/// there. What was recorded before an error stays beside the output as incomplete. Errors: those of
/// the daemon, of the link and of the file; Io when rows are missing.
Result<std::string> recordCommand(const RecordArguments& arguments);

} // namespace moire::app
