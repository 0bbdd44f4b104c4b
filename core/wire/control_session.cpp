// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/control_session.h"

#include "core/wire/protocol.h"

#include <limits>
#include <utility>

namespace moire::wire {

namespace {

Error unknownOutcome()
{
    return {Errc::Io,
            "the link was lost before the daemon answered, and it may have done what was asked",
            {},
            "moire-capture runs shows which runs there are"};
}

} // namespace

ControlSession::ControlSession(std::string program, std::string client)
    : m_program(std::move(program))
    , m_client(std::move(client))
{}

std::int64_t ControlSession::ask(Message request, AfterLoss afterLoss, Done done)
{
    const std::int64_t id = ++m_lastId;
    request.fields["id"] = id;
    m_requests.emplace(id, Request{std::move(request), afterLoss, std::move(done), false});
    return id;
}

void ControlSession::forget(std::int64_t id)
{
    m_requests.erase(id);
}

void ControlSession::linkReady()
{
    m_state = State::HelloDue;
}

void ControlSession::linkLost()
{
    m_state = State::NoLink;
    for (auto entry = m_requests.begin(); entry != m_requests.end();) {
        Request& request = entry->second;
        if (request.sent && request.afterLoss == AfterLoss::Fail) {
            const Done done = std::move(request.done);
            entry = m_requests.erase(entry);
            done(unknownOutcome());
            continue;
        }
        request.sent = false;
        ++entry;
    }
}

void ControlSession::greetAgain()
{
    if (m_state == State::Welcomed)
        m_state = State::HelloDue;
}

void ControlSession::close(const Error& error)
{
    m_state = State::NoLink;
    auto requests = std::move(m_requests);
    m_requests.clear();
    for (auto& [id, request] : requests)
        request.done(error);
}

std::optional<Message> ControlSession::nextToSend()
{
    if (m_state == State::HelloDue) {
        m_state = State::HelloSent;
        m_helloId = ++m_lastId;
        return Message{Fields{{"t", type::hello},
                              {"id", m_helloId},
                              {"versions", Fields::array({protocolVersion})},
                              {"program", m_program},
                              {"client", m_client}},
                       {}};
    }
    if (m_state != State::Welcomed)
        return std::nullopt;
    for (auto& [id, request] : m_requests)
        if (!request.sent) {
            request.sent = true;
            return request.message;
        }
    return std::nullopt;
}

ControlSession::Heard ControlSession::receivedGreeting(const Message& message)
{
    if (message.type() == type::refused) {
        m_refusal = errorOf(message);
        m_state = State::NoLink;
        return Heard::Refused;
    }
    auto welcome = message.type() == type::welcome
                       ? toWelcome(message.fields)
                       : Result<Welcome>(Error{
                           Errc::Damaged, "the daemon's answer to hello is no welcome", {}, {}});
    if (welcome && welcome->version != protocolVersion)
        welcome =
            Error{Errc::Unsupported,
                  "the daemon speaks version " + std::to_string(welcome->version)
                      + " of the protocol, this program version " + std::to_string(protocolVersion),
                  {},
                  "Install the same version on both machines"};
    if (!welcome) {
        m_refusal = welcome.error();
        m_state = State::NoLink;
        return Heard::Refused;
    }
    m_welcome = *std::move(welcome);
    m_state = State::Welcomed;
    return Heard::Welcome;
}

ControlSession::Heard ControlSession::received(const Message& message)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto id = integerField(message.fields, "id", -1, most);
    if (!id)
        return Heard::Nothing;
    if (*id == m_helloId && m_state == State::HelloSent)
        return receivedGreeting(message);
    const auto entry = m_requests.find(*id);
    if (entry == m_requests.end() || !entry->second.sent)
        return Heard::Nothing;
    if (message.type() == type::refused) {
        const auto why = textField(message.fields, "reason");
        if (why && *why == reason::noHello) {
            entry->second.sent = false;
            greetAgain();
            return Heard::Nothing;
        }
    }
    const Done done = std::move(entry->second.done);
    m_requests.erase(entry);
    done(message.type() == type::refused ? Result<Message>(errorOf(message))
                                         : Result<Message>(message));
    return Heard::Nothing;
}

} // namespace moire::wire
