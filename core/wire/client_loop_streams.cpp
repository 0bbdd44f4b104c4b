// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/client_loop.h"
#include "core/wire/joined_frames.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds pingTime{silenceSeconds / 3};
constexpr seconds silenceTime{silenceSeconds};
/// Over a slow link one message may take longer than the silence that ends it; each time nothing
/// at all has come the next silence may last twice as long, up to 8 times.
constexpr unsigned mostDoublings = 3;

/// Limits of an envelope: some numbers and sentences, and the sizes of frames.
constexpr MessageLimits envelopeLimits{std::size_t{1} << 20U, 4 * maxFrames, 0, 0};

std::string topicOf(const std::string& run)
{
    return "run/" + run + "/";
}

std::uint64_t wholeNumber(const Fields& fields, const char* name)
{
    const auto value = integerField(fields, name, 0, std::numeric_limits<std::int64_t>::max());
    return value ? static_cast<std::uint64_t>(*value) : 0;
}

} // namespace

std::shared_ptr<ClientStream> ClientLoop::addStream(const std::string& run,
                                                    const StreamOptions& options)
{
    auto stream = std::make_shared<ClientStream>(run, options, [wake = m_wake] { wake->notify(); });
    const std::lock_guard lock(m_mutex);
    m_streams.push_back(stream);
    return stream;
}

std::vector<std::shared_ptr<ClientStream>> ClientLoop::streams() const
{
    const std::lock_guard lock(m_mutex);
    return m_streams;
}

std::shared_ptr<ClientStream> ClientLoop::streamOf(std::int64_t number) const
{
    for (const auto& stream : streams())
        if (stream->with([](const StreamIntake& intake) { return intake.number(); }) == number)
            return stream;
    return nullptr;
}

void ClientLoop::dropFinished()
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_streams, [](const std::shared_ptr<ClientStream>& stream) {
        return stream->with([](const StreamIntake& intake) { return intake.quiet(); });
    });
}

void ClientLoop::openStream(Time now)
{
    bool wanted = false;
    {
        const std::lock_guard lock(m_mutex);
        wanted = m_session.welcomed() && !m_streams.empty();
    }
    if (m_stream.socket || !wanted || !m_stream.backoff.due(now))
        return;
    const auto address = readAddress(m_streamEndpoint);
    if (!address)
        return;
    m_stream.socket = connect(ClientSocket::Kind::Stream, *address);
    m_stream.ready = false;
    m_stream.deadline = now + readyTime;
    if (!m_stream.socket)
        m_stream.backoff.slowDown(now);
}

void ClientLoop::streamEvents(Time now)
{
    while (m_stream.socket) {
        const auto event = m_stream.socket->nextEvent();
        if (!event)
            break;
        if (*event == LinkEvent::Ready) {
            m_stream.ready = true;
            m_streamHeard = now;
            m_streamSent = now;
        } else if (*event != LinkEvent::Answered) {
            receiveStream(now); // what came before the end
            dropStream(now);
        }
    }
    if (m_stream.socket && !m_stream.ready && now >= m_stream.deadline)
        dropStream(now);
    if (!m_stream.socket || !m_stream.ready)
        return;
    for (const auto& stream : streams())
        stream->with([&](StreamIntake& intake) {
            if (!intake.hasLink())
                intake.linkReady(now);
        });
    keepAlive(now);
}

void ClientLoop::dropStream(Time now)
{
    m_stream.socket.reset();
    m_stream.ready = false;
    m_stream.backoff.failed(now);
    for (const auto& stream : streams())
        stream->with([](StreamIntake& intake) { intake.linkLost(); });
}

/// Says that we are there, and takes a long silence for a lost link.
void ClientLoop::keepAlive(Time now)
{
    bool open = false;
    for (const auto& stream : streams())
        open = open || stream->with([](const StreamIntake& intake) {
            return intake.number().has_value();
        });
    if (!open) {
        m_streamHeard = now;
        return;
    }
    if (now - m_streamHeard >= silenceTime * (1U << std::min(m_silences, mostDoublings))) {
        ++m_silences;
        return dropStream(now);
    }
    if (now - m_streamSent >= pingTime) {
        m_streamSent = now;
        m_stream.socket->send(pack({Fields{{"t", type::ping}, {"session", m_sessionToken}}, {}}));
    }
}

void ClientLoop::receiveStream(Time now)
{
    for (int i = 0; m_stream.socket && i < fewMessages; ++i) {
        auto frames = m_stream.socket->receive();
        if (!frames)
            return;
        m_streamHeard = now;
        dispatch(std::move(*frames), now);
    }
    if (m_stream.socket)
        m_wake->notify(); // there may be more
}

void ClientLoop::dispatch(std::vector<Frame> frames, Time now)
{
    const auto envelope = decodeFields(frames.front().bytes, envelopeLimits);
    if (!envelope)
        return failStreams(envelope.error());
    Packed packed;
    if (frames.size() > 1) {
        packed.header = std::move(frames[1]);
        const std::span<const Frame> parts = std::span(frames).subspan(2);
        const auto sizes = envelope->find("sizes");
        auto split = sizes == envelope->end()
                         ? Result<std::vector<Frame>>({parts.begin(), parts.end()})
                         : splitFrames(*sizes, parts);
        if (!split)
            return failStreams(split.error());
        packed.frames = *std::move(split);
    }
    dispatch(*envelope, std::move(packed), now);
}

