// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"

#include <span>

namespace moire::capture {

/// Seconds that the forward passes of a planned run will take on this machine, roughly: a linear
/// layer of the run's arithmetic and main dtype is timed with many rows and with one, and all
/// multiplications of the run are taken to go as fast. Loading, attention and recording come on
/// top. Errors: those of planRun.
Result<double> estimateSeconds(const Checkpoint& checkpoint, const RunOptions& options,
                               std::span<const Prompt> prompts);

} // namespace moire::capture
