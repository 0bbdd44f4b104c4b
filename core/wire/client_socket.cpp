// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/client_socket.h"

#include "core/wire/protocol.h"
#include "core/wire/zmq_parts.h"

#include <atomic>
#include <cerrno>
#include <utility>

namespace moire::wire {

namespace {

constexpr int connectMs = 10'000;
constexpr int handshakeMs = 10'000;
constexpr int heartbeatMs = 1000 * silenceSeconds / 3;
constexpr int silenceMs = 1000 * silenceSeconds;
constexpr int lingerMs = 200; ///< for a goodbye
/// Messages that wait in the socket: rows are large, and what is small does not wait long.
constexpr int waitingMessages = 32;
constexpr int reconnectMs = 100;
/// Of links that are made once: the socket is closed long before. Without any interval ZeroMQ takes
/// the lost link's pipe away in the middle of a message that is being read, and aborts (fq.cpp).
constexpr int neverMs = 24 * 60 * 60 * 1000;
constexpr int reconnectMostMs = 2000;

HandshakeFailure::Kind kindOf(std::uint64_t event, std::uint32_t value)
{
    using Kind = HandshakeFailure::Kind;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
        return Kind::NotAuthorised;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)
        return Kind::CutShort;
    if (value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        return Kind::OtherSecurity;
    return value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC ? Kind::Cryptographic : Kind::Strange;
}

/// The frame's bytes, kept alive by the message and not copied.
zmq::message_t messageOf(const Frame& frame)
{
    using Owner = std::shared_ptr<const void>;
    auto* owner = new Owner(frame.owner);
    // ZeroMQ does not write to what it sends.
    return zmq::message_t(
        const_cast<std::byte*>(frame.bytes.data()), frame.size(),
        [](void*, void* hint) { delete static_cast<Owner*>(hint); }, owner);
}

} // namespace

class ClientSocket::State
{
public:
    explicit State(zmq::context_t& context, Kind kind)
        : socket(context, kind == Kind::Data ? zmq::socket_type::sub : zmq::socket_type::dealer)
        , monitor(context, zmq::socket_type::pair)
    {}
    /// ZeroMQ's reaper would wait for ever for room to tell a monitor that nobody hears any more.
    ~State() { zmq_socket_monitor(socket.handle(), nullptr, 0); }

    zmq::socket_t socket;
    zmq::socket_t monitor;
    bool over = false; ///< a link that was lost is lost for good
    bool reconnects = false;
};

ClientSocket::ClientSocket(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

ClientSocket::~ClientSocket() = default;

Result<std::unique_ptr<ClientSocket>>
ClientSocket::connect(zmq::context_t& context, Kind kind, const std::string& endpoint,
                      const std::optional<KeyPair>& own, const std::optional<std::string>& server)
{
    static std::atomic<std::uint64_t> monitors{0};
    try {
        auto state = std::make_unique<State>(context, kind);
        state->reconnects = kind == Kind::Data;
        zmq::socket_t& socket = state->socket;
        socket.set(zmq::sockopt::linger, lingerMs);
        socket.set(zmq::sockopt::rcvhwm, waitingMessages);
        socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(maxFrameBytes));
        socket.set(zmq::sockopt::connect_timeout, connectMs);
        socket.set(zmq::sockopt::handshake_ivl, handshakeMs);
        if (kind != Kind::Stream) {
            socket.set(zmq::sockopt::heartbeat_ivl, heartbeatMs);
            socket.set(zmq::sockopt::heartbeat_timeout, silenceMs);
        }
        // Only where it is asked for: of a name's addresses ZeroMQ tries one, and daemons bind to
        // IPv4 unless told otherwise.
        if (endpoint.find('[') != std::string::npos)
            socket.set(zmq::sockopt::ipv6, true);
        socket.set(zmq::sockopt::reconnect_ivl, state->reconnects ? reconnectMs : neverMs);
        if (state->reconnects)
            socket.set(zmq::sockopt::reconnect_ivl_max, reconnectMostMs);
        else
            socket.set(zmq::sockopt::immediate, true);
        if (own && server) {
            socket.set(zmq::sockopt::curve_serverkey, *server);
            socket.set(zmq::sockopt::curve_publickey, own->publicKey);
            socket.set(zmq::sockopt::curve_secretkey, own->secretKey);
        }
        const std::string name = "inproc://moire-link-" + std::to_string(monitors++);
        if (zmq_socket_monitor(socket.handle(), name.c_str(), ZMQ_EVENT_ALL) != 0)
            throw zmq::error_t();
        state->monitor.connect(name);
        socket.connect(endpoint);
        return std::unique_ptr<ClientSocket>(new ClientSocket(std::move(state)));
    } catch (const zmq::error_t& failure) {
        return Error{failure.num() == EINVAL ? Errc::Invalid : Errc::Io,
                     std::string("cannot connect: ") + failure.what(), endpoint,
                     "Check the address and the keys"};
    }
}

bool ClientSocket::send(const Packed& packed)
{
    try {
        auto flags = zmq::send_flags::dontwait;
        if (!packed.frames.empty())
            flags = flags | zmq::send_flags::sndmore;
        if (!m_state->socket.send(messageOf(packed.header), flags))
            return false;
        for (std::size_t i = 0; i < packed.frames.size(); ++i) {
            const bool last = i + 1 == packed.frames.size();
            // Once the first frame is taken the others are: a message is one to ZeroMQ.
            if (!m_state->socket.send(messageOf(packed.frames[i]),
                                      last ? zmq::send_flags::dontwait
                                           : zmq::send_flags::dontwait | zmq::send_flags::sndmore))
                return false;
        }
        return true;
    } catch (const zmq::error_t&) {
        return false; // no link: the monitor tells
    }
}

std::optional<std::vector<Frame>> ClientSocket::receive()
{
    std::vector<Frame> frames;
    try {
        while (true) {
            zmq::message_t part;
            if (!m_state->socket.recv(part, zmq::recv_flags::dontwait))
                return std::nullopt; // only ever before the first frame
            const bool more = part.more();
            if (frames.size() <= maxFrames + 2)
                frames.push_back(frameOf(std::move(part)));
            if (!more)
                return frames;
        }
    } catch (const zmq::error_t&) {
        return std::nullopt; // interrupted, or the context ends: the next poll tells
    }
}

std::optional<LinkEvent> ClientSocket::nextEvent()
{
    while (!m_state->over) {
        const auto event = nextEventOf(m_state->monitor);
        if (!event)
            return std::nullopt;
        switch (event->number) {
        case ZMQ_EVENT_CONNECTED:
            return LinkEvent::Answered;
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
            return LinkEvent::Ready;
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
            m_failure.kind = kindOf(event->number, event->value);
            m_state->over = !m_state->reconnects;
            return LinkEvent::NoHandshake;
        case ZMQ_EVENT_DISCONNECTED:
        case ZMQ_EVENT_CLOSED:
            m_state->over = !m_state->reconnects;
            return LinkEvent::Lost;
        default:
            break;
        }
    }
    return std::nullopt;
}

void ClientSocket::subscribe(const std::string& topic)
{
    m_state->socket.set(zmq::sockopt::subscribe, topic);
}

void ClientSocket::unsubscribe(const std::string& topic)
{
    m_state->socket.set(zmq::sockopt::unsubscribe, topic);
}

void* ClientSocket::handle()
{
    return m_state->socket.handle();
}

void* ClientSocket::monitorHandle()
{
    return m_state->monitor.handle();
}

} // namespace moire::wire
