// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/signals.h"

#include "app/terminal/terminal.h"

#include <csignal>
#include <unistd.h>

namespace moire::app {

namespace {

// Handlers and not a mask: a library's threads may be older than main() (OpenBLAS starts its own
// when it is loaded), and would take the signal unblocked. A handler has no other place to look.
volatile std::sig_atomic_t watched = 0;
volatile std::sig_atomic_t noted = 0;
void (*wish)() = nullptr;

extern "C" void onInterruption(int signal)
{
    if (watched != 0 && noted == 0) {
        noted = 1;
        return;
    }
    if (wish != nullptr)
        wish();
    if (watched != 0)
        ::_exit(exitTrouble);
    std::signal(signal, SIG_DFL);
    std::raise(signal); // and so the shell learns what ended the program
}

} // namespace

void prepareSignals(void (*lastWish)())
{
    std::signal(SIGXFSZ, SIG_IGN);
    wish = lastWish;
    struct sigaction action = {};
    action.sa_handler = onInterruption;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction before = {};
    ::sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) // nohup stays nohup
        ::sigaction(SIGHUP, &action, nullptr);
}

void watchInterruptions()
{
    noted = 0;
    watched = 1;
}

bool interrupted()
{
    return noted != 0;
}

void leaveInterruptions()
{
    watched = 0;
}

} // namespace moire::app
