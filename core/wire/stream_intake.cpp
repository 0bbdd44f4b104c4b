// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/stream_intake.h"

#include "core/wire/protocol.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace moire::wire {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Credit goes back in pieces of this part of the window: few messages, and never a stall.
constexpr std::uint64_t returnedPart = 8;
/// With less than that part outstanding the rest is granted after this silence, since the daemon's
/// next message may be larger than what it has.
constexpr milliseconds stallTime{50};
/// A daemon that was restarted may know the old stream for a while.
constexpr seconds busyTime{60};
constexpr seconds retryTime{1};
constexpr seconds askTime{1};
/// A daemon that is about to end closes streams before their end; the next one has the rest.
constexpr unsigned mostFruitless = 3;
/// No honest message is as large; the memory for one would have to be there.
constexpr std::uint64_t largestMessage = std::uint64_t{1} << 32U;

Error brokenProtocol(const std::string& what)
{
    return {Errc::Damaged,
            "the daemon's stream breaks the protocol: " + what,
            {},
            "Programs of different versions may have met; see moire-capture status"};
}

std::optional<std::uint64_t> wholeNumber(const Fields& fields, const char* name)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto value = integerField(fields, name, 0, most);
    return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

Fields valuesField(const ValueChoice& choice)
{
    return choice.all ? Fields(true) : choice.taps.empty() ? Fields(false) : Fields(choice.taps);
}

} // namespace

StreamIntake::StreamIntake(std::string run, const StreamOptions& options)
    : m_run(std::move(run))
    , m_options(options)
    , m_next(options.from)
{}

/// What the stream socket's messages may take of the window. Published messages that wait behind a
/// hole take the other half.
std::uint64_t StreamIntake::share() const
{
    return std::max<std::uint64_t>(1, latest() ? m_options.window / 2 : m_options.window);
}

/// Credit that can be granted on top of what is granted.
std::uint64_t StreamIntake::deficit() const
{
    const std::uint64_t whole = m_count.waiting == 0 ? std::max(share(), m_needs) : share();
    const std::uint64_t used = m_credit + m_count.waiting;
    return used < whole ? whole - used : 0;
}

bool StreamIntake::creditDue() const
{
    return m_phase == Phase::Open
           && deficit() >= std::max<std::uint64_t>(1, share() / returnedPart);
}

Result<std::optional<Message>> StreamIntake::take()
{
    if (m_queue.empty())
        return m_error ? Result<std::optional<Message>>(*m_error)
                       : Result<std::optional<Message>>(std::nullopt);
    Message message = std::move(m_queue.front().message);
    m_count.waiting -= m_queue.front().bytes;
    m_queue.pop_front();
    takePending();
    return std::optional(std::move(message));
}

void StreamIntake::linkReady(Time now)
{
    m_ready = true;
    m_lastHeard = now;
    m_lastAsked.reset();
    m_retryAt.reset();
}

void StreamIntake::linkLost()
{
    m_ready = false;
    m_phase = Phase::Closed;
    m_credit = 0;
    m_needs = 0;
    m_busySince.reset();
}

std::uint64_t StreamIntake::holeEnd() const
{
    return m_pending.empty() ? m_known : m_pending.begin()->first;
}

/// Whether the stream has to be opened (again) now.
bool StreamIntake::reopens(Time now) const
{
    if (!m_ready || m_phase == Phase::Open || finished() || (m_retryAt && now < *m_retryAt))
        return false;
    return !latest() || (m_next < holeEnd() && m_count.waiting < share());
}

Message StreamIntake::openMessage(const std::string& session)
{
    constexpr std::int64_t toTheEnd = -1;
    m_phase = Phase::Open;
    m_moved = false;
    m_needs = 0;
    m_credit = share() - std::min(share(), m_count.waiting);
    m_repairTo = latest() ? holeEnd() : std::numeric_limits<std::uint64_t>::max();
    return {Fields{{"t", type::open},
                   {"session", session},
                   {"stream", m_number},
                   {"run", m_run},
                   {"from", m_next},
                   {"to", latest() ? static_cast<std::int64_t>(m_repairTo) : toTheEnd},
                   {"values", valuesField(m_options.values)},
                   {"credit", m_credit},
                   {"policy", latest() ? "latest" : "lossless"},
                   {"joined", true}},
            {}};
}

