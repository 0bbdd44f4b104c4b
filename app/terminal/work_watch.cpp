// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/work_watch.h"

#include "app/terminal/duration.h"
#include "app/terminal/signals.h"
#include "app/terminal/terminal.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace moire::app {

namespace {

constexpr std::chrono::milliseconds pollInterval{100};

/// Before that a rate says nothing.
constexpr std::chrono::seconds settled{1};

std::string rateText(double rate)
{
    constexpr double fewPerSecond = 10;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), rate < fewPerSecond ? "%.1f" : "%.0f", rate);
    return text.data();
}

} // namespace

WorkWatch::WorkWatch(std::string words, ProgressLine line, std::string unit)
    : m_words(std::move(words))
    , m_unit(std::move(unit))
    , m_shown(line == ProgressLine::Shown && ::isatty(STDERR_FILENO) == 1 && !isDumbTerminal())
{
    watchInterruptions();
    m_thread = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

WorkWatch::~WorkWatch()
{
    m_thread.request_stop();
    m_thread.join();
    leaveInterruptions();
}

void WorkWatch::watch(const std::stop_token& ended)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!ended.stop_requested()) {
        never.wait_for(lock, ended, pollInterval, [] { return false; }); // or until `ended`
        if (interrupted())
            m_stop.request_stop();
        if (m_shown && !ended.stop_requested())
            draw();
    }
    if (m_drawn > 0) {
        show({});
        std::fputc('\r', stderr);
    }
}

/// Over what stands there, with blanks behind it: no escape sequence, so that nothing of the sort
/// ends in a log either.
void WorkWatch::show(const std::string& line)
{
    const std::string blanks(m_drawn - std::min(m_drawn, line.size()), ' ');
    std::fprintf(stderr, "\r%s%s", line.c_str(), blanks.c_str());
    std::fflush(stderr);
    m_drawn = line.size();
}

void WorkWatch::draw()
{
    constexpr std::uint64_t whole = 100;
    const std::uint64_t total = m_progress.total;
    if (total == 0)
        return;
    const std::uint64_t done = std::min<std::uint64_t>(total, m_progress.done);
    std::string line = m_words + ' ' + std::to_string(done * whole / total) + " %";
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
    if (done > 0 && spent >= settled) {
        const double rate = static_cast<double>(done) / spent.count();
        if (!m_unit.empty())
            line += ", " + rateText(rate) + ' ' + m_unit + "/s";
        line += ", " + durationText(static_cast<double>(total - done) / rate) + " left";
    }
    show(line);
}

} // namespace moire::app
