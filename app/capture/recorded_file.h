// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/run_arguments.h"
#include "core/base/result.h"
#include "core/trace/environment.h"

#include <cstdint>
#include <filesystem>
#include <string>

/// The capture that a recording makes, and what is said of it.
namespace moire::app {

/// "1 row", "7 rows".
std::string counted(std::uint64_t number, const char* thing);

/// "7 rows of 2 samples, 30 taps".
std::string summaryOf(std::uint64_t rows, std::size_t samples, std::size_t taps);

/// A name of our own in the current folder, one that nothing has yet.
std::filesystem::path ownName(const trace::Environment& environment);

/// Errors: Invalid when the output is the reference that is replayed.
Result<void> checkOutput(const RunArguments& arguments);

/// Completes the error that a recording into `part` ended with: what is left of `rows` rows. A
/// partial file without a row is removed. `planned`: 0 = unknown.
Error leftBy(Error error, const std::filesystem::path& part, std::uint64_t rows,
             std::uint64_t planned);

} // namespace moire::app
