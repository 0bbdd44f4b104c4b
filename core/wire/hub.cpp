// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/hub.h"

#include "core/base/text.h"
#include "core/wire/protocol.h"
#include "core/wire/requests.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

/// Requests that the service answers.
constexpr std::array serviceTypes{type::models, type::taps,     type::estimate, type::run,
                                  type::runs,   type::runState, type::prompts,  type::feed,
                                  type::cancel, type::forget,   type::status};
/// Requests of one client that wait for their answers.
constexpr std::size_t mostPending = 64;
constexpr std::size_t longestName = 256;
/// Bytes of a peer's words in a line of the log.
constexpr std::size_t longestWord = 64;

std::string inLog(const std::string& word)
{
    return base::visibleText(word.substr(0, longestWord));
}

std::string nameInLog(const Origin& origin)
{
    return origin.key.empty() ? std::string("a peer")
                              : "the peer with key " + fingerprintOf(origin.key);
}

std::vector<Frame> framesOf(Packed packed)
{
    std::vector<Frame> frames{std::move(packed.header)};
    frames.insert(frames.end(), packed.frames.begin(), packed.frames.end());
    return frames;
}

} // namespace

Hub::Hub(Options options, Service& service, Outbox& outbox)
    : m_options(std::move(options))
    , m_service(service)
    , m_outbox(outbox)
    , m_lines(m_options.log)
    , m_mailbox(std::make_shared<Mailbox>(m_options.wake))
    , m_sessions(m_options.maxClients, m_options.wake)
{}

Hub::~Hub()
{
    m_mailbox->close();
    for (Stream& stream : m_streams)
        stream.stream->forgetPlace();
    for (const Kept& kept : m_kept)
        kept.log->release(kept.reader);
}

void Hub::refusedOutside(const std::string& line, Time now)
{
    ++m_refusals;
    m_lines.say(line, now);
}

void Hub::fault(Outbox::Socket socket, const Origin& origin, const Error& error, Time now)
{
    ++m_refusals;
    const unsigned count = m_sessions.fault(origin.peer);
    if (count > maxFaults)
        return;
    if (count == maxFaults)
        m_lines.say(nameInLog(origin)
                        + " breaks the protocol again and again; it is not answered "
                          "any more until it says hello",
                    now);
    else if (count == 1)
        m_lines.say(nameInLog(origin) + " breaks the protocol: " + error.sentence, now);
    if (socket == Outbox::Socket::Control) {
        Message message = refusal(reason::invalid, error);
        message.fields["id"] = -1;
        m_outbox.send(socket, origin.peer, framesOf(pack(message)), nullptr, 0);
    } else {
        m_outbox.send(socket, origin.peer, framesOf(pack(refusal(reason::invalid, error))), nullptr,
                      0);
    }
}

void Hub::reply(const std::string& peer, std::int64_t id, Message message,
                const std::shared_ptr<Flight>& flight, Time now)
{
    message.fields["id"] = id;
    Packed packed = pack(message);
    const std::size_t bytes = packed.bytes();
    if (m_outbox.send(Outbox::Socket::Control, peer, framesOf(std::move(packed)), flight, bytes)
        == Outbox::Sent::Full)
        m_lines.say("a client does not read its replies; one was dropped", now);
}

void Hub::refuse(const std::string& peer, std::int64_t id, std::string_view reason,
                 const Error& error, Time now)
{
    ++m_refusals;
    reply(peer, id, refusal(reason, error), nullptr, now);
}

void Hub::control(const Origin& origin, std::vector<Frame> frames, Time now)
{
    if (frames.empty())
        return;
    Packed packed{frames.front(), {frames.begin() + 1, frames.end()}};
    auto message = unpack(packed, daemonLimits);
    if (!message)
        return fault(Outbox::Socket::Control, origin, message.error(), now);
    const bool isHello = message->type() == type::hello;
    if (m_sessions.faults(origin.peer) >= maxFaults && !isHello)
        return;
    const auto id =
        integerField(message->fields, "id", 0, std::numeric_limits<std::int64_t>::max());
    if (!id)
        return fault(Outbox::Socket::Control, origin, id.error(), now);
    if (isHello)
        return hello(origin, *id, *message, now);
    Session* session = m_sessions.ofControl(origin);
    if (session == nullptr)
        return refuse(origin.peer, *id, reason::noHello,
                      {Errc::Io, "the daemon has not been greeted", {}, "Say hello first"}, now);
    session->heard = now;
    request(*session, *id, *std::move(message), now);
}

