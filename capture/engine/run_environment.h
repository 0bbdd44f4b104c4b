// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/policy.h"
#include "capture/engine/runner.h"
#include "core/trace/environment.h"

namespace moire::capture {

/// What is known before the run: model, device, libraries, numerics, options. Errors: those of
/// reading the weights, when their digest is asked for.
Result<trace::Environment> describeRun(const Checkpoint& checkpoint, const Policy& policy,
                                       const RunOptions& options, bool scoresOnly);

/// Now, UTC, "2026-01-31T12:34:56Z".
std::string timeText();

/// The most memory that this process ever held, bytes.
std::int64_t peakBytes();

} // namespace moire::capture
