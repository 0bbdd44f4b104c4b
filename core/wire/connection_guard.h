// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

namespace moire::wire {

/// Cuts connections of a socket that ZeroMQ itself would let take memory without end: too many at
/// once, and those that send and send without ever ending a message (of a message's parts ZeroMQ
/// limits the size of each, and not their number). TCP only: who may open an ipc socket is this
/// user.
class ConnectionGuard
{
public:
    using Time = std::chrono::steady_clock::time_point;
    struct Limits
    {
        std::size_t connections = 256;
        /// Bytes that may come without a whole message.
        std::uint64_t bytes = 0;
        /// So many more for every second: a link that only ever lives sends a little.
        std::uint64_t bytesPerSecond = 1024;
    };
    explicit ConnectionGuard(Limits limits)
        : m_limits(limits)
    {}

    /// False: it was cut, there are too many.
    bool accepted(int descriptor, Time now);
    void gone(int descriptor) { m_connections.erase(descriptor); }
    /// A whole message came on it.
    void heard(int descriptor, Time now);
    /// Cuts those that are beyond the limit; how many.
    std::size_t look(Time now);

private:
    struct Known
    {
        Time since{};
        std::uint64_t received = 0; ///< bytes, when the last message was whole
    };
    Limits m_limits;
    std::map<int, Known> m_connections;
};

} // namespace moire::wire