std::vector<Message> StreamIntake::due(Time now, const std::string& session, std::int64_t& numbers)
{
    std::vector<Message> messages;
    if (m_phase == Phase::Open && m_error) {
        messages.push_back({Fields{{"t", type::close}, {"stream", m_number}}, {}});
        m_phase = Phase::Closed;
    }
    if (reopens(now)) {
        m_number = ++numbers;
        if (m_everOpened && !latest())
            ++m_count.resumed;
        messages.push_back(openMessage(session));
        m_everOpened = true;
        m_lastMoved = now;
    }
    if (m_phase != Phase::Open || finished())
        return messages;
    const bool stalled = now - m_lastMoved >= stallTime || m_needs > m_credit;
    if (const std::uint64_t more = deficit(); creditDue() || (more > 0 && stalled)) {
        m_credit += more;
        m_needs = 0;
        m_lastMoved = now;
        messages.push_back(
            {Fields{{"t", type::credit}, {"stream", m_number}, {"bytes", more}}, {}});
    }
    return messages;
}

std::optional<StreamIntake::Time> StreamIntake::wakeAt() const
{
    if (!m_ready || finished())
        return std::nullopt;
    if (m_phase == Phase::Open)
        return deficit() > 0 ? std::optional(m_lastMoved + stallTime) : std::nullopt;
    if (m_retryAt)
        return m_retryAt;
    return latest()
               ? std::optional(std::max(m_lastHeard, m_lastAsked.value_or(m_lastHeard)) + askTime)
               : std::nullopt;
}

std::optional<std::int64_t> StreamIntake::number() const
{
    return m_phase == Phase::Open ? std::optional(m_number) : std::nullopt;
}

void StreamIntake::opened(std::uint64_t next)
{
    if (next > m_next)
        fail(brokenProtocol("message " + std::to_string(m_next)
                            + " was asked for, and it begins at " + std::to_string(next)));
}

/// Decodes a message and checks that it is one of this run. Fails the stream otherwise.
std::optional<StreamIntake::Entry> StreamIntake::read(Packed packed)
{
    Entry entry;
    entry.bytes = packed.bytes();
    auto message = unpack(packed, clientLimits);
    if (!message) {
        fail(message.error());
        return std::nullopt;
    }
    entry.message = *std::move(message);
    const auto place = placeOf(entry.message);
    if (!place || place->run != m_run) {
        fail(place ? brokenProtocol("a message of another run came") : place.error());
        return std::nullopt;
    }
    entry.sequence = place->sequence;
    return entry;
}

void StreamIntake::accept(Entry entry)
{
    const std::string_view kind = entry.message.type();
    const Fields& fields = entry.message.fields;
    std::uint64_t next = entry.sequence + 1;
    if (kind == type::gap) {
        next = wholeNumber(fields, "to").value_or(0);
        if (next <= entry.sequence)
            return fail(brokenProtocol("a gap ends before it begins"));
        m_count.gaps += next - entry.sequence;
    }
    if (kind == type::gap || kind == type::rows) {
        const auto first = wholeNumber(fields, "first");
        const auto count = wholeNumber(fields, "count");
        if (first && count && *count <= std::numeric_limits<std::uint64_t>::max() - *first)
            m_nextRow = *first + *count;
    }
    m_terminal = kind == type::finish || kind == type::broken;
    m_next = next;
    m_known = std::max(m_known, next);
    ++m_count.messages;
    m_count.bytes += entry.bytes;
    m_count.waiting += entry.bytes;
    m_queue.push_back(std::move(entry));
}

void StreamIntake::message(std::uint64_t sequence, std::uint64_t bytes, Packed packed, Time now)
{
    if (finished() || m_phase != Phase::Open)
        return;
    if (bytes != packed.bytes())
        return fail(brokenProtocol("a message is not as large as it says"));
    if (bytes > m_credit)
        return fail(brokenProtocol("more came than there was credit for"));
    m_credit -= bytes;
    m_lastMoved = now;
    m_lastHeard = now;
    m_busySince.reset();
    m_moved = true;
    m_fruitless = 0;
    auto entry = read(std::move(packed));
    if (!entry)
        return;
    if (entry->sequence != sequence)
        return fail(brokenProtocol("a message has two numbers"));
    if (sequence < m_next)
        return;
    if (sequence > m_next)
        return fail(brokenProtocol("message " + std::to_string(m_next) + " was left out"));
    if (latest())
        ++m_count.repaired;
    accept(std::move(*entry));
}

void StreamIntake::starved(std::uint64_t needs)
{
    if (needs > largestMessage)
        return fail(brokenProtocol("a message of " + std::to_string(needs) + " bytes is to come"));
    m_needs = needs;
}

