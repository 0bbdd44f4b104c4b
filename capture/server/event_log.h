// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moire::capture {

/// Fields of a line of the daemon's log, in order. No prompts, tokens or keys.
using EventFields = std::vector<std::pair<std::string_view, std::string>>;

enum class EventLevel
{
    Info,
    Warning
};

/// Where the daemon says what it does, a line an event. Called on any thread.
using EventLog = std::function<void(EventLevel level, std::string_view event, EventFields fields)>;

} // namespace moire::capture
