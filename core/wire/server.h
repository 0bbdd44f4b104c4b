// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/keys.h"
#include "core/wire/run_log.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace moire::wire {

/// What a daemon does behind the protocol.
class Service
{
public:
    virtual ~Service() = default;
    using Answer = std::function<void(Message)>;
    /// Answers a request of section 3 other than hello and goodbye, exactly once, now or later,
    /// from any thread. Called on the server's thread: it must not block. `status` need not fill
    /// what the server knows itself (clients, streams, refusals).
    virtual void handle(Message request, Answer answer) = 0;
    /// A run's messages, null when there is no such run. Must not block.
    virtual std::shared_ptr<RunLog> log(const std::string& run) = 0;
};

struct ServerOptions
{
    std::string bind = "tcp://127.0.0.1:7431";
    std::string program;
    bool insecure = false;                     ///< beyond loopback without CURVE
    std::optional<std::filesystem::path> keys; ///< CURVE: server.key and clients/
    std::size_t maxClients = 64;
    std::size_t maxStreams = 64;
    /// Lines of the log; called on the server's thread.
    std::function<void(const std::string&)> log;
};

/// The daemon's sockets, with a thread of its own: control, stream and data, ZAP, sessions, credit.
/// What peers send is checked before it reaches the service.
class Server
{
public:
    /// Errors: Invalid (an address that makes no sense; beyond loopback without keys and without
    /// `insecure`; keys that cannot be read), Io (the address is in use).
    static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Service& service);
    /// Tells every open stream that the daemon ends, and closes.
    ~Server();

    /// Of control, with the port that the system chose.
    std::string address() const;
    /// Wakes the thread: a log has grown. Any thread.
    void wake();
    /// Publishes a log's messages on the data socket from now on, until it is closed.
    void publish(std::shared_ptr<RunLog> log);

private:
    class State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace moire::wire
