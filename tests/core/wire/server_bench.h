// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/protocol.h"
#include "core/wire/requests.h"
#include "core/wire/server.h"
#include "tests/core/wire/made_up_run.h"

#include <zmq.hpp>

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// A server on real sockets with a service of made-up runs, and peers of every manner.
namespace moire::wire::test {

class LogService : public Service
{
public:
    void handle(Message request, Answer answer) override
    {
        ++requests;
        if (request.type() == type::status)
            answer({[] {
                        Fields fields = toFields(DaemonStatus{});
                        fields["t"] = type::status;
                        return fields;
                    }(),
                    {}});
        else if (request.type() == type::runState)
            answer({[&] {
                        RunState state;
                        state.run = "r1";
                        if (const auto held = log("r1"))
                            state.messages = held->size();
                        Fields fields = toFields(state);
                        fields["t"] = type::runState;
                        return fields;
                    }(),
                    {}});
        else
            answer({Fields{{"t", type::models}, {"models", Fields::array()}}, {}});
    }
    std::shared_ptr<RunLog> log(const std::string& run) override
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_logs.find(run);
        return found == m_logs.end() ? nullptr : found->second;
    }
    void put(const std::shared_ptr<RunLog>& log)
    {
        const std::lock_guard lock(m_mutex);
        m_logs[log->run()] = log;
    }
    std::atomic<int> requests{0};

private:
    std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<RunLog>> m_logs;
};

/// Lines of the log, from the server's thread.
class Lines
{
public:
    std::function<void(const std::string&)> taker()
    {
        return [this](const std::string& line) {
            const std::lock_guard lock(m_mutex);
            m_lines.push_back(line);
        };
    }
    bool contain(const std::string& part) const
    {
        const std::lock_guard lock(m_mutex);
        for (const std::string& line : m_lines)
            if (line.find(part) != line.npos)
                return true;
        return false;
    }
    std::size_t count() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines.size();
    }

private:
    mutable std::mutex m_mutex;
    std::vector<std::string> m_lines;
};

/// A bare socket of a client.
class BarePeer
{
public:
    BarePeer(const std::string& endpoint, int receiveTimeout = 3000,
             zmq::socket_type type = zmq::socket_type::dealer)
        : socket(context, type)
    {
        socket.set(zmq::sockopt::linger, 0);
        socket.set(zmq::sockopt::rcvtimeo, receiveTimeout);
        socket.connect(endpoint);
    }
    void say(const Fields& fields)
    {
        const auto bytes = encodeFields(fields);
        socket.send(zmq::buffer(bytes.data(), bytes.size()), zmq::send_flags::none);
    }
    /// The header of the next message, with the number of its frames as "frames".
    std::optional<Fields> hear()
    {
        std::optional<Fields> fields;
        std::size_t frames = 0;
        while (true) {
            zmq::message_t part;
            if (!socket.recv(part))
                return std::nullopt;
            if (frames++ == 0)
                if (const auto read =
                        decodeFields({part.data<std::byte>(), part.size()}, clientLimits))
                    fields = *read;
            if (part.more())
                continue;
            if (fields)
                (*fields)["frames"] = frames;
            return fields;
        }
    }
    std::optional<Fields> hello(const std::string& client)
    {
        say({{"t", "hello"},
             {"id", 1},
             {"versions", {1}},
             {"program", "bare"},
             {"client", client}});
        return hear();
    }

    zmq::context_t context;
    zmq::socket_t socket;
};

inline int portOf(const std::string& endpoint)
{
    return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
}

/// A TCP connection that speaks whatever it is told to.
class RawPeer
{
public:
    explicit RawPeer(int port)
        : m_socket(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{2, 0};
        ::setsockopt(m_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(m_socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        connected =
            ::connect(m_socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~RawPeer() { ::close(m_socket); }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    bool write(const std::string& bytes)
    {
        return ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL)
               == static_cast<ssize_t>(bytes.size());
    }
    std::string read(std::size_t bytes)
    {
        std::string text(bytes, '\0');
        const ssize_t got = ::recv(m_socket, text.data(), bytes, MSG_WAITALL);
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }
    /// ZMTP 3.0's greeting and READY of a DEALER without security.
    bool greet()
    {
        std::string greeting(64, '\0');
        greeting[0] = '\xff';
        greeting[9] = '\x7f';
        greeting[10] = 3;
        greeting.replace(12, 4, "NULL");
        const std::string ready =
            std::string("\x05READY\x0bSocket-Type", 18) + std::string("\0\0\0\x06", 4) + "DEALER";
        return write(greeting) && read(64).size() == 64
               && write(std::string("\x04", 1) + static_cast<char>(ready.size()) + ready);
    }
    bool connected = false;

private:
    int m_socket;
};

template <class Reached>
bool soon(Reached reached, std::chrono::milliseconds patience = std::chrono::milliseconds(8000))
{
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!reached() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return reached();
}

/// A run "r1" with `rows` rows of which the log may hold `heldRows`.
inline std::shared_ptr<RunLog> begun(std::uint32_t rows, std::size_t holdBytes)
{
    auto limit = std::make_shared<HoldLimit>();
    limit->bytes = holdBytes;
    auto log = std::make_shared<RunLog>("r1", limit);
    log->begin(madeup::header(), {rows, true});
    log->beginSample(trace::SampleIndex{0}, madeup::sample(0), madeup::tokens(2, 0, false));
    return log;
}
inline bool grow(RunLog& log, std::uint32_t position, const std::stop_token& stop = {})
{
    return static_cast<bool>(log.addRows(std::make_shared<const trace::RowBlock>(madeup::block(
                                             madeup::header(), trace::SampleIndex{0}, position, 1)),
                                         stop));
}

} // namespace moire::wire::test
