// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/server_sockets.h"

#include "core/wire/protocol.h"
#include "core/wire/zmq_parts.h"

#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

namespace moire::wire {

namespace {

constexpr int handshakeMs = 10'000;
constexpr int lingerMs = 1000;
constexpr int heartbeatMs = 1000 * silenceSeconds / 3;
constexpr int silenceMs = 1000 * silenceSeconds;
/// A link on which nothing could be delivered for so long is lost.
constexpr int undeliveredMs = 60'000;
constexpr int mostPort = 65535;
constexpr int waitingConnections = 128;
/// CURVE makes a frame larger, by less than that.
constexpr std::size_t curveOverhead = 1024;
constexpr std::chrono::milliseconds lookEvery{50};
constexpr int monitored = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED
                          | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
                          | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

/// What differs between the sockets: messages that may wait for one peer and from one peer, and
/// what one may send.
struct Bounds
{
    const char* name;
    int sendWaiting;
    int receiveWaiting;
    std::size_t frameBytes;
    std::size_t messageBytes; ///< all frames
};

Bounds boundsOf(ServerSocket::Kind kind)
{
    constexpr std::size_t mebi = std::size_t{1} << 20U;
    switch (kind) {
    case ServerSocket::Kind::Control:
        return {"control", 256, 16, maxRequestFrameBytes, maxRequestBytes};
    case ServerSocket::Kind::Stream:
        return {"stream", 1024, 256, maxRequestHeaderBytes, 4 * mebi};
    case ServerSocket::Kind::Data:
        break;
    }
    return {"data", 16, 64, mebi / 16, mebi};
}

zmq::socket_type typeOf(ServerSocket::Kind kind)
{
    return kind == ServerSocket::Kind::Data ? zmq::socket_type::xpub : zmq::socket_type::router;
}

} // namespace

ServerSocket::ServerSocket(zmq::context_t& context, Kind kind, const std::string& endpoint,
                           const std::optional<KeyPair>& keys)
    : m_kind(kind)
    , m_socket(context, typeOf(kind))
    , m_monitor(context, zmq::socket_type::pair)
    , m_guard({.bytes = boundsOf(kind).messageBytes})
{
    static std::atomic<std::uint64_t> monitors{0};
    const Bounds bounds = boundsOf(kind);
    m_socket.set(zmq::sockopt::linger, lingerMs);
    m_socket.set(zmq::sockopt::sndhwm, bounds.sendWaiting);
    m_socket.set(zmq::sockopt::rcvhwm, bounds.receiveWaiting);
    m_socket.set(zmq::sockopt::maxmsgsize,
                 static_cast<std::int64_t>(bounds.frameBytes + curveOverhead));
    m_socket.set(zmq::sockopt::handshake_ivl, handshakeMs);
    m_socket.set(zmq::sockopt::backlog, waitingConnections);
    m_socket.set(zmq::sockopt::tcp_keepalive, 1);
    m_socket.set(zmq::sockopt::tcp_maxrt, undeliveredMs);
    if (kind == Kind::Control) {
        m_socket.set(zmq::sockopt::heartbeat_ivl, heartbeatMs);
        m_socket.set(zmq::sockopt::heartbeat_timeout, silenceMs);
    }
    if (kind != Kind::Data)
        m_socket.set(zmq::sockopt::router_mandatory, true);
    if (endpoint.find('[') != std::string::npos)
        m_socket.set(zmq::sockopt::ipv6, true);
    if (keys) {
        m_socket.set(zmq::sockopt::curve_server, 1);
        m_socket.set(zmq::sockopt::curve_secretkey, keys->secretKey);
        m_socket.set(zmq::sockopt::zap_domain, std::string(zapDomain));
    }
    const std::string name = "inproc://moire-peers-" + std::to_string(monitors++);
    if (zmq_socket_monitor(m_socket.handle(), name.c_str(), monitored) != 0)
        throw zmq::error_t();
    m_monitor.connect(name);
    m_socket.bind(endpoint);
    if (const auto address = readAddress(endpoint); address && address->scheme == "ipc") {
        std::error_code ignored;
        std::filesystem::permissions(address->host, std::filesystem::perms::owner_all, ignored);
    }
}

/// ZeroMQ's reaper would wait for ever for room to tell a monitor that nobody hears any more.
ServerSocket::~ServerSocket()
{
    zmq_socket_monitor(m_socket.handle(), nullptr, 0);
}

std::string ServerSocket::endpoint() const
{
    return m_socket.get(zmq::sockopt::last_endpoint);
}

std::optional<Received> ServerSocket::receive(ConnectionGuard::Time now)
{
    auto received = receiveFrom(m_socket.handle());
    if (received)
        m_guard.heard(received->connection, now);
    return received;
}

std::vector<std::string> ServerSocket::look(ConnectionGuard::Time now)
{
    const std::string where = boundsOf(m_kind).name;
    std::vector<std::string> said;
    while (const auto event = nextEventOf(m_monitor)) {
        const auto descriptor = static_cast<int>(event->value);
        if (event->number == ZMQ_EVENT_ACCEPTED) {
            if (!m_guard.accepted(descriptor, now))
                said.push_back("too many connections to the " + where + " socket; one was cut");
        } else if (event->number == ZMQ_EVENT_DISCONNECTED || event->number == ZMQ_EVENT_CLOSED) {
            m_guard.gone(descriptor);
        } else {
            said.push_back("a handshake on the " + where + " socket failed");
        }
    }
    if (now - m_looked >= lookEvery) {
        m_looked = now;
        if (const std::size_t cut = m_guard.look(now); cut > 0)
            said.push_back(std::to_string(cut) + " connections to the " + where
                           + " socket were cut: they send without ever ending a message");
    }
    return said;
}

ServerEndpoints endpointsOf(const Address& control)
{
    if (control.scheme == "ipc")
        return {control.text(), control.text() + ".stream", control.text() + ".data"};
    Address stream = control;
    Address data = control;
    const bool fits = control.port > 0 && control.port + 2 <= mostPort;
    stream.port = fits ? control.port + 1 : 0;
    data.port = fits ? control.port + 2 : 0;
    return {control.text(), stream.text(), data.text()};
}

} // namespace moire::wire
