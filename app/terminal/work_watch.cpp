// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/work_watch.h"

#include "app/terminal/terminal.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace moire::app {

namespace {

constexpr std::chrono::milliseconds pollInterval{100};
constexpr const char* clearLine = "\r\x1b[K";

/// Before that a rate says nothing.
constexpr std::chrono::seconds settled{1};

std::string rateText(double rate)
{
    constexpr double fewPerSecond = 10;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), rate < fewPerSecond ? "%.1f" : "%.0f", rate);
    return text.data();
}

/// "40 s", "3 min 20 s", "2 h 5 min".
std::string timeText(double seconds)
{
    constexpr std::uint64_t sixty = 60;
    const auto whole = static_cast<std::uint64_t>(seconds) + 1;
    if (whole < sixty)
        return std::to_string(whole) + " s";
    if (whole < sixty * sixty)
        return std::to_string(whole / sixty) + " min " + std::to_string(whole % sixty) + " s";
    const std::uint64_t minutes = whole / sixty;
    return std::to_string(minutes / sixty) + " h " + std::to_string(minutes % sixty) + " min";
}

/// How often the user asked to stop. A handler and not a mask: a library's threads may be older
/// than main() (OpenBLAS starts its own when it is loaded), and would take the signal unblocked.
volatile std::sig_atomic_t interruptions = 0;

extern "C" void countInterruption(int)
{
    if (interruptions > 0)
        ::_exit(exitTrouble);
    interruptions = 1;
}

void onInterruption(void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

} // namespace

WorkWatch::WorkWatch(std::string words, ProgressLine line, std::string unit)
    : m_words(std::move(words))
    , m_unit(std::move(unit))
    , m_shown(line == ProgressLine::Shown && ::isatty(STDERR_FILENO) == 1)
{
    interruptions = 0;
    onInterruption(countInterruption);
    m_thread = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

WorkWatch::~WorkWatch()
{
    m_thread.request_stop();
    m_thread.join();
    onInterruption(SIG_DFL);
}

void WorkWatch::watch(const std::stop_token& ended)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!ended.stop_requested()) {
        never.wait_for(lock, ended, pollInterval, [] { return false; }); // or until `ended`
        if (interruptions > 0)
            m_stop.request_stop();
        if (m_shown && !ended.stop_requested())
            draw();
    }
    if (m_drawn)
        std::fputs(clearLine, stderr);
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
        line += ", " + timeText(static_cast<double>(total - done) / rate) + " left";
    }
    std::fprintf(stderr, "%s%s", clearLine, line.c_str());
    std::fflush(stderr);
    m_drawn = true;
}

} // namespace moire::app
