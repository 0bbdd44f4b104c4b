// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/diff/compare_arguments.h"
#include "core/base/result.h"

#include <CLI/App.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace moire::app {

/// What `--live` and its options said, word for word. REF and TARGET are in CompareArguments.
struct LiveArguments
{
    bool live = false;
    bool stopAtFirst = false;
    std::string model, targetModel;
    std::string referenceRun, targetRun; ///< to attach to
    std::optional<std::string> text;
    std::string prompts;
    std::optional<std::uint32_t> maxNew;
    std::string level;
    std::string referenceOptions, targetOptions;
    std::string key, serverKey, targetServerKey;
    bool insecure = false;
    std::uint32_t wait = 0; ///< seconds
    std::string saveReference, saveTarget;
};

/// The program's part of the command line of `--live`; no option of it goes without that flag.
void describeLive(CLI::App& app, LiveArguments& given);

/// Which of the two a side of a live comparison is: a capture, by its ending or because it is
/// there; else a daemon's address.
bool isCapture(const std::string& side);

/// Refuses what contradicts itself, before anything is asked of a daemon. Errors: Invalid.
Result<void> checkLive(const CompareArguments& compare, const LiveArguments& live);

} // namespace moire::app
