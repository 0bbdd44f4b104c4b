// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <string_view>

namespace moire::app {

inline constexpr int exitWell = 0;
inline constexpr int exitTrouble = 2;

/// "program: sentence" on stderr; returns exitTrouble.
int tell(std::string_view program, const Error& error);

/// The text on stdout; trouble when it cannot be written.
int print(std::string_view program, std::string_view text);

/// True when TERM is not set or says that the terminal can do nothing but print.
bool isDumbTerminal();

/// True when stdout is a terminal that may have colours (NO_COLOR, TERM=dumb).
bool mayColour();

} // namespace moire::app
