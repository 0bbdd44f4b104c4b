// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/line_limit.h"
#include "core/wire/mailbox.h"
#include "core/wire/outbox.h"
#include "core/wire/outgoing_stream.h"
#include "core/wire/server.h"
#include "core/wire/session_table.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace moire::wire {

/// What a daemon decides about what its peers send (PROTOCOL.md): sessions, requests, refusals,
/// streams. No socket, no thread, no clock of its own. Whatever comes is checked here, and answered
/// once or dropped with a line in the log.
class Hub
{
public:
    using Time = std::chrono::steady_clock::time_point;
    struct Options
    {
        std::string program;
        std::string epoch;
        std::string stream; ///< addresses
        std::string data;
        bool secure = false;
        std::size_t maxClients = 64;
        std::size_t maxStreams = 64;
        std::function<void(const std::string&)> log;
        /// A reply has come from another thread, or the transport has room: pump. Any thread.
        std::function<void()> wake;
    };
    Hub(Options options, Service& service, Outbox& outbox);
    ~Hub();

    /// A message of the control or stream socket, without the routing id.
    void control(const Origin& origin, std::vector<Frame> frames, Time now);
    void stream(const Origin& origin, std::vector<Frame> frames, Time now);
    /// Sends what can be sent, for a short while; true when there may be more to send now.
    bool pump(Time now);
    /// When pump() has to be called again, if nothing happens before.
    Time nextTime(Time now) const;

    /// Clients with other keys may not do anything any more.
    void keepKeys(const std::set<std::string>& keys, Time now);
    /// Says a line about peers, within a limit; counts a refusal.
    void refusedOutside(const std::string& line, Time now);
    /// The daemon ends: says so on every stream.
    void stop(Time now);

    std::size_t clients() const { return m_sessions.size(); }
    std::size_t streams() const { return m_streams.size(); }
    std::uint64_t refusals() const { return m_refusals; }

private:
    struct Stream
    {
        std::string token; ///< of the session
        std::string peer;
        std::unique_ptr<OutgoingStream> stream;
        bool stuck = false; ///< the pipe was full in this round
    };
    /// A lossless reader that lost its link, or was sent everything.
    struct Kept
    {
        std::string client;
        std::string key;
        std::shared_ptr<RunLog> log;
        std::uint64_t reader = 0;
        Time until{};
    };

    // Control.
    void fault(Outbox::Socket socket, const Origin& origin, const Error& error, Time now);
    void hello(const Origin& origin, std::int64_t id, const Message& message, Time now);
    void request(Session& session, std::int64_t id, Message message, Time now);
    void sendAnswers(Time now);
    void reply(const std::string& peer, std::int64_t id, Message message,
               const std::shared_ptr<Flight>& flight, Time now);
    void refuse(const std::string& peer, std::int64_t id, std::string_view reason,
                const Error& error, Time now);
    void endSession(const Session& session);

    // Stream.
    void refuseStream(const std::string& peer, const Fields& fields, std::string_view reason,
                      const Error& error, Time now);
    void open(const Origin& origin, const Fields& fields, Time now);
    void credit(const Origin& origin, const Fields& fields, Time now);
    void close(const Origin& origin, const Fields& fields);
    void pong(const Origin& origin, const Fields& fields, Time now);
    bool notice(const std::string& peer, const Fields& fields, Time now);
    std::vector<Stream>::iterator find(const Origin& origin, const Fields& fields);
    bool step(Stream& stream, Time now);
    void linkLost(const std::string& peer, Time now, const std::string& why);
    void keep(const Stream& stream, Time until);
    void takeOver(const Session& session, const std::shared_ptr<RunLog>& log);
    void drop(std::vector<Stream>::iterator stream);
    void lookAtSilence(Time now);
    std::size_t streamsTaken();

    Options m_options;
    Service& m_service;
    Outbox& m_outbox;
    LineLimit m_lines;
    std::shared_ptr<Mailbox> m_mailbox;
    SessionTable m_sessions;
    std::vector<Stream> m_streams;
    std::size_t m_turn = 0;                         ///< whose turn it is
    std::vector<std::shared_ptr<Flight>> m_orphans; ///< of streams that are gone
    std::vector<Kept> m_kept;
    std::uint64_t m_readers = 0;
    std::uint64_t m_refusals = 0;
    bool m_stuck = false; ///< some pipe was full
    bool m_stopping = false;
};

} // namespace moire::wire
