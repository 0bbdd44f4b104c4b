// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/client_loop.h"

#include "core/wire/client_loop_context.h"
#include "core/wire/mechanism_probe.h"
#include "core/wire/protocol.h"
#include "core/wire/random_text.h"

#include <zmq.hpp>

#include <algorithm>
#include <utility>

namespace moire::wire {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds helloTime{10};
/// A stranger's first bytes may look like an older ZMTP's, whose handshake never tells its end.
constexpr seconds handshakeTime{6};
constexpr milliseconds longestWait{1000};
/// A link that is cut in the middle of a handshake now and then is no refusal.
constexpr unsigned mostCutShort = 3;

Error handshakeTrouble(HandshakeFailure::Kind kind, const std::string& address, bool secure)
{
    using Kind = HandshakeFailure::Kind;
    switch (kind) {
    case Kind::NotAuthorised:
        return {Errc::Io, "the daemon does not accept this key", address,
                "Its owner can put your .pub file into the daemon's folder clients/"};
    case Kind::Cryptographic:
        return {Errc::Io, "the daemon's key is not the one that was given", address,
                "Compare the fingerprint with the one that the daemon prints when it starts"};
    case Kind::OtherSecurity:
        return secure ? Error{Errc::Io, "the daemon speaks without keys, and keys were given",
                              address, "Start it with --keys, or leave the keys out"}
                      : Error{Errc::Io, "the daemon wants a key", address,
                              "Give yours with --key and the daemon's with --server-key"};
    case Kind::Strange:
        return {Errc::Io, "what answers there is no Moire daemon", address,
                "Check the address; a daemon's port is 7431 unless it was told another"};
    case Kind::CutShort:
        break;
    }
    return secure ? Error{Errc::Io,
                          "the daemon hangs up on the encrypted greeting; its key is probably not "
                          "the one that was given",
                          address,
                          "Compare the fingerprint with the one that the daemon prints when it "
                          "starts"}
                  : Error{Errc::Io, "what answers there hangs up", address,
                          "Check the address; behind a tunnel, that the daemon runs"};
}

} // namespace

void Backoff::failed(Time now)
{
    m_at = now + m_wait;
    m_wait = std::min(most, m_wait * 2);
}

void Backoff::slowDown(Time now)
{
    m_wait = most;
    m_at = now + m_wait;
}

ClientLoop::ClientLoop(const ConnectionOptions& options, Address address, Changed changed)
    : m_options(options)
    , m_address(std::move(address))
    , m_changed(std::move(changed))
    , m_context(std::make_unique<Context>())
    , m_wake(std::make_shared<Wake>())
    , m_session(options.program, randomText())
{}

ClientLoop::~ClientLoop() = default;

LinkState ClientLoop::link() const
{
    const std::lock_guard lock(m_mutex);
    return m_state;
}

Error ClientLoop::trouble() const
{
    const std::lock_guard lock(m_mutex);
    return m_trouble;
}

std::optional<Welcome> ClientLoop::welcome() const
{
    const std::lock_guard lock(m_mutex);
    return m_session.welcome();
}

std::int64_t ClientLoop::ask(Message request, ControlSession::AfterLoss afterLoss,
                             ControlSession::Done done)
{
    const std::lock_guard lock(m_mutex);
    return m_session.ask(std::move(request), afterLoss, std::move(done));
}

void ClientLoop::forget(std::int64_t id)
{
    const std::lock_guard lock(m_mutex);
    m_session.forget(id);
}

void ClientLoop::setState(LinkState state, Error trouble)
{
    {
        const std::lock_guard lock(m_mutex);
        m_state = state;
        m_trouble = std::move(trouble);
    }
    m_changed();
}

std::unique_ptr<ClientSocket> ClientLoop::connect(ClientSocket::Kind kind, const Address& address)
{
    auto socket = ClientSocket::connect(m_context->context, kind, address.text(), m_options.own,
                                        m_options.serverKey);
    if (socket)
        return *std::move(socket);
    setState(LinkState::Refused, socket.error());
    return nullptr;
}

void ClientLoop::step()
{
    const Time now = std::chrono::steady_clock::now();
    openControl(now);
    controlEvents(now);
    receiveControl(now);
    openStream(now);
    streamEvents(now);
    receiveStream(now);
    openData();
    receiveData(now);
    stateQueries(now);
    sendStream(now);
    sendControl(now);
    dropFinished();
    wait(nextTime(now));
}

void ClientLoop::openControl(Time now)
{
    if (m_control.socket || !m_control.backoff.due(now))
        return;
    m_control.socket = connect(ClientSocket::Kind::Control, m_address);
    m_control.answered = false;
    m_control.ready = false;
    m_control.deadline = now + readyTime;
    if (!m_control.socket)
        m_control.backoff.slowDown(now);
}

void ClientLoop::controlEvents(Time now)
{
    while (m_control.socket) {
        const auto event = m_control.socket->nextEvent();
        if (!event)
            break;
        if (*event == LinkEvent::Ready) {
            m_control.ready = true;
            m_cutShort = 0;
            m_helloBy = now + helloTime;
            const std::lock_guard lock(m_mutex);
            m_session.linkReady();
        } else if (*event == LinkEvent::Answered) {
            m_control.answered = true;
            m_control.deadline = now + handshakeTime;
        } else if (*event == LinkEvent::NoHandshake) {
            noHandshake(m_control.socket->whyNoHandshake().kind, now);
        } else {
            receiveControl(now); // what came before the end
            const bool was = m_control.ready;
            dropControl(now, {Errc::Io, was ? "the link was lost" : "nobody answers there",
                              m_address.text(), "Check that the daemon runs; it is tried again"});
        }
    }
    if (!m_control.socket)
        return;
    bool welcomed = false;
    {
        const std::lock_guard lock(m_mutex);
        welcomed = m_session.welcomed();
    }
    if (!m_control.ready && m_control.answered && !m_everWelcomed && now >= m_control.deadline)
        noHandshake(HandshakeFailure::Kind::Strange, now);
    else if (!m_control.ready && now >= m_control.deadline)
        dropControl(now, {Errc::Io, "nobody answers there", m_address.text(),
                          "Check the address and that the daemon runs"});
    else if (m_control.ready && !welcomed && now >= m_helloBy)
        dropControl(now, {Errc::Io, "the daemon does not answer", m_address.text(),
                          "What listens there may be no Moire daemon"});
}

