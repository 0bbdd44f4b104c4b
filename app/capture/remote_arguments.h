// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/wire/connection.h"

#include <CLI/App.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace moire::app {

/// Which daemon, and how it is reached.
struct RemoteArguments
{
    std::string from;
    std::optional<std::string> key;       ///< file of our own
    std::optional<std::string> serverKey; ///< the daemon's, or its file
    bool insecure = false;
    std::uint32_t wait = 0; ///< seconds that a daemon that is not there is waited for
};

/// `waitHelp` says what --wait is for; `wait` is its default.
void addRemoteOptions(CLI::App& command, RemoteArguments& arguments, const std::string& waitHelp,
                      std::uint32_t wait);

/// Does not wait for the daemon. A link that others can read is remarked on. Errors: those of
/// wire::Connection::open and of the keys' files.
Result<std::unique_ptr<wire::Connection>> connectTo(const RemoteArguments& arguments);

/// Waits until the daemon is there, at most `arguments.wait` seconds (and a moment).
Result<wire::Welcome> awaitDaemon(wire::Connection& connection, const RemoteArguments& arguments);

/// One sentence on stderr, fit for a terminal.
void remark(const std::string& sentence);

} // namespace moire::app
