// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/run_arguments.h"
#include "capture/engine/runner.h"
#include "capture/model/checkpoint.h"
#include "core/base/result.h"
#include "core/trace/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace moire::app {

/// What a run is made of, found and checked, for whoever makes it.
struct RunMaterial
{
    capture::RunOptions options;
    std::vector<capture::Prompt> prompts;
    capture::RunPlan plan; ///< with everything that is known of the run before it begins
};

/// Where the responses of a replay come from.
struct ReplayInput
{
    trace::RunPointer reference; ///< null: the capture that the arguments name
    bool live = false;           ///< they arrive while it runs; --max-new is their most tokens
};

/// Finds the prompts and plans the run. `arguments` went through interpret(). Errors: those of the
/// prompts' files and of planRun(); Invalid when the capture could be larger than --limit-bytes.
Result<RunMaterial> materialOf(const RunArguments& arguments, const capture::Checkpoint& checkpoint,
                               const ReplayInput& replay = {});

/// "12 bytes", "3.4 MB".
std::string sizeText(std::uint64_t bytes);

} // namespace moire::app
