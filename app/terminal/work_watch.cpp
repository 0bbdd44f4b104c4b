// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/work_watch.h"

#include "app/terminal/terminal.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <unistd.h>
#include <utility>

namespace moire::app {

namespace {

constexpr long pollNanoseconds = 100'000'000;
constexpr const char* clearLine = "\r\x1b[K";

sigset_t interruptSignals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

} // namespace

WorkWatch::WorkWatch(std::string words, ProgressLine line)
    : m_words(std::move(words))
    , m_shown(line == ProgressLine::Shown && ::isatty(STDERR_FILENO) == 1)
{
    const sigset_t signals = interruptSignals();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    m_thread = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

WorkWatch::~WorkWatch()
{
    m_thread.request_stop();
    m_thread.join();
    const sigset_t signals = interruptSignals();
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void WorkWatch::watch(const std::stop_token& ended)
{
    const sigset_t signals = interruptSignals();
    const timespec wait{0, pollNanoseconds};
    while (!ended.stop_requested()) {
        if (::sigtimedwait(&signals, nullptr, &wait) > 0 && !m_stop.request_stop())
            ::_exit(exitTrouble);
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
    const auto percent = std::min<std::uint64_t>(whole, m_progress.done * whole / total);
    std::fprintf(stderr, "%s%s %llu %%", clearLine, m_words.c_str(),
                 static_cast<unsigned long long>(percent));
    std::fflush(stderr);
    m_drawn = true;
}

} // namespace moire::app
