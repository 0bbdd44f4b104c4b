// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/connection_guard.h"

#include <cstring>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

namespace moire::wire {

namespace {

/// What the kernel has received on a TCP connection; nothing when the descriptor is none.
std::optional<std::uint64_t> receivedOn(int descriptor)
{
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0
        || size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return std::nullopt;
    return info.tcpi_bytes_received;
}

} // namespace

bool ConnectionGuard::accepted(int descriptor, Time now)
{
    const auto received = receivedOn(descriptor);
    if (!received)
        return true;
    if (m_connections.size() >= m_limits.connections) {
        ::shutdown(descriptor, SHUT_RDWR); // ZeroMQ sees the end, and closes it
        return false;
    }
    m_connections[descriptor] = {now, 0};
    return true;
}

void ConnectionGuard::heard(int descriptor, Time now)
{
    const auto known = m_connections.find(descriptor);
    if (known == m_connections.end())
        return;
    if (const auto received = receivedOn(descriptor))
        known->second = {now, *received};
}

std::size_t ConnectionGuard::look(Time now)
{
    std::size_t cut = 0;
    for (auto entry = m_connections.begin(); entry != m_connections.end();) {
        const auto received = receivedOn(entry->first);
        const Known& known = entry->second;
        const auto seconds = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::seconds>(now - known.since).count());
        if (!received) {
            entry = m_connections.erase(entry); // closed meanwhile
        } else if (*received > known.received
                   && *received - known.received
                          > m_limits.bytes + seconds * m_limits.bytesPerSecond) {
            ::shutdown(entry->first, SHUT_RDWR);
            ++cut;
            entry = m_connections.erase(entry);
        } else {
            ++entry;
        }
    }
    return cut;
}

} // namespace moire::wire
