// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/prompt.h"
#include "core/base/result.h"
#include "core/trace/run.h"
#include "core/wire/run_messages.h"

#include <string>
#include <vector>

namespace moire::capture {

/// Another run as `replay-from` brings it: messages packed together (core/wire/PROTOCOL.md, 3). It
/// has samples, tokens, and of its rows what a replay needs; no taps. `source` is its name for
/// people. Errors: Damaged, Invalid.
Result<trace::RunPointer> runFromMessages(const wire::Frame& frame, const std::string& source);

/// The prompts of a run, whose responses will arrive while it is scored. Errors: Invalid when it
/// has none.
Result<std::vector<Prompt>> promptsToFeed(const trace::Run& reference);

} // namespace moire::capture