void Hub::hello(const Origin& origin, std::int64_t id, const Message& message, Time now)
{
    const auto versions =
        integersField(message.fields, "versions", std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max());
    const auto program = textField(message.fields, "program");
    const auto client = textField(message.fields, "client");
    if (!versions || !program || !client)
        return refuse(origin.peer, id, reason::invalid,
                      !versions  ? versions.error()
                      : !program ? program.error()
                                 : client.error(),
                      now);
    if (client->empty() || client->size() > longestName)
        return refuse(origin.peer, id, reason::invalid,
                      {Errc::Invalid, "a client's name has 1 to 256 bytes", {}, {}}, now);
    if (std::find(versions->begin(), versions->end(), protocolVersion) == versions->end()) {
        Message refused =
            refusal(reason::version, {Errc::Unsupported,
                                      "the daemon speaks version " + std::to_string(protocolVersion)
                                          + " of the protocol only",
                                      {},
                                      "Install the same version on both machines"});
        refused.fields["spoken"] = Fields::array({protocolVersion});
        ++m_refusals;
        return reply(origin.peer, id, std::move(refused), nullptr, now);
    }
    if (m_stopping)
        return refuse(origin.peer, id, reason::stopping,
                      {Errc::Cancelled, "the daemon is about to end", {}, "Try again later"}, now);
    const auto isBusy = [this](const Session& session) {
        return std::any_of(m_streams.begin(), m_streams.end(),
                           [&](const Stream& stream) { return stream.token == session.token; });
    };
    Session* session = m_sessions.greet(origin, *client, now, isBusy,
                                        [this](const Session& ended) { endSession(ended); });
    if (session == nullptr)
        return refuse(origin.peer, id, reason::busy,
                      {Errc::Io,
                       "the daemon has " + std::to_string(m_options.maxClients)
                           + " clients, and takes no more",
                       {},
                       "Try again when one has gone"},
                      now);
    m_sessions.forgive(origin.peer);
    m_lines.say(nameInLog(origin) + " says hello: " + inLog(*program), now);
    Welcome welcome{
        protocolVersion, m_options.program, m_options.epoch,      m_options.stream, m_options.data,
        session->token,  m_options.secure,  m_options.maxStreams, maxFrameBytes,    {}};
    for (const std::string_view known : serviceTypes)
        welcome.features.emplace_back(known);
    Message answer{toFields(welcome), {}};
    answer.fields["t"] = type::welcome;
    reply(origin.peer, id, std::move(answer), session->replies, now);
}

void Hub::request(Session& session, std::int64_t id, Message message, Time now)
{
    const std::string_view kind = message.type();
    const std::string peer = session.control;
    if (kind == type::goodbye) {
        const std::string token = session.token;
        endSession(session);
        m_sessions.remove(token);
        return reply(peer, id, {Fields{{"t", type::farewell}}, {}}, nullptr, now);
    }
    if (std::find(serviceTypes.begin(), serviceTypes.end(), kind) == serviceTypes.end())
        return refuse(peer, id, reason::unsupported,
                      {Errc::Unsupported,
                       "requests \"" + inLog(std::string(kind)) + "\" are not known here",
                       {},
                       {}},
                      now);
    if (session.pending >= mostPending || session.replies->bytes() > streamWindowBytes)
        return refuse(peer, id, reason::busy,
                      {Errc::Io,
                       "too many requests wait for their answers, or answers to be read",
                       {},
                       "Ask again when they have come"},
                      now);
    ++session.pending;
    const auto answer = m_mailbox->answer(session.token, id);
    try {
        m_service.handle(std::move(message), answer);
    } catch (const std::exception& failure) {
        m_lines.say(std::string("a request failed: ") + failure.what(), now);
        answer(refusal(reason::internal,
                       {Errc::Internal, "the daemon failed at this request", {}, "See its log"}));
    }
}

void Hub::sendAnswers(Time now)
{
    for (Answered& answered : m_mailbox->take()) {
        Session* session = m_sessions.ofToken(answered.session);
        if (session == nullptr)
            continue;
        --session->pending;
        Fields& fields = answered.reply.fields;
        if (answered.reply.type() == type::status) {
            fields["program"] = m_options.program;
            fields["epoch"] = m_options.epoch;
            fields["clients"] = clients();
            fields["streams"] = streams();
            fields["refusals"] = refusals();
        } else if (answered.reply.type() == type::refused) {
            ++m_refusals;
        }
        reply(session->control, answered.id, std::move(answered.reply), session->replies, now);
    }
}

void Hub::endSession(const Session& session)
{
    for (auto stream = m_streams.begin(); stream != m_streams.end();)
        if (stream->token == session.token) {
            stream->stream->forgetPlace();
            m_orphans.push_back(stream->stream->flight());
            stream = m_streams.erase(stream);
        } else {
            ++stream;
        }
    std::erase_if(m_kept, [&](const Kept& kept) {
        const bool its = kept.client == session.client && kept.key == session.key;
        if (its)
            kept.log->release(kept.reader);
        return its;
    });
}

void Hub::keepKeys(const std::set<std::string>& keys, Time now)
{
    for (const Session* session : m_sessions.all()) {
        if (keys.contains(session->key))
            continue;
        const std::string token = session->token;
        m_lines.say("the key " + fingerprintOf(session->key)
                        + " is not authorised any more; its client is cut off",
                    now);
        ++m_refusals;
        for (const Stream& stream : m_streams)
            if (stream.token == token)
                notice(stream.peer,
                       {{"t", type::refused},
                        {"stream", stream.stream->number()},
                        {"reason", reason::notAuthorised},
                        {"sentence", "the key is not authorised any more"},
                        {"hint", ""}},
                       now);
        endSession(*session);
        m_sessions.remove(token);
    }
}

Hub::Time Hub::nextTime(Time now) const
{
    constexpr std::chrono::milliseconds retry{10};
    constexpr std::chrono::milliseconds look{500};
    return now + (m_stuck ? retry : look);
}

void Hub::stop(Time now)
{
    m_stopping = true;
    sendAnswers(now);
    for (Stream& stream : m_streams) {
        stream.stream->finish({}, "the daemon ends");
        step(stream, now);
        if (!stream.stream->over())
            step(stream, now);
    }
}

} // namespace moire::wire
