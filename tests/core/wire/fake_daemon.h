// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/keys.h"
#include "core/wire/message.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace moire::wire {

/// A daemon for tests of the client: three sockets and one run "r1" whose messages it was given. It
/// keeps to credit, can lose its sockets, and can forget its sessions.
class FakeDaemon
{
public:
    struct Options
    {
        std::optional<KeyPair> keys; ///< CURVE
        bool acceptsKeys = true;     ///< what ZAP says
        std::string refuses;         ///< a reason with which hello is refused
    };
    explicit FakeDaemon(std::vector<Packed> messages);
    FakeDaemon(std::vector<Packed> messages, Options options);
    ~FakeDaemon();

    std::string address() const;
    /// Messages below `count` exist; they are published as they come.
    void grow(std::uint64_t count) { m_available = count; }
    void stop();
    /// At the same addresses again.
    void start(const std::string& epoch);
    /// Drops the sockets and makes them anew: every link is lost.
    void cut();
    void cutStream() { m_cutStream = true; }
    /// Published messages of these numbers are lost.
    void lose(std::uint64_t from, std::uint64_t to);
    /// Messages of these numbers cannot be had any more.
    void forget(std::uint64_t from);
    /// Does not answer on the stream socket any more (until cut).
    void fallSilent() { m_silent = true; }
    /// Streams end (as of a daemon that is about to stop) before message `at`.
    void endAt(std::uint64_t at) { m_endAt = at; }
    void forgetSessions() { m_known = false; }
    /// Answers requests other than hello; must be set before there are any.
    std::function<Message(const Message&)> answers;
    /// Requests that are not answered, as if the reply was lost with the link.
    std::atomic<int> swallows{0};

    std::atomic<int> hellos{0};
    std::atomic<int> opens{0};
    std::atomic<int> pings{0};
    std::atomic<int> goodbyes{0};
    std::atomic<std::uint64_t> sent{0}; ///< messages on streams
    std::atomic<std::uint64_t> mostCredit{0};

private:
    class Sockets;
    struct Stream
    {
        std::vector<std::byte> peer;
        std::uint64_t next = 0;
        std::uint64_t to = 0;
        std::uint64_t credit = 0;
        bool starved = false;
        bool over = false;
    };
    void run(const std::stop_token& stop);
    void control(Sockets& sockets);
    void stream(Sockets& sockets);
    void open(Sockets& sockets, const std::vector<std::byte>& peer, const Message& message);
    void serve(Sockets& sockets, std::int64_t number, Stream& stream);
    void publish(Sockets& sockets);
    Message reply(const Message& request);

    std::vector<Packed> m_messages;
    Options m_options;
    std::string m_epoch = "first";
    std::atomic<std::uint64_t> m_available{0};
    std::atomic<std::uint64_t> m_endAt{0};
    std::atomic<std::uint64_t> m_loseFrom{0};
    std::atomic<std::uint64_t> m_loseTo{0};
    std::atomic<std::uint64_t> m_forgetFrom{UINT64_MAX};
    std::atomic<bool> m_cutStream{false};
    std::atomic<bool> m_silent{false};
    std::atomic<bool> m_known{true};
    std::uint64_t m_published = 0;
    int m_control = 0; ///< ports
    int m_stream = 0;
    int m_data = 0;
    std::map<std::int64_t, Stream> m_streams;
    std::jthread m_thread;
};

} // namespace moire::wire
