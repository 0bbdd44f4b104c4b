// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>

#include <string>

namespace moire::app {

/// Gives a program and its subcommands our form of --help: arguments, options with their defaults,
/// lines of at most 80 columns, and the footer's examples.
void useHelpFormat(CLI::App& arguments);

/// The help of the program or of the subcommand that was being parsed.
std::string helpText(const CLI::App& arguments);

} // namespace moire::app
