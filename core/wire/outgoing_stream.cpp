// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/outgoing_stream.h"

#include "core/wire/field_reader.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

constexpr std::uint64_t toTheEnd = std::numeric_limits<std::uint64_t>::max();
/// Small messages that the transport may hold for one stream.
constexpr std::size_t windowMessages = 256;
/// What was sent is remembered in steps, to know what credit gives back.
constexpr std::uint64_t markBytes = std::uint64_t{64} << 10U;
constexpr std::size_t mostMarks = 4096;

Error senseless(const std::string& what)
{
    return {Errc::Invalid, what, {}, "core/wire/PROTOCOL.md, 5, says what open takes"};
}

Result<ValueChoice> valuesOf(const Fields& fields)
{
    const auto found = fields.find("values");
    if (found == fields.end())
        return senseless("open does not say which values it wants");
    if (found->is_boolean())
        return ValueChoice{found->get<bool>(), {}};
    const auto taps = integersField(fields, "values", 0, std::numeric_limits<std::uint32_t>::max());
    if (!taps)
        return taps.error();
    ValueChoice choice{false, {}};
    for (const std::int64_t tap : *taps)
        choice.taps.push_back(static_cast<std::uint32_t>(tap));
    std::sort(choice.taps.begin(), choice.taps.end());
    choice.taps.erase(std::unique(choice.taps.begin(), choice.taps.end()), choice.taps.end());
    return choice;
}

} // namespace

Result<OutgoingStream::Opening> OutgoingStream::read(const Fields& fields)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto number = integerField(fields, "stream", 0, most);
    const auto from = integerField(fields, "from", 0, most);
    const auto to = integerField(fields, "to", -1, most);
    const auto credit = integerField(fields, "credit", 0, static_cast<std::int64_t>(maxCredit));
    const auto policy = textField(fields, "policy");
    for (const auto* field : {&number, &from, &to, &credit})
        if (!*field)
            return field->error();
    if (!policy)
        return policy.error();
    if (*policy != "lossless" && *policy != "latest")
        return senseless("a stream is lossless or latest");
    if (*to >= 0 && *to < *from)
        return senseless("a stream's range ends before it begins");
    auto values = valuesOf(fields);
    if (!values)
        return values.error();
    const auto joined = fields.contains("joined") ? flagField(fields, "joined") : false;
    if (!joined)
        return joined.error();
    return Opening{*number,
                   static_cast<std::uint64_t>(*from),
                   *to < 0 ? toTheEnd : static_cast<std::uint64_t>(*to),
                   *std::move(values),
                   static_cast<std::uint64_t>(*credit),
                   *policy == "lossless",
                   *joined};
}

OutgoingStream::OutgoingStream(Opening opening, std::shared_ptr<RunLog> log, std::uint64_t reader,
                               std::shared_ptr<Flight> flight, std::string epoch)
    : m_opening(std::move(opening))
    , m_log(std::move(log))
    , m_reader(reader)
    , m_flight(std::move(flight))
    , m_epoch(std::move(epoch))
    , m_next(m_opening.from)
    , m_credit(m_opening.credit)
    , m_granted(m_opening.credit)
    , m_mostCredit(m_opening.credit)
    , m_received(m_opening.from)
{
    tellPlace();
}

void OutgoingStream::tellPlace()
{
    if (m_opening.lossless)
        m_log->keepFor(m_reader, m_received, m_next);
}

void OutgoingStream::keepPlace()
{
    if (m_opening.lossless)
        m_log->keepFor(m_reader, m_received, m_received);
}

void OutgoingStream::forgetPlace()
{
    if (m_opening.lossless)
        m_log->release(m_reader);
}

bool OutgoingStream::grant(std::uint64_t bytes, std::optional<std::uint64_t> received)
{
    if (bytes > maxCredit - m_granted)
        return false;
    m_granted += bytes;
    m_credit += bytes;
    m_mostCredit = std::max(m_mostCredit, m_credit);
    if (received) {
        m_clientSays = true;
        receivedBelow(*received);
    } else if (!m_clientSays) {
        // Credit is given back as messages are consumed: so many bytes were.
        const std::uint64_t returned = m_granted - m_opening.credit;
        std::uint64_t below = m_received;
        while (!m_marks.empty() && m_marks.front().sentBytes <= returned) {
            below = m_marks.front().next;
            m_marks.pop_front();
        }
        receivedBelow(below);
    }
    return true;
}

void OutgoingStream::receivedBelow(std::uint64_t sequence)
{
    const std::uint64_t received = std::clamp(sequence, m_received, m_next);
    if (received == m_received)
        return;
    m_received = received;
    tellPlace();
}