void ClientLoop::noHandshake(HandshakeFailure::Kind kind, Time now)
{
    const bool secure = m_options.own.has_value();
    const bool cut = kind == HandshakeFailure::Kind::CutShort;
    m_cutShort = cut ? m_cutShort + 1 : 0;
    const bool again = cut && (m_everWelcomed || m_cutShort < mostCutShort);
    if (cut && !again && mechanismAt(m_address) == (secure ? "NULL" : "CURVE"))
        kind = HandshakeFailure::Kind::OtherSecurity;
    const Error why = handshakeTrouble(kind, m_address.text(), secure);
    dropControl(now, why);
    if (again)
        return;
    m_control.backoff.slowDown(now);
    setState(LinkState::Refused, why);
}

void ClientLoop::dropControl(Time now, Error why)
{
    m_control.socket.reset();
    m_control.ready = false;
    m_control.backoff.failed(now);
    {
        const std::lock_guard lock(m_mutex);
        m_session.linkLost();
    }
    setState(m_everWelcomed ? LinkState::Lost : LinkState::Connecting, std::move(why));
}

void ClientLoop::receiveControl(Time now)
{
    for (int i = 0; m_control.socket && i < fewMessages; ++i) {
        auto frames = m_control.socket->receive();
        if (!frames)
            return;
        Packed packed{frames->front(), {frames->begin() + 1, frames->end()}};
        const auto message = unpack(packed, clientLimits);
        if (!message)
            continue; // an answer that cannot be read is none
        auto heard = ControlSession::Heard::Nothing;
        Error refusal;
        {
            const std::lock_guard lock(m_mutex);
            heard = m_session.received(*message);
            refusal = m_session.refusal();
        }
        if (heard == ControlSession::Heard::Welcome)
            welcomed(now);
        if (heard == ControlSession::Heard::Refused) {
            dropControl(now, refusal);
            m_control.backoff.slowDown(now);
            setState(LinkState::Refused, refusal);
        }
        m_changed();
    }
}

void ClientLoop::welcomed(Time now)
{
    Welcome welcome;
    {
        const std::lock_guard lock(m_mutex);
        welcome = *m_session.welcome();
    }
    const auto stream = besideControl(m_address, welcome.stream);
    const auto data = besideControl(m_address, welcome.data);
    if (!stream || !data) {
        const Error why = stream ? data.error() : stream.error();
        dropControl(now, why);
        m_control.backoff.slowDown(now);
        setState(LinkState::Refused, why);
        return;
    }
    const bool same = m_sessionToken == welcome.session && m_epoch == welcome.epoch
                      && m_streamEndpoint == stream->text();
    if (!same && m_stream.socket)
        dropStream(now);
    if (m_dataEndpoint != data->text())
        m_data.reset();
    m_sessionToken = welcome.session;
    m_epoch = welcome.epoch;
    m_streamEndpoint = stream->text();
    m_dataEndpoint = data->text();
    m_everWelcomed = true;
    m_control.backoff.succeeded();
    m_stream.backoff = {};
    setState(LinkState::Connected, {Errc::Io, {}, {}, {}});
}

void ClientLoop::sendControl(Time now)
{
    if (!m_control.socket || !m_control.ready)
        return;
    while (true) {
        std::optional<Message> message;
        {
            const std::lock_guard lock(m_mutex);
            message = m_session.nextToSend();
        }
        if (!message)
            return;
        if (message->type() == type::hello)
            m_helloBy = now + helloTime;
        if (!m_control.socket->send(pack(*message)))
            return dropControl(now, {Errc::Io, "the link was lost", m_address.text(), {}});
    }
}

void ClientLoop::wait(Time until)
{
    std::vector<zmq::pollitem_t> items{{nullptr, m_wake->handle(), ZMQ_POLLIN, 0}};
    for (ClientSocket* socket : {m_control.socket.get(), m_stream.socket.get(), m_data.get()})
        if (socket != nullptr) {
            items.push_back({socket->handle(), 0, ZMQ_POLLIN, 0});
            items.push_back({socket->monitorHandle(), 0, ZMQ_POLLIN, 0});
        }
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    const auto timeout = std::clamp(left, milliseconds(0), longestWait);
    // Interrupted or not: the next round looks at everything.
    zmq_poll(items.data(), static_cast<int>(items.size()), timeout.count());
    m_wake->drain();
}

void ClientLoop::close()
{
    const Error closed{Errc::Cancelled, "the connection was closed", {}, {}};
    if (m_control.socket && m_control.ready)
        m_control.socket->send(pack({Fields{{"t", type::goodbye}, {"id", 0}}, {}}));
    {
        const std::lock_guard lock(m_mutex);
        m_session.close(closed);
    }
    for (const auto& stream : streams())
        stream->with([&](StreamIntake& intake) { intake.fail(closed); });
    m_control.socket.reset();
    m_stream.socket.reset();
    m_data.reset();
    m_changed();
}

} // namespace moire::wire
