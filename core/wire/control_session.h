// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/requests.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace moire::wire {

/// A client's side of the control socket: hello first, then requests with their replies, and after
/// a lost link the same again (PROTOCOL.md, 3). No socket, no thread, no clock.
class ControlSession
{
public:
    using Done = std::function<void(Result<Message>)>;

    ControlSession(std::string program, std::string client);

    /// What to do with a request whose reply was not heard when the link was lost.
    enum class AfterLoss
    {
        AskAgain,
        Fail ///< done twice it would not be the same
    };
    /// `done` is called once, at the latest by close(), unless forget() comes first.
    std::int64_t ask(Message request, AfterLoss afterLoss, Done done);
    void forget(std::int64_t id);

    void linkReady(); ///< the socket reaches the daemon: hello is due
    void linkLost();
    /// Says hello again on the same link: the daemon does not know the session any more.
    void greetAgain();
    void close(const Error& error); ///< ends all requests

    /// What is to be sent now; each message is given once.
    std::optional<Message> nextToSend();
    /// `epoch`s and sessions differ from the last time where the daemon was started again.
    enum class Heard
    {
        Nothing,
        Welcome, ///< see welcome()
        Refused  ///< hello was refused; see refusal()
    };
    Heard received(const Message& message);

    bool welcomed() const { return m_state == State::Welcomed; }
    const std::optional<Welcome>& welcome() const { return m_welcome; } ///< the last one
    const Error& refusal() const { return m_refusal; }

private:
    enum class State
    {
        NoLink,
        HelloDue,
        HelloSent,
        Welcomed
    };
    struct Request
    {
        Message message;
        AfterLoss afterLoss = AfterLoss::AskAgain;
        Done done;
        bool sent = false;
    };
    Heard receivedGreeting(const Message& message);

    std::string m_program;
    std::string m_client;
    State m_state = State::NoLink;
    std::optional<Welcome> m_welcome;
    Error m_refusal;
    std::int64_t m_lastId = 0;
    std::int64_t m_helloId = 0;
    std::map<std::int64_t, Request> m_requests; ///< in the order in which they were asked
};

} // namespace moire::wire
