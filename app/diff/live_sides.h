// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/diff/live_arguments.h"
#include "core/base/result.h"
#include "core/live/live_pair.h"

namespace moire::app {

/// The two sides as they were asked for, each daemon with a link of its own. Does not wait for a
/// daemon. A link that others can read is remarked on. Requires checkLive(). Errors: those of the
/// addresses, keys and files.
Result<live::PairOptions> sidesOf(const CompareArguments& compare, const LiveArguments& live);

/// One sentence on stderr, fit for a terminal.
void remark(const std::string& sentence);

} // namespace moire::app
