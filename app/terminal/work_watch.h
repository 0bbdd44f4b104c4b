// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>

namespace moire::app {

enum class ProgressLine
{
    Shown, ///< on stderr when that is a terminal that can overwrite a line
    Quiet
};

/// While it lives: shows how far the work is, and turns Ctrl-C, SIGTERM and SIGHUP into a stop
/// request; a second one ends the program at once. One at a time; takes prepareSignals().
class WorkWatch
{
public:
    /// `unit`: of what the progress counts, for a rate, such as "rows"; empty: none is shown.
    WorkWatch(std::string words, ProgressLine line, std::string unit = {});
    ~WorkWatch();
    WorkWatch(const WorkWatch&) = delete;
    WorkWatch& operator=(const WorkWatch&) = delete;

    base::Progress& progress() { return m_progress; }
    std::stop_token stopToken() const { return m_stop.get_token(); }

private:
    void watch(const std::stop_token& ended);
    void draw();
    void show(const std::string& line);

    std::string m_words;
    std::string m_unit;
    bool m_shown;
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
    std::size_t m_drawn = 0; ///< characters on the line; the watching thread's own
    base::Progress m_progress;
    std::stop_source m_stop;
    std::jthread m_thread;
};

} // namespace moire::app
