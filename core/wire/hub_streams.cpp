// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/hub.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

/// A lossless reader that lost its link has so long to come back.
constexpr std::chrono::seconds lostPlaceTime{60};
/// One that was sent everything, to say that it did not get it.
constexpr std::chrono::seconds endedPlaceTime{10};
/// Messages sent before peers are listened to again.
constexpr int messagesInARound = 64;

std::optional<std::int64_t> numberOf(const Fields& fields)
{
    const auto number = integerField(fields, "stream", 0, std::numeric_limits<std::int64_t>::max());
    return number ? std::optional(*number) : std::nullopt;
}

Error notGreeted()
{
    return {Errc::Io, "the session is not known here", {}, "Say hello on the control socket"};
}

} // namespace

bool Hub::notice(const std::string& peer, const Fields& fields, Time now)
{
    const auto sent =
        m_outbox.send(Outbox::Socket::Stream, peer, {Frame::of(encodeFields(fields))}, nullptr, 0);
    if (sent == Outbox::Sent::Full)
        m_lines.say("a client does not read its stream; a notice was dropped", now);
    return sent == Outbox::Sent::Yes;
}

void Hub::refuseStream(const std::string& peer, const Fields& fields, std::string_view reason,
                       const Error& error, Time now)
{
    ++m_refusals;
    Message refused = refusal(reason, error);
    if (const auto number = numberOf(fields))
        refused.fields["stream"] = *number;
    notice(peer, refused.fields, now);
}

void Hub::stream(const Origin& origin, std::vector<Frame> frames, Time now)
{
    if (m_sessions.faults(origin.peer) >= maxFaults) {
        ++m_refusals;
        return;
    }
    auto message = frames.size() == 1
                       ? unpack({frames.front(), {}}, daemonLimits)
                       : Result<Message>(Error{
                           Errc::Damaged, "a message to the stream socket is one header", {}, {}});
    if (!message)
        return fault(Outbox::Socket::Stream, origin, message.error(), now);
    if (Session* session = m_sessions.ofStream(origin)) {
        session->heard = now;
        session->streamHeard = now;
    }
    const std::string_view kind = message->type();
    if (kind == type::open)
        return open(origin, message->fields, now);
    if (kind == type::credit)
        return credit(origin, message->fields, now);
    if (kind == type::close)
        return close(origin, message->fields);
    if (kind == type::ping)
        return pong(origin, message->fields, now);
    fault(Outbox::Socket::Stream, origin,
          {Errc::Unsupported, "the stream socket takes open, credit, close and ping", {}, {}}, now);
}

std::vector<Hub::Stream>::iterator Hub::find(const Origin& origin, const Fields& fields)
{
    const auto number = numberOf(fields);
    return std::find_if(m_streams.begin(), m_streams.end(), [&](const Stream& stream) {
        return stream.peer == origin.peer && number == stream.stream->number();
    });
}

std::size_t Hub::streamsTaken()
{
    std::erase_if(m_orphans, [](const auto& flight) { return flight->messages() == 0; });
    return m_streams.size() + m_orphans.size();
}

void Hub::open(const Origin& origin, const Fields& fields, Time now)
{
    const auto token = textField(fields, "session");
    const auto run = textField(fields, "run");
    auto opening = OutgoingStream::read(fields);
    for (const Error* error : {token ? nullptr : &token.error(), run ? nullptr : &run.error(),
                               opening ? nullptr : &opening.error()})
        if (error != nullptr)
            return refuseStream(origin.peer, fields, reason::invalid, *error, now);
    Session* session = m_sessions.ofToken(*token);
    if (session == nullptr || session->key != origin.key)
        return refuseStream(origin.peer, fields, reason::noHello, notGreeted(), now);
    if (session->stream != origin.peer) {
        linkLost(session->stream, now, "its client came back on another link");
        linkLost(origin.peer, now, "its link belongs to another client now");
        m_sessions.attachStream(*session, origin.peer);
    }
    session->heard = session->streamHeard = now;
    if (const auto former = find(origin, fields); former != m_streams.end())
        drop(former);
    const auto log = m_service.log(*run);
    if (!log)
        return refuseStream(origin.peer, fields, reason::notFound,
                            {Errc::NotFound, "there is no such run", {}, "Ask for runs"}, now);
    if (streamsTaken() >= m_options.maxStreams)
        return refuseStream(origin.peer, fields, reason::busy,
                            {Errc::Io,
                             "the daemon has " + std::to_string(m_options.maxStreams)
                                 + " streams open, or what was sent on them is still on its way",
                             {},
                             "Try again when one has ended"},
                            now);
    auto made =
        std::make_unique<OutgoingStream>(*std::move(opening), log, ++m_readers,
                                         std::make_shared<Flight>(m_options.wake), m_options.epoch);
    if (made->lossless())
        takeOver(*session, log);
    m_streams.push_back({session->token, origin.peer, std::move(made), false});
}

/// A reader that comes back needs its old place no more: the new one is known to the log.
void Hub::takeOver(const Session& session, const std::shared_ptr<RunLog>& log)
{
    const auto kept = std::find_if(m_kept.begin(), m_kept.end(), [&](const Kept& entry) {
        return entry.client == session.client && entry.key == session.key && entry.log == log;
    });
    if (kept == m_kept.end())
        return;
    log->release(kept->reader);
    m_kept.erase(kept);
}

