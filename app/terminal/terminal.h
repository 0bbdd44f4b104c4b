// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <CLI/App.hpp>

#include <optional>
#include <string_view>

namespace moire::app {

inline constexpr int exitWell = 0;
inline constexpr int exitTrouble = 2;

/// Parses the arguments; a status when the program is to end now (help, version, a wrong option).
/// The name of `arguments` is the program's.
std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv);

/// "program: sentence" on stderr; returns exitTrouble.
int tell(std::string_view program, const Error& error);

/// The text on stdout; trouble when it cannot be written.
int print(std::string_view program, std::string_view text);

} // namespace moire::app