/// The daemon has closed the stream before the run's last message.
void StreamIntake::closedByDaemon(const std::string& sentence, Time now)
{
    m_phase = Phase::Closed;
    m_credit = 0;
    m_fruitless = m_moved ? 0 : m_fruitless + 1;
    m_retryAt = now + (m_fruitless == 0 ? milliseconds(0) : milliseconds(retryTime));
    if (m_fruitless < mostFruitless)
        return;
    m_fruitless = 0;
    const std::string why = sentence.empty() ? "the daemon does not have them any more" : sentence;
    if (latest() && !m_pending.empty())
        return addGap(holeEnd(), why);
    fail({Errc::NotFound,
          "the run ends at the daemon before message " + std::to_string(m_next) + ": " + why,
          {},
          "The daemon's log may say more; run it again"});
}

void StreamIntake::end(const std::string& sentence, Time now)
{
    if (finished() || m_phase != Phase::Open)
        return;
    if (latest() && m_next >= m_repairTo) {
        m_phase = Phase::Closed;
        return takePending();
    }
    closedByDaemon(sentence, now);
}

void StreamIntake::refused(std::string_view reason, const Error& error, Time now)
{
    if (finished() || m_phase != Phase::Open)
        return;
    m_phase = Phase::Closed;
    m_credit = 0;
    if (reason == reason::noHello || reason == reason::stopping) {
        m_retryAt = now + retryTime;
        return;
    }
    // A stream that was cut may still be known there.
    const bool resuming = m_count.messages > 0 || m_count.resumed > 0 || m_busySince;
    if (reason == reason::busy && resuming) {
        if (!m_busySince)
            m_busySince = now;
        if (now - *m_busySince < busyTime) {
            m_retryAt = now + retryTime;
            return;
        }
    }
    if (latest() && !m_pending.empty())
        return addGap(holeEnd(), error.sentence);
    fail(error);
}

void StreamIntake::fail(Error error)
{
    if (!finished())
        m_error = std::move(error);
    m_pending.clear();
    m_pendingBytes = 0;
}

void StreamIntake::published(Packed packed, Time now)
{
    if (finished())
        return;
    auto entry = read(std::move(packed));
    if (!entry || entry->sequence < m_next)
        return;
    m_lastHeard = now;
    m_known = std::max(m_known, entry->sequence + 1);
    const bool inOrder = entry->sequence == m_next && m_phase == Phase::Closed;
    const bool roomHere = m_queue.empty() || m_count.waiting + entry->bytes <= share();
    if (inOrder && roomHere) {
        accept(std::move(*entry));
        return takePending();
    }
    // What does not fit is asked for when there is room.
    const bool roomBehind = m_pending.empty() || m_pendingBytes + entry->bytes <= share();
    if (!roomBehind || m_pending.contains(entry->sequence))
        return;
    m_pendingBytes += entry->bytes;
    m_pending.emplace(entry->sequence, std::move(*entry));
}

/// What waited behind a hole that has closed, as far as there is room.
void StreamIntake::takePending()
{
    while (!m_pending.empty() && !finished() && m_phase == Phase::Closed) {
        const auto first = m_pending.begin();
        const bool room = m_queue.empty() || m_count.waiting + first->second.bytes <= share();
        if (first->first > m_next || (first->first == m_next && !room))
            return;
        Entry entry = std::move(first->second);
        m_pendingBytes -= entry.bytes;
        m_pending.erase(first);
        if (entry.sequence == m_next)
            accept(std::move(entry));
    }
}

/// Messages from the next one up to `to` cannot be had.
void StreamIntake::addGap(std::uint64_t to, const std::string& sentence)
{
    Gap gap{m_next, to, m_nextRow, 0, sentence};
    for (const auto& [sequence, entry] : m_pending)
        if (entry.message.type() == type::rows) {
            const auto first = wholeNumber(entry.message.fields, "first");
            gap.rows = first && *first > m_nextRow ? *first - m_nextRow : 0;
            break;
        }
    auto entry = read(packGap(m_run, gap));
    if (!entry)
        return;
    accept(std::move(*entry));
    takePending();
}

void StreamIntake::known(std::uint64_t messages, Time now)
{
    m_known = std::max(m_known, messages);
    m_lastHeard = now;
}

bool StreamIntake::wantsState(Time now)
{
    if (!latest() || !m_ready || finished() || m_phase == Phase::Open)
        return false;
    if (m_lastAsked && (now - *m_lastAsked < askTime || now - m_lastHeard < askTime))
        return false;
    m_lastAsked = now;
    return true;
}

} // namespace moire::wire
