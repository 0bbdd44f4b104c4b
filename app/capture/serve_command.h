// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <CLI/App.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace moire::app {

/// What `moire-capture serve` was told.
struct ServeArguments
{
    std::string bind = "tcp://127.0.0.1:7431";
    std::string models;
    std::optional<std::string> spool;
    std::uint64_t spoolLimit = 0; ///< bytes, 0 = none
    std::optional<std::string> keys;
    bool insecure = false;
    std::uint64_t holdLimit = std::uint64_t{256} << 20U;
    std::uint32_t maxClients = 64;
};

void addServeOptions(CLI::App& command, ServeArguments& arguments);

/// Serves until Ctrl-C, SIGTERM or SIGHUP; a line on the standard output says when it is ready and
/// where, the log goes to the standard error. Errors: those of capture::Daemon and wire::Server.
Result<std::string> serveCommand(const ServeArguments& arguments);

} // namespace moire::app
