// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/diff/live_arguments.h"
#include "app/diff/output.h"

namespace moire::app {

/// Compares two sides while they run and writes the report; returns the exit status. Requires
/// completeOptions() and checkLive().
int compareLive(CompareArguments& compare, const LiveArguments& live, Output& output);

} // namespace moire::app
