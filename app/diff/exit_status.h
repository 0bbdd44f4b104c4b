// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <string_view>

namespace moire::app {

/// How moire-diff ends, as its --help states it.
enum ExitStatus : int
{
    exitEqual = 0,
    exitDivergent = 1,
    exitIncomparable = 3 ///< 2 is trouble, as everywhere
};

/// One sentence on stderr; returns the exit status that belongs to it.
int tell(const Error& error);

/// The text on stdout; trouble when it cannot be written.
int print(std::string_view text);

} // namespace moire::app
