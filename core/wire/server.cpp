// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/server.h"

#include "core/wire/hub.h"
#include "core/wire/key_ring.h"
#include "core/wire/protocol.h"
#include "core/wire/random_text.h"
#include "core/wire/run_broadcast.h"
#include "core/wire/server_sockets.h"
#include "core/wire/wake.h"

#include <exception>
#include <thread>
#include <utility>

namespace moire::wire {

namespace {

using Time = Hub::Time;

/// Messages taken from a socket before others are looked at.
constexpr int fewMessages = 64;
constexpr std::chrono::seconds readKeysEvery{1};
constexpr const char* zapEndpoint = "inproc://zeromq.zap.01";

Error cannotBind(const std::string& endpoint, const zmq::error_t& failure)
{
    const bool senseless = failure.num() == EINVAL || failure.num() == EPROTONOSUPPORT;
    return {senseless ? Errc::Invalid : Errc::Io, std::string("cannot listen: ") + failure.what(),
            endpoint,
            failure.num() == EADDRINUSE ? "Another daemon may run there; choose another port"
                                        : "Check the address"};
}

/// The ZAP socket: its context's sockets ask it whether a key may connect.
class ZapSocket
{
public:
    ZapSocket(zmq::context_t& context, KeyRing& keys)
        : m_socket(context, zmq::socket_type::router)
        , m_desk(keys)
    {
        m_socket.set(zmq::sockopt::linger, 0);
        m_socket.bind(zapEndpoint);
    }
    void* handle() { return m_socket.handle(); }

    template <class Refused>
    void serve(Time now, KeyRing& keys, Refused&& refused)
    {
        for (auto asked = receiveFrom(handle()); asked; asked = receiveFrom(handle())) {
            keys.read();
            ZapDesk::Frames request;
            // The first frame is the empty one that stands before a request.
            for (std::size_t i = 1; i < asked->frames.size(); ++i)
                request.emplace_back(reinterpret_cast<const char*>(asked->frames[i].bytes.data()),
                                     asked->frames[i].size());
            if (const std::string line = m_desk.ask(asked->peer, request, now); !line.empty())
                refused(line);
        }
        for (const ZapDesk::Frames& answer : m_desk.due(now)) {
            std::vector<Frame> frames;
            for (std::size_t i = 1; i < answer.size(); ++i) {
                const auto bytes = std::as_bytes(std::span(answer[i]));
                frames.push_back(Frame::of({bytes.begin(), bytes.end()}));
            }
            sendOn(handle(), answer.front(), frames, nullptr, 0);
        }
    }

private:
    zmq::socket_t m_socket;
    ZapDesk m_desk;
};

} // namespace

class Server::State : public Outbox
{
public:
    State(const ServerOptions& options, Service& service)
        : m_options(options)
        , m_service(service)
        , m_wake(std::make_shared<Wake>())
    {}
    ~State() override;

