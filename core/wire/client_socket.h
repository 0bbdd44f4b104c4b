// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/wire/keys.h"
#include "core/wire/message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zmq {
class context_t;
}

namespace moire::wire {

/// What a client's socket heard of its link.
enum class LinkEvent
{
    Answered,   ///< something listens there; the handshake begins
    Ready,      ///< the handshake is done: messages can go
    Lost,       ///< it was there, or nobody answers at that address
    NoHandshake ///< somebody answers and the handshake failed; see whyNoHandshake()
};

/// How a handshake failed.
struct HandshakeFailure
{
    enum class Kind
    {
        CutShort,      ///< the peer hung up without a word
        NotAuthorised, ///< ZAP refused our key
        OtherSecurity, ///< one side wants CURVE and the other does not
        Cryptographic, ///< the daemon's key is another one
        Strange        ///< not what ZeroMQ speaks
    };
    Kind kind = Kind::CutShort;
};

/// A ZeroMQ socket that connects once (but for Data): it never connects again by itself, so that
/// nothing that was meant for an earlier link is sent on a later one. Belongs to one thread.
class ClientSocket
{
public:
    enum class Kind
    {
        Control,
        Stream, ///< without ZMTP's heartbeats: over a slow link a large frame outlasts them
        Data    ///< this one connects again by itself: it only ever hears
    };
    /// CURVE when `own` and `server` are given.
    static Result<std::unique_ptr<ClientSocket>> connect(zmq::context_t& context, Kind kind,
                                                         const std::string& endpoint,
                                                         const std::optional<KeyPair>& own,
                                                         const std::optional<std::string>& server);
    ~ClientSocket();

    /// False when the link cannot take it now.
    bool send(const Packed& packed);
    /// The frames of the next message, if one is there; at least one.
    std::optional<std::vector<Frame>> receive();
    std::optional<LinkEvent> nextEvent();
    HandshakeFailure whyNoHandshake() const { return m_failure; }
    void subscribe(const std::string& topic);
    void unsubscribe(const std::string& topic);

    /// For a poll: the socket and its monitor.
    void* handle();
    void* monitorHandle();

private:
    class State;
    explicit ClientSocket(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
    HandshakeFailure m_failure;
};

} // namespace moire::wire