/// Where the client is after so many bytes, in steps.
void OutgoingStream::remember()
{
    if (m_clientSays)
        return m_marks.clear();
    if (!m_marks.empty() && m_sentBytes - m_marks.back().began < markBytes) {
        m_marks.back().next = m_next;
        m_marks.back().sentBytes = m_sentBytes;
        return;
    }
    m_marks.push_back({m_next, m_sentBytes - m_outgoing.bytes, m_sentBytes});
    if (m_marks.size() > mostMarks)
        m_marks.pop_front(); // the next one stands for it too
}

void OutgoingStream::notice(Due kind, Fields fields)
{
    fields["stream"] = m_opening.number;
    m_outgoing = {{Frame::of(encodeFields(fields))}, 0, nullptr};
    m_due = kind;
}

void OutgoingStream::finish(std::string_view reason, const std::string& sentence)
{
    if (reason.empty())
        m_last = Fields{{"t", type::end}, {"sentence", sentence}};
    else
        m_last =
            Fields{{"t", type::refused}, {"reason", reason}, {"sentence", sentence}, {"hint", ""}};
    m_due = Due::Nothing;
}

bool OutgoingStream::valuesMakeSense() const
{
    const auto header = m_log->header();
    return m_opening.values.all || m_opening.values.taps.empty()
           || (header && m_opening.values.taps.back() < header->taps.size());
}

/// Room in the window; if not, the transport will wake the pump.
bool OutgoingStream::fits(std::size_t bytes)
{
    const auto now = [&] {
        const std::size_t held = m_flight->bytes();
        return held == 0
               || (held + bytes <= streamWindowBytes && m_flight->messages() < windowMessages);
    };
    if (now())
        return true;
    const std::size_t left =
        std::min(streamWindowBytes / 2, streamWindowBytes - std::min(streamWindowBytes, bytes));
    return !m_flight->ask(left, windowMessages / 2) && now();
}

bool OutgoingStream::prepareMessage()
{
    if (!m_message) {
        auto message = m_log->take(m_next, m_opening.values);
        if (!message) {
            finish(reasonOf(message.error().code), message.error().text());
            return false;
        }
        m_message = *std::move(message);
    }
    const Packed& packed = m_message->packed;
    const std::size_t bytes = packed.bytes();
    if (bytes > m_credit) {
        // Less than there was before: it will come back.
        if (m_starved || bytes <= m_mostCredit)
            return false;
        notice(Due::Starved, {{"t", type::starved}, {"needs", bytes}});
        return true;
    }
    if (!fits(bytes))
        return false;
    Fields envelope{
        {"t", type::message}, {"stream", m_opening.number}, {"seq", m_next}, {"bytes", bytes}};
    std::vector<Frame> parts;
    if (m_opening.joined) {
        JoinedFrames joined = joinFrames(packed.frames, m_pool);
        envelope["sizes"] = std::move(joined.sizes);
        parts = std::move(joined.parts);
    } else {
        parts = packed.frames;
    }
    m_outgoing = {{Frame::of(encodeFields(envelope)), packed.header}, bytes, m_flight};
    m_outgoing.frames.insert(m_outgoing.frames.end(), parts.begin(), parts.end());
    m_due = Due::Message;
    return true;
}

void OutgoingStream::prepare()
{
    if (!m_opened)
        return notice(
            Due::Opened,
            {{"t", type::opened}, {"run", m_log->run()}, {"next", m_next}, {"epoch", m_epoch}});
    const bool closed = m_log->closed(); // before the size: nothing comes after it
    const std::uint64_t size = m_log->size();
    if (!m_last && size > 0 && !m_checked) {
        m_checked = true;
        if (!valuesMakeSense())
            finish(reason::invalid, "the run has no tap of such a number");
    }
    if (!m_last && m_next < m_opening.to && m_next < size && prepareMessage())
        return;
    if (!m_last && (m_next >= m_opening.to || (closed && m_next >= size)))
        finish({}, {});
    if (m_last)
        notice(Due::Last, *m_last);
}

const OutgoingStream::Outgoing* OutgoingStream::due()
{
    if (m_due == Due::Nothing && !m_over)
        prepare();
    return m_due == Due::Nothing ? nullptr : &m_outgoing;
}

void OutgoingStream::sent()
{
    const Due kind = m_due;
    m_due = Due::Nothing;
    switch (kind) {
    case Due::Opened:
        m_opened = true;
        break;
    case Due::Starved:
        m_starved = true;
        break;
    case Due::Last:
        m_over = true;
        break;
    case Due::Message:
        m_credit -= m_outgoing.bytes;
        m_sentBytes += m_outgoing.bytes;
        m_next = m_message->next;
        m_message.reset();
        m_starved = false;
        remember();
        tellPlace();
        break;
    case Due::Nothing:
        break;
    }
    m_outgoing = {};
}

} // namespace moire::wire