    /// Throws zmq::error_t.
    void bind(const ServerEndpoints& endpoints, const std::optional<KeyPair>& keys);
    void start()
    {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    std::string address() const { return m_control->endpoint(); }
    void wake() { m_wake->notify(); }
    void publish(std::shared_ptr<RunLog> log)
    {
        m_broadcast.add(std::move(log));
        m_wake->notify();
    }
    Sent send(Socket socket, const std::string& peer, const std::vector<Frame>& frames,
              const std::shared_ptr<Flight>& flight, std::size_t bytes) override
    {
        ServerSocket& to = socket == Socket::Control ? *m_control : *m_stream;
        return sendOn(to.handle(), peer, frames, flight, bytes);
    }
    void say(const std::string& line) const
    {
        if (m_options.log)
            m_options.log(line);
    }

private:
    void run(const std::stop_token& stop);
    bool round(Time now);
    void receive(ServerSocket& socket, Outbox::Socket which, Time now);
    void refuseKey(Outbox::Socket which, const Received& received, Time now);
    void lookAtKeys(Time now);
    bool serveData();
    void wait(std::chrono::milliseconds timeout);

    ServerOptions m_options;
    Service& m_service;
    std::shared_ptr<Wake> m_wake;
    zmq::context_t m_context{2};
    std::optional<KeyPair> m_keys;
    std::unique_ptr<KeyRing> m_ring;
    std::unique_ptr<ZapSocket> m_zap;
    std::unique_ptr<ServerSocket> m_control;
    std::unique_ptr<ServerSocket> m_stream;
    std::unique_ptr<ServerSocket> m_data; ///< null while it is made anew
    std::string m_dataEndpoint;
    std::unique_ptr<Hub> m_hub;
    RunBroadcast m_broadcast;
    Time m_keysRead{};
    std::jthread m_thread;
};

Server::State::~State()
{
    if (m_thread.joinable()) {
        m_thread.request_stop();
        m_wake->notify();
        m_thread.join();
    }
    m_hub.reset();
}

void Server::State::bind(const ServerEndpoints& endpoints, const std::optional<KeyPair>& keys)
{
    m_keys = keys;
    if (keys) {
        m_ring = std::make_unique<KeyRing>(*m_options.keys / "clients",
                                           [this](const std::string& line) { say(line); });
        m_zap = std::make_unique<ZapSocket>(m_context, *m_ring);
    }
    using Kind = ServerSocket::Kind;
    m_control = std::make_unique<ServerSocket>(m_context, Kind::Control, endpoints.control, keys);
    m_stream = std::make_unique<ServerSocket>(m_context, Kind::Stream, endpoints.stream, keys);
    m_data = std::make_unique<ServerSocket>(m_context, Kind::Data, endpoints.data, keys);
    m_dataEndpoint = m_data->endpoint();
    m_hub = std::make_unique<Hub>(
        Hub::Options{m_options.program, randomText(), m_stream->endpoint(), m_dataEndpoint,
                     keys.has_value(), m_options.maxClients, m_options.maxStreams, m_options.log,
                     [wake = m_wake] { wake->notify(); }},
        m_service, *this);
}

void Server::State::run(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        const Time now = Hub::Time::clock::now();
        bool more = false;
        try {
            more = round(now);
        } catch (const std::exception& failure) {
            say(std::string("the server failed at something: ") + failure.what());
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_hub->nextTime(now) - now);
        // For ZAP's late answers, and for what no poll tells: who sends without an end.
        constexpr std::chrono::milliseconds soon{50};
        wait(more ? std::chrono::milliseconds(0) : std::min(left, soon));
    }
    m_hub->stop(Hub::Time::clock::now());
}

bool Server::State::round(Time now)
{
    if (m_zap) {
        lookAtKeys(now);
        m_zap->serve(now, *m_ring,
                     [&](const std::string& line) { m_hub->refusedOutside(line, now); });
    }
    receive(*m_control, Socket::Control, now);
    receive(*m_stream, Socket::Stream, now);
    for (ServerSocket* socket : {m_control.get(), m_stream.get(), m_data.get()})
        if (socket != nullptr)
            for (const std::string& line : socket->look(now))
                m_hub->refusedOutside(line, now);
    const bool published = serveData();
    return m_hub->pump(now) || published;
}

void Server::State::receive(ServerSocket& socket, Outbox::Socket which, Time now)
{
    for (int i = 0; i < fewMessages; ++i) {
        auto received = socket.receive(now);
        if (!received)
            return;
        if (m_ring && !m_ring->keys().contains(received->key)) {
            refuseKey(which, *received, now);
            continue;
        }
        const Origin origin{received->peer, received->key};
        if (which == Socket::Control)
            m_hub->control(origin, std::move(received->frames), now);
        else
            m_hub->stream(origin, std::move(received->frames), now);
    }
    m_wake->notify(); // there may be more
}

/// Of a key that was authorised when its link was made.
void Server::State::refuseKey(Outbox::Socket which, const Received& received, Time now)
{
    m_hub->refusedOutside("a message of a key that is not authorised any more was refused", now);
    Message refused =
        refusal(reason::notAuthorised, {Errc::Io, "the key is not authorised any more", {}, {}});
    if (which == Socket::Control) {
        std::int64_t id = -1;
        if (!received.frames.empty())
            if (const auto message = unpack({received.frames.front(), {}}, daemonLimits))
                if (const auto said = integerField(message->fields, "id", 0, INT64_MAX))
                    id = *said;
        refused.fields["id"] = id;
    }
    send(which, received.peer, {pack(refused).header}, nullptr, 0);
}

void Server::State::lookAtKeys(Time now)
{
    if (now - m_keysRead >= readKeysEvery) {
        m_keysRead = now;
        m_ring->read();
    }
    if (!m_ring->lostOne())
        return;
    m_hub->keepKeys(m_ring->keys(), now);
    // Who subscribes is not asked again while its link lives: all have to come anew.
    m_data.reset();
    m_broadcast.forget();
}

bool Server::State::serveData()
{
    if (!m_data) {
        try {
            m_data = std::make_unique<ServerSocket>(m_context, ServerSocket::Kind::Data,
                                                    m_dataEndpoint, m_keys);
        } catch (const zmq::error_t&) {
            return false; // the old one is not quite closed yet
        }
    }
    m_broadcast.hear(m_data->handle());
    return m_broadcast.pump(m_data->handle());
}

void Server::State::wait(std::chrono::milliseconds timeout)
{
    std::vector<zmq_pollitem_t> items{{nullptr, m_wake->handle(), ZMQ_POLLIN, 0}};
    for (ServerSocket* socket : {m_control.get(), m_stream.get(), m_data.get()})
        if (socket != nullptr) {
            items.push_back({socket->handle(), 0, ZMQ_POLLIN, 0});
            items.push_back({socket->monitorHandle(), 0, ZMQ_POLLIN, 0});
        }
    if (m_zap)
        items.push_back({m_zap->handle(), 0, ZMQ_POLLIN, 0});
    // Interrupted or not: the next round looks at everything.
    zmq_poll(items.data(), static_cast<int>(items.size()), timeout.count());
    m_wake->drain();
}

Server::Server(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Service& service)
{
    const auto address = readAddress(options.bind);
    if (!address)
        return address.error();
    std::optional<KeyPair> keys;
    if (options.keys) {
        auto pair = readKeyPair(*options.keys / "server.key");
        if (!pair)
            return Error{Errc::Invalid, pair.error().sentence, pair.error().place,
                         "moire-capture keygen makes the daemon's key: server.key in its folder"};
        keys = *std::move(pair);
    }
    if (!address->isLocal() && !keys && !options.insecure)
        return Error{Errc::Invalid,
                     "this address can be reached from other machines, and nobody would be asked "
                     "for a key",
                     options.bind,
                     "Give a folder of keys with --keys, or bind to 127.0.0.1 and use an SSH "
                     "tunnel; --insecure does it all the same"};
    try {
        auto state = std::make_unique<State>(options, service);
        if (!address->isLocal() && !keys)
            state->say("warning: everybody who reaches " + options.bind
                       + " can run models here and read what they compute");
        state->bind(endpointsOf(*address), keys);
        state->start();
        return std::unique_ptr<Server>(new Server(std::move(state)));
    } catch (const zmq::error_t& failure) {
        return cannotBind(options.bind, failure);
    } catch (const std::exception& failure) {
        return Error{Errc::Internal, failure.what(), options.bind, {}};
    }
}

std::string Server::address() const
{
    return m_state->address();
}

void Server::wake()
{
    m_state->wake();
}

void Server::publish(std::shared_ptr<RunLog> log)
{
    m_state->publish(std::move(log));
}

} // namespace moire::wire
