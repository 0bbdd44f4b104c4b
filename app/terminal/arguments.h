// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

namespace moire::app {

/// Parses the arguments; a status when the program is to end now (help, version, a wrong option).
/// The name of `arguments` is the program's. What is wrong is told in one sentence of our own, with
/// what to do next.
std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv);

/// A value that is a whole number of that range.
CLI::Validator wholeNumber(std::uint64_t least,
                           std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A whole number of bytes, also with kB, MB, GB or TB (powers of 1000) behind it; becomes the
/// number.
CLI::Validator byteCount();

/// A value that is one of these words.
CLI::Validator oneOf(std::initializer_list<std::string> words);

} // namespace moire::app