void Hub::credit(const Origin& origin, const Fields& fields, Time now)
{
    const auto bytes = integerField(fields, "bytes", 0, static_cast<std::int64_t>(maxCredit));
    const auto stream = find(origin, fields);
    if (stream == m_streams.end())
        return; // of a stream that has ended meanwhile
    std::optional<std::uint64_t> received;
    bool sound = static_cast<bool>(bytes);
    if (fields.contains("next")) {
        const auto next = integerField(fields, "next", 0, std::numeric_limits<std::int64_t>::max());
        sound = sound && next;
        if (next)
            received = static_cast<std::uint64_t>(*next);
    }
    if (sound && stream->stream->grant(static_cast<std::uint64_t>(*bytes), received))
        return;
    ++m_refusals;
    m_lines.say("a client grants senseless credit; its stream is closed", now);
    stream->stream->finish(reason::invalid, "credit is 0 to 2^62 bytes, in all");
}

void Hub::close(const Origin& origin, const Fields& fields)
{
    if (const auto stream = find(origin, fields); stream != m_streams.end())
        drop(stream);
}

void Hub::pong(const Origin& origin, const Fields& fields, Time now)
{
    const auto token = textField(fields, "session");
    Session* session = token ? m_sessions.ofToken(*token) : nullptr;
    if (session == nullptr || session->key != origin.key)
        return refuseStream(origin.peer, fields, reason::noHello, notGreeted(), now);
    session->heard = now;
    notice(origin.peer, {{"t", type::pong}}, now);
}

void Hub::drop(std::vector<Stream>::iterator stream)
{
    stream->stream->forgetPlace();
    m_orphans.push_back(stream->stream->flight());
    m_streams.erase(stream);
}

void Hub::keep(const Stream& stream, Time until)
{
    Session* session = m_sessions.ofToken(stream.token);
    if (!stream.stream->lossless() || session == nullptr) {
        stream.stream->forgetPlace();
        return;
    }
    if (m_kept.size() >= m_options.maxStreams) {
        m_kept.front().log->release(m_kept.front().reader);
        m_kept.erase(m_kept.begin());
    }
    stream.stream->keepPlace();
    m_kept.push_back(
        {session->client, session->key, stream.stream->log(), stream.stream->reader(), until});
}

void Hub::linkLost(const std::string& peer, Time now, const std::string& why)
{
    if (peer.empty())
        return;
    std::size_t lost = 0;
    for (const Stream& stream : m_streams)
        if (stream.peer == peer) {
            keep(stream, now + lostPlaceTime);
            m_orphans.push_back(stream.stream->flight());
            ++lost;
        }
    std::erase_if(m_streams, [&](const Stream& stream) { return stream.peer == peer; });
    if (lost > 0)
        m_lines.say(std::to_string(lost) + " streams lost their link: " + why, now);
}

/// Sends what is due on a stream, one message; true when something went.
bool Hub::step(Stream& stream, Time now)
{
    const auto* out = stream.stuck ? nullptr : stream.stream->due();
    if (out == nullptr)
        return false;
    const auto sent =
        m_outbox.send(Outbox::Socket::Stream, stream.peer, out->frames, out->flight, out->bytes);
    if (sent == Outbox::Sent::Yes) {
        stream.stream->sent();
        return true;
    }
    stream.stuck = true;
    m_stuck = true;
    if (sent == Outbox::Sent::Gone)
        if (Session* session = m_sessions.ofToken(stream.token))
            session->streamHeard = now - std::chrono::seconds(silenceSeconds);
    return false;
}

bool Hub::pump(Time now)
{
    sendAnswers(now);
    m_stuck = false;
    for (Stream& stream : m_streams)
        stream.stuck = false;
    int sent = 0;
    for (bool moved = true; moved && sent < messagesInARound;) {
        moved = false;
        for (std::size_t i = 0; i < m_streams.size() && sent < messagesInARound; ++i) {
            Stream& stream = m_streams[(m_turn + i) % m_streams.size()];
            if (!step(stream, now))
                continue;
            moved = true;
            ++sent;
        }
        ++m_turn;
    }
    for (const Stream& stream : m_streams)
        if (stream.stream->over()) {
            keep(stream, now + endedPlaceTime);
            m_orphans.push_back(stream.stream->flight());
        }
    std::erase_if(m_streams, [](const Stream& stream) { return stream.stream->over(); });
    lookAtSilence(now);
    m_lines.look(now);
    return sent == messagesInARound;
}

void Hub::lookAtSilence(Time now)
{
    for (Session* session : m_sessions.all())
        if (!session->stream.empty()
            && now - session->streamHeard >= std::chrono::seconds(silenceSeconds))
            linkLost(session->stream, now, "nothing was heard on it");
    std::erase_if(m_kept, [&](const Kept& kept) {
        if (now < kept.until)
            return false;
        kept.log->release(kept.reader);
        return true;
    });
}

} // namespace moire::wire
