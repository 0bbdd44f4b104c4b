// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/run_arguments.h"
#include "core/base/result.h"

#include <optional>
#include <string>

namespace moire::app {

inline constexpr auto programName = "moire-capture";

struct TapsArguments
{
    std::string model;
    std::string policy;
    std::optional<std::string> policyFile;
};

struct TokenizeArguments
{
    std::string model;
    std::optional<std::string> text;
    std::optional<std::string> file;
    bool chat = false;
    bool json = false;
};

// Each command gives what it has to say on the standard output.
Result<std::string> runCommand(RunArguments arguments);
Result<std::string> tapsCommand(const TapsArguments& arguments);
Result<std::string> tokenizeCommand(const TokenizeArguments& arguments);

/// The taps as lines: name, dtype, width, kind.
std::string tapLines(const std::vector<trace::Tap>& taps);

} // namespace moire::app
