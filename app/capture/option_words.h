// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/run_arguments.h"
#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace moire::app {

/// An option of `run` and its value, "" for a flag. "model" is the model.
using OptionValue = std::pair<std::string, std::string>;

/// The command line of a run, without its output.
std::vector<std::string> wordsOf(const std::vector<OptionValue>& settings);
std::string lineOf(const std::vector<std::string>& words);

/// What such a command line says. Errors: Invalid, as the program would say it.
Result<RunArguments> argumentsOf(const std::vector<std::string>& words);

} // namespace moire::app
