// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/session_table.h"

#include "core/wire/protocol.h"
#include "core/wire/random_text.h"

#include <algorithm>
#include <utility>

namespace moire::wire {

namespace {

/// Peers whose faults are known; beyond it all are forgotten, so that this stays small.
constexpr std::size_t mostFaulty = 4096;

} // namespace

SessionTable::SessionTable(std::size_t most, std::function<void()> landed)
    : m_most(most)
    , m_landed(std::move(landed))
{}

Session* SessionTable::greet(const Origin& origin, const std::string& client, Time now,
                             const std::function<bool(const Session&)>& isBusy,
                             const std::function<void(const Session&)>& ended)
{
    const auto known = std::find_if(m_sessions.begin(), m_sessions.end(), [&](const auto& entry) {
        return entry.second.client == client && entry.second.key == origin.key;
    });
    // One link is one client.
    if (const auto former = m_controls.find(origin.peer);
        former != m_controls.end()
        && (known == m_sessions.end() || known->first != former->second)) {
        const std::string token = former->second;
        ended(m_sessions.at(token));
        remove(token);
    }
    if (known != m_sessions.end()) {
        Session& session = known->second;
        m_controls.erase(session.control);
        session.control = origin.peer;
        session.heard = now;
        m_controls[origin.peer] = session.token;
        return &session;
    }
    if (m_sessions.size() >= m_most) {
        Session* silent = nullptr;
        for (Session* session : all())
            if (!isBusy(*session) && now - session->heard >= std::chrono::seconds(sessionSeconds)
                && (silent == nullptr || session->heard < silent->heard))
                silent = session;
        if (silent == nullptr)
            return nullptr;
        ended(*silent);
        remove(std::string(silent->token));
    }
    Session session{randomText(), client, origin.key,
                    origin.peer,  {},     now,
                    now,          0,      std::make_shared<Flight>(m_landed)};
    m_controls[origin.peer] = session.token;
    const std::string token = session.token;
    return &m_sessions.emplace(token, std::move(session)).first->second;
}

Session* SessionTable::ofToken(const std::string& token)
{
    const auto found = m_sessions.find(token);
    return found == m_sessions.end() ? nullptr : &found->second;
}

Session* SessionTable::find(const std::map<std::string, std::string>& peers, const Origin& origin)
{
    const auto token = peers.find(origin.peer);
    if (token == peers.end())
        return nullptr;
    Session* session = ofToken(token->second);
    return session != nullptr && session->key == origin.key ? session : nullptr;
}

Session* SessionTable::ofControl(const Origin& origin)
{
    return find(m_controls, origin);
}

Session* SessionTable::ofStream(const Origin& origin)
{
    return find(m_streams, origin);
}

void SessionTable::attachStream(Session& session, const std::string& peer)
{
    m_streams.erase(session.stream);
    if (const auto former = m_streams.find(peer); former != m_streams.end())
        if (Session* other = ofToken(former->second))
            other->stream.clear();
    session.stream = peer;
    m_streams[peer] = session.token;
}

void SessionTable::remove(const std::string& token)
{
    const auto found = m_sessions.find(token);
    if (found == m_sessions.end())
        return;
    m_controls.erase(found->second.control);
    m_streams.erase(found->second.stream);
    m_sessions.erase(found);
}

std::vector<Session*> SessionTable::all()
{
    std::vector<Session*> sessions;
    for (auto& [token, session] : m_sessions)
        sessions.push_back(&session);
    return sessions;
}

unsigned SessionTable::fault(const std::string& peer)
{
    if (m_faults.size() >= mostFaulty && !m_faults.contains(peer))
        m_faults.clear();
    return ++m_faults[peer];
}

unsigned SessionTable::faults(const std::string& peer) const
{
    const auto found = m_faults.find(peer);
    return found == m_faults.end() ? 0 : found->second;
}

void SessionTable::forgive(const std::string& peer)
{
    m_faults.erase(peer);
}

} // namespace moire::wire
