// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"

#include <stop_token>
#include <string>
#include <thread>

namespace moire::app {

enum class ProgressLine
{
    Shown, ///< on stderr when that is a terminal
    Quiet
};

/// While it lives: shows how far the work is, and turns Ctrl-C and SIGTERM into a stop request; a
/// second one ends the program at once. One at a time.
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
    void draw();

    std::string m_words;
    bool m_shown;
    bool m_drawn = false; ///< the watching thread's own
    base::Progress m_progress;
    std::stop_source m_stop;
    std::jthread m_thread;
};

} // namespace moire::app
