// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/wire/fake_daemon.h"

#include "core/wire/protocol.h"
#include "core/wire/requests.h"

#include <zmq.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace moire::wire {

namespace {

constexpr std::chrono::milliseconds pollTime{2};
constexpr int mostAttempts = 5000;

std::vector<std::byte> bytesOf(const zmq::message_t& message)
{
    const auto* data = message.data<std::byte>();
    return {data, data + message.size()};
}

std::optional<std::vector<std::vector<std::byte>>> receive(zmq::socket_t& socket)
{
    std::vector<std::vector<std::byte>> frames;
    while (true) {
        zmq::message_t part;
        if (!socket.recv(part, zmq::recv_flags::dontwait))
            return std::nullopt;
        frames.push_back(bytesOf(part));
        if (!part.more())
            return frames;
    }
}

void send(zmq::socket_t& socket, const std::vector<std::span<const std::byte>>& frames)
{
    for (std::size_t i = 0; i < frames.size(); ++i)
        socket.send(zmq::buffer(frames[i].data(), frames[i].size()),
                    i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

Message messageOf(const std::vector<std::vector<std::byte>>& frames)
{
    Packed packed{Frame::of(frames[1]), {}};
    for (std::size_t i = 2; i < frames.size(); ++i)
        packed.frames.push_back(Frame::of(frames[i]));
    auto message = unpack(packed, daemonLimits);
    return message ? *std::move(message) : Message{};
}

int portOf(zmq::socket_t& socket)
{
    const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
    return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
}

} // namespace

class FakeDaemon::Sockets
{
public:
    Sockets(FakeDaemon& daemon, bool first)
        : zap(context, zmq::socket_type::rep)
        , control(context, zmq::socket_type::router)
        , stream(context, zmq::socket_type::router)
        , data(context, zmq::socket_type::pub)
    {
        zap.set(zmq::sockopt::linger, 0);
        if (daemon.m_options.keys)
            zap.bind("inproc://zeromq.zap.01");
        bind(control, daemon, daemon.m_control, first);
        bind(stream, daemon, daemon.m_stream, first);
        bind(data, daemon, daemon.m_data, first);
    }
    static void bind(zmq::socket_t& socket, FakeDaemon& daemon, int& port, bool first)
    {
        // Before bind: a lost link lingers as its listener was told to, and with libzmq's default
        // closing waits for ever when something was still to be sent there.
        socket.set(zmq::sockopt::linger, 0);
        if (daemon.m_options.keys) {
            socket.set(zmq::sockopt::curve_server, 1);
            socket.set(zmq::sockopt::curve_secretkey, daemon.m_options.keys->secretKey);
            socket.set(zmq::sockopt::zap_domain, std::string(zapDomain));
        }
        const std::string address = "tcp://127.0.0.1:" + (first ? "*" : std::to_string(port));
        for (int attempt = 0;; ++attempt) // a socket that was closed lets go of its port later
            try {
                socket.bind(address);
                break;
            } catch (const zmq::error_t& failure) {
                if (failure.num() != EADDRINUSE || attempt == mostAttempts)
                    throw;
                std::this_thread::sleep_for(pollTime);
            }
        if (first)
            port = portOf(socket);
    }
    void answerZap(bool accepts)
    {
        const auto request = receive(zap);
        if (!request)
            return;
        const std::array<std::string, 6> reply{"1.0", {}, accepts ? "200" : "400", "", "", ""};
        std::vector<std::span<const std::byte>> frames;
        for (const std::string& text : reply)
            frames.push_back(std::as_bytes(std::span(text)));
        frames[1] = (*request)[1];
        send(zap, frames);
    }

    zmq::context_t context;
    zmq::socket_t zap;
    zmq::socket_t control;
    zmq::socket_t stream;
    zmq::socket_t data;
};

FakeDaemon::FakeDaemon(std::vector<Packed> messages)
    : FakeDaemon(std::move(messages), Options{})
{}

FakeDaemon::FakeDaemon(std::vector<Packed> messages, Options options)
    : m_messages(std::move(messages))
    , m_options(std::move(options))
    , m_available(m_messages.size())
{
    Sockets ports(*this, true); // chooses them
}

FakeDaemon::~FakeDaemon() = default;

std::string FakeDaemon::address() const
{
    return "tcp://127.0.0.1:" + std::to_string(m_control);
}

void FakeDaemon::stop()
{
    m_thread = {};
}

void FakeDaemon::start(const std::string& epoch)
{
    stop();
    m_epoch = epoch;
    m_silent = false;
    m_thread = std::jthread([this](const std::stop_token& token) { run(token); });
}

void FakeDaemon::cut()
{
    start(m_epoch);
}

void FakeDaemon::lose(std::uint64_t from, std::uint64_t to)
{
    m_loseFrom = from;
    m_loseTo = to;
}

void FakeDaemon::forget(std::uint64_t from)
{
    m_forgetFrom = from;
}

void FakeDaemon::run(const std::stop_token& stop)
{
    m_streams.clear();
    Sockets sockets(*this, false);
    while (!stop.stop_requested()) {
        std::vector<zmq::pollitem_t> items{{sockets.control.handle(), 0, ZMQ_POLLIN, 0},
                                           {sockets.stream.handle(), 0, ZMQ_POLLIN, 0},
                                           {sockets.zap.handle(), 0, ZMQ_POLLIN, 0}};
        zmq::poll(items, pollTime);
        if (m_options.keys)
            sockets.answerZap(m_options.acceptsKeys);
        control(sockets);
        if (m_cutStream.exchange(false)) {
            sockets.stream.close();
            sockets.stream = zmq::socket_t(sockets.context, zmq::socket_type::router);
            Sockets::bind(sockets.stream, *this, m_stream, false);
            m_streams.clear();
        }
        if (m_silent)
            continue;
        stream(sockets);
        publish(sockets);
        for (auto& [number, open] : m_streams)
            serve(sockets, number, open);
    }
}

Message FakeDaemon::reply(const Message& request)
{
    if (request.type() == type::hello) {
        ++hellos;
        m_known = true;
        if (!m_options.refuses.empty())
            return refusal(m_options.refuses, {Errc::Io, "no room", {}, "Come later"});
        Welcome welcome;
        welcome.version = protocolVersion;
        welcome.program = "fake";
        welcome.epoch = m_epoch;
        welcome.stream = "tcp://0.0.0.0:" + std::to_string(m_stream);
        welcome.data = "tcp://0.0.0.0:" + std::to_string(m_data);
        welcome.session = "session";
        return {toFields(welcome), {}};
    }
    if (request.type() == type::goodbye)
        return {Fields{{"t", type::farewell}}, {}};
    if (!m_known)
        return refusal(reason::noHello, {Errc::Io, "who are you", {}, {}});
    if (request.type() == type::runState) {
        RunState state;
        state.run = "r1";
        state.state = state::running;
        state.messages = m_available;
        return {toFields(state), {}};
    }
    return answers ? answers(request) : refusal(reason::unsupported, {Errc::Invalid, "no", {}, {}});
}

void FakeDaemon::control(Sockets& sockets)
{
    while (const auto frames = receive(sockets.control)) {
        const Message request = messageOf(*frames);
        if (request.type() == type::goodbye)
            ++goodbyes;
        if (request.type() != type::hello && swallows > 0) {
            --swallows;
            continue;
        }
        Message answer = reply(request);
        answer.fields["id"] = request.fields["id"];
        const Packed packed = pack(answer);
        send(sockets.control, {(*frames)[0], packed.header.bytes});
    }
}

void FakeDaemon::open(Sockets& sockets, const std::vector<std::byte>& peer, const Message& message)
{
    const Fields& fields = message.fields;
    ++opens;
    const auto number = fields["stream"].get<std::int64_t>();
    if (!m_known || fields["session"] != "session") {
        Message no = refusal(reason::noHello, {Errc::Io, "who are you", {}, {}});
        no.fields["stream"] = number;
        return send(sockets.stream, {peer, pack(no).header.bytes});
    }
    if (fields["run"] != "r1") {
        Message no = refusal(reason::notFound, {Errc::NotFound, "no such run", {}, {}});
        no.fields["stream"] = number;
        return send(sockets.stream, {peer, pack(no).header.bytes});
    }
    const auto to = fields["to"].get<std::int64_t>();
    Stream stream{peer,
                  fields["from"],
                  to < 0 ? m_messages.size() : static_cast<std::uint64_t>(to),
                  fields["credit"],
                  false,
                  false};
    mostCredit = std::max(mostCredit.load(), stream.credit);
    const Packed opened = pack({Fields{{"t", type::opened},
                                       {"stream", number},
                                       {"run", "r1"},
                                       {"next", stream.next},
                                       {"epoch", m_epoch}},
                                {}});
    m_streams[number] = stream;
    send(sockets.stream, {peer, opened.header.bytes});
}

void FakeDaemon::stream(Sockets& sockets)
{
    while (const auto frames = receive(sockets.stream)) {
        const Message message = messageOf(*frames);
        if (message.type() == type::open) {
            open(sockets, frames->front(), message);
        } else if (message.type() == type::ping) {
            ++pings;
            send(sockets.stream,
                 {frames->front(), pack({Fields{{"t", type::pong}}, {}}).header.bytes});
        } else if (message.type() == type::credit) {
            Stream& stream = m_streams[message.fields["stream"].get<std::int64_t>()];
            stream.credit += message.fields["bytes"].get<std::uint64_t>();
            stream.starved = false;
            mostCredit = std::max(mostCredit.load(), stream.credit);
        } else if (message.type() == type::close) {
            m_streams.erase(message.fields["stream"].get<std::int64_t>());
        }
    }
}

void FakeDaemon::serve(Sockets& sockets, std::int64_t number, Stream& stream)
{
    if (stream.over || stream.peer.empty())
        return;
    const auto tell = [&](std::string_view kind, Fields fields) {
        fields["t"] = kind;
        fields["stream"] = number;
        send(sockets.stream, {stream.peer, pack({fields, {}}).header.bytes});
    };
    while (stream.next < std::min<std::uint64_t>(stream.to, m_available)) {
        if (stream.next >= m_forgetFrom || (m_endAt > 0 && stream.next >= m_endAt)) {
            m_endAt = 0;
            stream.over = true;
            return tell(type::end, {{"sentence", "the daemon ends"}});
        }
        const Packed& packed = m_messages[stream.next];
        if (packed.bytes() > stream.credit) {
            if (!stream.starved)
                tell(type::starved, {{"needs", packed.bytes()}});
            stream.starved = true;
            return;
        }
        stream.credit -= packed.bytes();
        const Packed envelope = pack({Fields{{"t", type::message},
                                             {"stream", number},
                                             {"seq", stream.next},
                                             {"bytes", packed.bytes()}},
                                      {}});
        std::vector<std::span<const std::byte>> frames{stream.peer, envelope.header.bytes,
                                                       packed.header.bytes};
        for (const Frame& frame : packed.frames)
            frames.push_back(frame.bytes);
        send(sockets.stream, frames);
        ++stream.next;
        ++sent;
    }
    if (stream.next >= stream.to) {
        stream.over = true;
        tell(type::end, {{"sentence", ""}});
    }
}

void FakeDaemon::publish(Sockets& sockets)
{
    constexpr std::string_view topic = "run/r1/";
    for (; m_published < m_available; ++m_published) {
        if (m_published >= m_loseFrom && m_published < m_loseTo)
            continue;
        const Packed& packed = m_messages[m_published];
        std::vector<std::span<const std::byte>> frames{std::as_bytes(std::span(topic)),
                                                       packed.header.bytes};
        for (const Frame& frame : packed.frames)
            frames.push_back(frame.bytes);
        send(sockets.data, frames);
    }
}

} // namespace moire::wire
