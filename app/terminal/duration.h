// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace moire::app {

/// "40 s", "3 min 20 s", "2 h 5 min": a time that people wait, in whole seconds, rounded up; at
/// least 1 s.
std::string durationText(double seconds);

} // namespace moire::app
