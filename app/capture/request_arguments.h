// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/requested_run.h"

namespace moire::app {

/// Understands a client's request as the command line of `run`. The files that came with it lie in
/// a private folder while it is read; options that name a file of this machine are refused.
class RequestInterpreter : public capture::RunInterpreter
{
public:
    Result<capture::RequestedRun> run(const wire::RunRequest& request,
                                      const capture::ShelvedModel& model) override;
    Result<capture::RunOptions> options(const wire::RunRequest& request,
                                        const capture::ShelvedModel& model) override;
};

} // namespace moire::app
