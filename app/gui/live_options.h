// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"
#include "widgets/models/live_plan.h"

#include <CLI/App.hpp>

#include <optional>
#include <string>
#include <vector>

namespace moire::gui {

/// What a command line says of a live comparison, word for word.
struct LiveArguments
{
    bool live = false;
    std::string model, targetModel;
    std::string text, prompts;
    int maxNew = widgets::LivePlan{}.maxNew;
    std::vector<std::string> taps;
    std::string level;
    std::string referenceOptions, targetOptions;
    std::string key, serverKey, targetServerKey;
    bool insecure = false;
    std::string picture; ///< of the window when half of the rows are compared
};

void addLiveOptions(CLI::App& command, LiveArguments& arguments);

/// The plan of --live over what stands for REF and TARGET. Errors: Invalid (no --live but its
/// options, no model, no prompt, two files, one name alone).
Result<std::optional<widgets::LivePlan>> livePlanOf(const LiveArguments& arguments,
                                                    const std::vector<std::string>& sides);

} // namespace moire::gui
