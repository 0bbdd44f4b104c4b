// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace moire::wire {

/// 32 hex digits from the system's source of randomness: names that nobody else makes or guesses.
std::string randomText();

} // namespace moire::wire
