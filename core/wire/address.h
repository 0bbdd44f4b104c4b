// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <string>

namespace moire::wire {

/// Where a socket of a daemon is.
struct Address
{
    std::string scheme; ///< "tcp" or "ipc"
    std::string host;   ///< of tcp, without brackets; of ipc the path
    int port = 0;       ///< of tcp; 0 = the system's choice

    std::string text() const; ///< tcp://HOST:PORT, ipc://PATH
    /// Nobody else's machine is involved: ipc, 127.x.x.x, ::1, localhost.
    bool isLocal() const;
};

/// Reads "tcp://HOST:PORT", "ipc://PATH", or for people "HOST" and "HOST:PORT", where the port is
/// defaultPort unless given. Errors: Invalid.
Result<Address> readAddress(const std::string& text);

/// The address of another socket, that a daemon reached at `control` named in its welcome: of
/// tcp the port counts only. Errors: Damaged (another scheme, no port).
Result<Address> besideControl(const Address& control, const std::string& named);

} // namespace moire::wire
