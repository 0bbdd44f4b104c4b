// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace moire::app {

/// What a program's main() begins with. From then on a write beyond the limit on the size of files
/// (ulimit -f) is an error like any other and not the end of the program, and Ctrl-C, SIGTERM and
/// SIGHUP call `lastWish`, which may only do what a signal handler may, before they end it.
void prepareSignals(void (*lastWish)() = nullptr);

/// From here on the first of these signals is only noted; a second one ends the program at once,
/// with exitTrouble.
void watchInterruptions();
/// True when one was noted.
bool interrupted();
/// Back to what prepareSignals() says.
void leaveInterruptions();

} // namespace moire::app