/// What came cannot be told to be of one of them.
void ClientLoop::failStreams(const Error& error)
{
    for (const auto& stream : streams())
        stream->with([&](StreamIntake& intake) {
            if (intake.number())
                intake.fail(error);
        });
}

void ClientLoop::dispatch(const Fields& envelope, Packed packed, Time now)
{
    const Message asMessage{envelope, {}};
    const std::string_view kind = asMessage.type();
    const auto number =
        integerField(envelope, "stream", 0, std::numeric_limits<std::int64_t>::max());
    const auto stream = number ? streamOf(*number) : nullptr;
    const std::string sentence =
        textField(envelope, "sentence") ? *textField(envelope, "sentence") : std::string();
    bool helloAgain = false;
    if (kind == type::refused) {
        const auto why = textField(envelope, "reason");
        helloAgain = why && *why == reason::noHello;
        if (stream)
            stream->with([&](StreamIntake& intake) {
                intake.refused(why ? *why : std::string(), errorOf(asMessage), now);
            });
    }
    if (helloAgain) {
        const std::lock_guard lock(m_mutex);
        m_session.greetAgain();
    }
    if (!stream)
        return;
    stream->with([&](StreamIntake& intake) {
        if (kind == type::message) {
            m_silences = 0;
            m_stream.backoff.succeeded();
            intake.message(wholeNumber(envelope, "seq"), wholeNumber(envelope, "bytes"),
                           std::move(packed), now);
        } else if (kind == type::opened) {
            intake.opened(wholeNumber(envelope, "next"));
        } else if (kind == type::starved) {
            intake.starved(wholeNumber(envelope, "needs"));
        } else if (kind == type::end) {
            intake.end(sentence, now);
        }
    });
}

void ClientLoop::sendStream(Time now)
{
    if (!m_stream.socket || !m_stream.ready)
        return;
    for (const auto& stream : streams()) {
        const auto messages = stream->with(
            [&](StreamIntake& intake) { return intake.due(now, m_sessionToken, m_streamNumbers); });
        for (const Message& message : messages) {
            m_streamSent = now;
            if (!m_stream.socket->send(pack(message)))
                return dropStream(now);
        }
    }
}

/// Streams of what is published: how many messages are there?
void ClientLoop::stateQueries(Time now)
{
    for (const auto& stream : streams()) {
        const auto run = stream->with([&](StreamIntake& intake) {
            return intake.wantsState(now) ? std::optional(intake.run()) : std::nullopt;
        });
        if (!run)
            continue;
        ask({Fields{{"t", type::runState}, {"run", *run}}, {}}, ControlSession::AfterLoss::AskAgain,
            [weak = std::weak_ptr(stream), wake = m_wake](const Result<Message>& reply) {
                const auto asked = weak.lock();
                if (!asked)
                    return;
                const Time heard = std::chrono::steady_clock::now();
                asked->with([&](StreamIntake& intake) {
                    if (!reply && reply.error().code == Errc::NotFound)
                        intake.fail(reply.error());
                    else if (reply)
                        intake.known(wholeNumber(reply->fields, "messages"), heard);
                });
                wake->notify();
            });
    }
}

void ClientLoop::openData()
{
    std::set<std::string> wanted;
    for (const auto& stream : streams())
        if (stream->with([](const StreamIntake& intake) { return intake.latest(); }))
            wanted.insert(
                topicOf(stream->with([](const StreamIntake& intake) { return intake.run(); })));
    if (wanted.empty() || m_dataEndpoint.empty()) {
        m_data.reset();
        m_topics.clear();
        return;
    }
    if (!m_data) {
        m_topics.clear();
        const auto address = readAddress(m_dataEndpoint);
        m_data = address ? connect(ClientSocket::Kind::Data, *address) : nullptr;
        if (!m_data)
            return;
    }
    for (const std::string& topic : wanted)
        if (!m_topics.contains(topic))
            m_data->subscribe(topic);
    for (const std::string& topic : m_topics)
        if (!wanted.contains(topic))
            m_data->unsubscribe(topic);
    m_topics = std::move(wanted);
}

void ClientLoop::receiveData(Time now)
{
    while (m_data && m_data->nextEvent()) {
        // It connects again by itself; what was lost meanwhile shows as a hole.
    }
    for (int i = 0; m_data && i < fewMessages; ++i) {
        auto frames = m_data->receive();
        if (!frames)
            return;
        if (frames->size() < 2)
            continue;
        const std::span<const std::byte> bytes = frames->front().bytes;
        const std::string topic(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const Packed packed{(*frames)[1], {frames->begin() + 2, frames->end()}};
        for (const auto& stream : streams())
            stream->with([&](StreamIntake& intake) {
                if (intake.latest() && topicOf(intake.run()) == topic)
                    intake.published(packed, now);
            });
    }
    if (m_data)
        m_wake->notify(); // there may be more
}

ClientLoop::Time ClientLoop::nextTime(Time now) const
{
    Time next = now + seconds(1);
    if (!m_control.socket)
        next = std::min(next, m_control.backoff.at());
    else if (!m_control.ready)
        next = std::min(next, m_control.deadline);
    if (m_stream.socket && !m_stream.ready)
        next = std::min(next, m_stream.deadline);
    bool any = false;
    for (const auto& stream : streams()) {
        any = true;
        if (const auto at =
                stream->with([](const StreamIntake& intake) { return intake.wakeAt(); }))
            next = std::min(next, *at);
    }
    if (any && !m_stream.socket && m_control.ready)
        next = std::min(next, std::max(m_stream.backoff.at(), now + milliseconds(1)));
    return next;
}

} // namespace moire::wire
