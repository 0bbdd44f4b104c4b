// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/address.h"
#include "core/wire/connection_guard.h"
#include "core/wire/keys.h"
#include "core/wire/outbox.h"
#include "core/wire/server_socket.h"

#include <zmq.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moire::wire {

/// A socket of a daemon with its monitor.
class ServerSocket
{
public:
    enum class Kind
    {
        Control,
        Stream,
        Data
    };
    /// Throws zmq::error_t.
    ServerSocket(zmq::context_t& context, Kind kind, const std::string& endpoint,
                 const std::optional<KeyPair>& keys);
    ~ServerSocket();
    ServerSocket(const ServerSocket&) = delete;
    ServerSocket& operator=(const ServerSocket&) = delete;

    void* handle() { return m_socket.handle(); }
    void* monitorHandle() { return m_monitor.handle(); }
    /// With the port that the system chose.
    std::string endpoint() const;

    std::optional<Received> receive(ConnectionGuard::Time now);
    /// Takes what the monitor has seen and cuts who takes too much; what is to be said of it.
    std::vector<std::string> look(ConnectionGuard::Time now);

private:
    Kind m_kind;
    zmq::socket_t m_socket;
    zmq::socket_t m_monitor;
    ConnectionGuard m_guard;
    ConnectionGuard::Time m_looked{};
};

/// Where the three sockets of a daemon bind.
struct ServerEndpoints
{
    std::string control;
    std::string stream;
    std::string data;
};
ServerEndpoints endpointsOf(const Address& control);

} // namespace moire::wire
