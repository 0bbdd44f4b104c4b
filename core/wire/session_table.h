// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/flight.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace moire::wire {

/// Who sent a message: the socket's routing id of its link, and under CURVE its public key.
struct Origin
{
    std::string peer;
    std::string key;
};

/// A client that has said hello.
struct Session
{
    using Time = std::chrono::steady_clock::time_point;
    std::string token; ///< shown to the stream socket
    std::string client;
    std::string key;
    std::string control; ///< routing ids, "" = none
    std::string stream;
    Time heard{};
    Time streamHeard{};
    std::size_t pending = 0; ///< requests that are not answered yet
    std::shared_ptr<Flight> replies;
};

/// The clients of a daemon, and the faults of peers; bounded. Time comes in.
class SessionTable
{
public:
    using Time = Session::Time;
    explicit SessionTable(std::size_t most, std::function<void()> landed);

    /// The session of a client that says hello: the one that it had, or another. Null: all places
    /// are taken by clients that were heard of, or that `isBusy`.
    Session* greet(const Origin& origin, const std::string& client, Time now,
                   const std::function<bool(const Session&)>& isBusy,
                   const std::function<void(const Session&)>& ended);
    Session* ofToken(const std::string& token);
    Session* ofControl(const Origin& origin);
    Session* ofStream(const Origin& origin);
    void attachStream(Session& session, const std::string& peer);
    void remove(const std::string& token);
    std::vector<Session*> all();
    std::size_t size() const { return m_sessions.size(); }

    /// Counts a fault of the peer; how many it has now.
    unsigned fault(const std::string& peer);
    unsigned faults(const std::string& peer) const;
    void forgive(const std::string& peer);

private:
    Session* find(const std::map<std::string, std::string>& peers, const Origin& origin);

    std::size_t m_most;
    std::function<void()> m_landed;
    std::map<std::string, Session> m_sessions;     ///< by token
    std::map<std::string, std::string> m_controls; ///< token by routing id
    std::map<std::string, std::string> m_streams;
    std::map<std::string, unsigned> m_faults; ///< by routing id
};

} // namespace moire::wire
