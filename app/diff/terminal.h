// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"

#include <CLI/App.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace moire::app {

/// Exit statuses, as DIFF in `moire-diff --help` states them.
enum ExitStatus : int
{
    exitEqual = 0,
    exitDivergent = 1,
    exitTrouble = 2,
    exitIncomparable = 3
};

/// Parses the arguments; a status when the program is to end now (help, version, a wrong option).
std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv);

/// One sentence on stderr; returns the exit status that belongs to it.
int tell(const Error& error);

/// The text on stdout; trouble when it cannot be written.
int print(std::string_view text);

/// True when stdout is a terminal that may have colours (NO_COLOR, TERM=dumb).
bool mayColour();

enum class ProgressLine
{
    Shown, ///< on stderr when that is a terminal
    Quiet
};

/// While it lives: shows how far the work is and turns Ctrl-C into a stop request. Make it before
/// any other thread, so that they inherit the blocked signals.
class WorkWatch
{
public:
    WorkWatch(std::string words, ProgressLine line);
    ~WorkWatch();
    WorkWatch(const WorkWatch&) = delete;
    WorkWatch& operator=(const WorkWatch&) = delete;

    base::Progress& progress() { return m_progress; }
    std::stop_token stopToken() const { return m_stop.get_token(); }

private:
    void watch(const std::stop_token& ended);

    std::string m_words;
    bool m_shown;
    base::Progress m_progress;
    std::stop_source m_stop;
    std::jthread m_thread;
};

} // namespace moire::app
