// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <string>

/// What a capture holds, for `moire-diff info`.
namespace moire::report {

/// For people. The first line says whether the capture is complete.
std::string infoText(const trace::Run& run);

/// {"file", "complete", "missing_rows", "level", "rows", "samples", "taps", "routers",
/// "environment", "logits", "sample_list", "tap_list", "router_list", "events"}; rows, samples,
/// taps and routers are counts.
std::string infoJson(const trace::Run& run);

} // namespace moire::report
