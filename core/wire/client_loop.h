// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/address.h"
#include "core/wire/client_socket.h"
#include "core/wire/client_stream.h"
#include "core/wire/connection.h"
#include "core/wire/control_session.h"
#include "core/wire/wake.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace moire::wire {

/// When a link that is down is tried again: soon at first, then less and less often.
class Backoff
{
public:
    using Time = std::chrono::steady_clock::time_point;
    void failed(Time now);
    void slowDown(Time now); ///< somebody said no: no use in asking at once
    void succeeded() { m_wait = first; }
    bool due(Time now) const { return now >= m_at; }
    Time at() const { return m_at; }

private:
    static constexpr std::chrono::milliseconds first{50};
    static constexpr std::chrono::milliseconds most{2000};
    std::chrono::milliseconds m_wait = first;
    Time m_at{};
};

/// What the connection's thread does: the three sockets of one daemon, opened again when they are
/// lost. step() is called by that thread over and over; everything else is safe from any thread.
class ClientLoop
{
public:
    using Time = std::chrono::steady_clock::time_point;
    using Changed = std::function<void()>;

    /// `changed` is called, without a lock held, when the link's state or a request's has changed.
    ClientLoop(const ConnectionOptions& options, Address address, Changed changed);
    ~ClientLoop();

    void step(); ///< one round; blocks until something happens
    void wake() { m_wake->notify(); }

    LinkState link() const;
    Error trouble() const;
    std::optional<Welcome> welcome() const;
    std::int64_t ask(Message request, ControlSession::AfterLoss afterLoss,
                     ControlSession::Done done);
    void forget(std::int64_t id);
    std::shared_ptr<ClientStream> addStream(const std::string& run, const StreamOptions& options);
    /// Says goodbye and ends every request and stream.
    void close();

private:
    /// By then a link is ready: TCP's and ZMTP's own limits (client_socket.cpp) come first, but a
    /// name that cannot be resolved never gives an event.
    static constexpr std::chrono::seconds readyTime{22};
    /// Messages taken in one round, so that nothing starves.
    static constexpr int fewMessages = 64;
    struct Link
    {
        std::unique_ptr<ClientSocket> socket;
        bool answered = false; ///< by whatever listens there
        bool ready = false;
        Time deadline{}; ///< by when it has to be ready
        Backoff backoff;
    };

    void setState(LinkState state, Error trouble);
    void openControl(Time now);
    void controlEvents(Time now);
    void receiveControl(Time now);
    void sendControl(Time now);
    void dropControl(Time now, Error why);
    void noHandshake(HandshakeFailure::Kind kind, Time now);
    void welcomed(Time now);

    void openStream(Time now);
    void streamEvents(Time now);
    void receiveStream(Time now);
    void sendStream(Time now);
    void dropStream(Time now);
    void keepAlive(Time now);
    void failStreams(const Error& error);
    void dispatch(std::vector<Frame> frames, Time now);
    void dispatch(const Fields& envelope, Packed packed, Time now);
    void stateQueries(Time now);

    void openData();
    void receiveData(Time now);

    std::vector<std::shared_ptr<ClientStream>> streams() const;
    std::shared_ptr<ClientStream> streamOf(std::int64_t number) const;
    void dropFinished();
    Time nextTime(Time now) const;
    void wait(Time until);
    std::unique_ptr<ClientSocket> connect(ClientSocket::Kind kind, const Address& address);

    class Context;
    ConnectionOptions m_options;
    Address m_address;
    Changed m_changed;
    std::unique_ptr<Context> m_context;
    std::shared_ptr<Wake> m_wake;

    // Guarded by m_mutex.
    mutable std::mutex m_mutex;
    ControlSession m_session;
    LinkState m_state = LinkState::Connecting;
    Error m_trouble;
    std::vector<std::shared_ptr<ClientStream>> m_streams;

    // The thread's own.
    Link m_control;
    Link m_stream;
    std::unique_ptr<ClientSocket> m_data;
    std::string m_dataEndpoint;
    std::string m_streamEndpoint;
    std::string m_sessionToken;
    std::string m_epoch;
    std::set<std::string> m_topics;
    std::int64_t m_streamNumbers = 0;
    bool m_everWelcomed = false;
    unsigned m_cutShort = 0; ///< handshakes in a row that ended without a word
    Time m_helloBy{};
    Time m_streamHeard{};
    Time m_streamSent{};
    unsigned m_silences = 0; ///< in a row, without a message between
};

} // namespace moire::wire
