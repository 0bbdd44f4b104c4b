// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/terminal.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

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

std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv)
{
    try {
        arguments.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return print(arguments.help());
    } catch (const CLI::CallForVersion& version) {
        return print(std::string(version.what()) + '\n');
    } catch (const CLI::Error& error) {
        std::string sentence = error.what();
        std::replace(sentence.begin(), sentence.end(), '\n', ' ');
        return tell({Errc::Invalid, sentence, {}, "Try '" + arguments.get_name() + " --help'"});
    }
}

int tell(const Error& error)
{
    std::fprintf(stderr, "moire-diff: %s\n", error.text().c_str());
    return error.code == Errc::Incomparable ? exitIncomparable : exitTrouble;
}

int print(std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0)
        return tell(
            {Errc::Io, "cannot write to the standard output", {}, "Write to a file with -o"});
    return exitEqual;
}

bool mayColour()
{
    const auto isSet = [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
    return ::isatty(STDOUT_FILENO) == 1 && !isSet("NO_COLOR") && !dumb;
}

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
    bool drawn = false;
    while (!ended.stop_requested()) {
        if (::sigtimedwait(&signals, nullptr, &wait) > 0)
            m_stop.request_stop();
        const std::uint64_t total = m_progress.total;
        if (!m_shown || total == 0 || ended.stop_requested())
            continue;
        const auto percent = std::min<std::uint64_t>(100, m_progress.done * 100 / total);
        std::fprintf(stderr, "%s%s %llu %%", clearLine, m_words.c_str(),
                     static_cast<unsigned long long>(percent));
        std::fflush(stderr);
        drawn = true;
    }
    if (drawn)
        std::fputs(clearLine, stderr);
}

} // namespace moire::app
