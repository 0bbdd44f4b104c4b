// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"
#include "capture/server/model_shelf.h"
#include "core/base/result.h"
#include "core/wire/requests.h"

#include <memory>
#include <vector>

namespace moire::capture {

/// What a request asks for, in the engine's words, checked against the model.
struct RequestedRun
{
    RunOptions options;
    std::shared_ptr<const std::vector<Prompt>> prompts;
    RunPlan plan;                   ///< without the weights' digest
    trace::Environment description; ///< fields of the capture that the engine does not know
};

/// Understands the options of a request, which are those of a command line. Calls come from one
/// thread at a time.
class RunInterpreter
{
public:
    virtual ~RunInterpreter() = default;
    /// Errors: Invalid (an option that is unknown, makes no sense or names a file here; a file that
    /// makes no sense); those of planRun().
    virtual Result<RequestedRun> run(const wire::RunRequest& request,
                                     const ShelvedModel& model) = 0;
    /// The options that say what taps a model has; inputs may be missing.
    virtual Result<RunOptions> options(const wire::RunRequest& request,
                                       const ShelvedModel& model) = 0;
};

} // namespace moire::capture
