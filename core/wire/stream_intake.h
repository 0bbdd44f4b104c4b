// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/connection.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::wire {

/// What a client decides about the messages of one run: which come next, how much may be on its
/// way, when to open the stream again, what to ask for once more (PROTOCOL.md, 5 and 6). No socket,
/// no thread, no clock of its own.
///
/// Bytes received and not taken, bytes that published messages wait with behind a hole, and credit
/// granted are together at most `window` and two messages.
class StreamIntake
{
public:
    using Time = std::chrono::steady_clock::time_point;

    StreamIntake(std::string run, const StreamOptions& options);

    // --- the taker's side ---
    /// The next message. Errors stand for ever, behind the messages that came before.
    Result<std::optional<Message>> take();
    bool ended() const { return m_queue.empty() && (m_terminal || m_error); }
    bool somethingToTake() const { return !m_queue.empty() || m_terminal || m_error; }
    const StreamCount& count() const { return m_count; }
    /// So much has been taken that credit should be granted now.
    bool creditDue() const;

    // --- the link's side ---
    /// The stream socket reaches the daemon and its session is known, or no longer.
    void linkReady(Time now);
    void linkLost();
    bool hasLink() const { return m_ready; }
    /// What is to be sent now. `numbers` counts the streams of the connection: every opening takes
    /// a number of its own, so that what was sent for an older one is told apart.
    std::vector<Message> due(Time now, const std::string& session, std::int64_t& numbers);
    /// When due() has to be asked again, if nothing happens before.
    std::optional<Time> wakeAt() const;
    /// The number of the present opening, if there is one.
    std::optional<std::int64_t> number() const;

    void opened(std::uint64_t next);
    void message(std::uint64_t sequence, std::uint64_t bytes, Packed packed, Time now);
    void starved(std::uint64_t needs);
    void end(const std::string& sentence, Time now);
    void refused(std::string_view reason, const Error& error, Time now);
    /// Gives the stream up; due() then tells the daemon.
    void fail(Error error);

    // --- of `latest` ---
    bool latest() const { return !m_options.lossless; }
    void published(Packed packed, Time now);
    /// The daemon has published so many messages.
    void known(std::uint64_t messages, Time now);
    /// It is time to ask the daemon how many there are: at the start, and when all is silent.
    bool wantsState(Time now);

    const std::string& run() const { return m_run; }
    std::uint64_t next() const { return m_next; }
    bool finished() const { return m_terminal || m_error.has_value(); }
    /// There is nothing more to send or to hear.
    bool quiet() const { return m_terminal || (m_error && m_phase == Phase::Closed); }

private:
    enum class Phase
    {
        Closed,
        Open
    };
    struct Entry
    {
        Message message;
        std::uint64_t sequence = 0;
        std::uint64_t bytes = 0;
    };

    Message openMessage(const std::string& session);
    bool reopens(Time now) const;
    std::uint64_t share() const;
    std::uint64_t deficit() const;
    std::optional<Entry> read(Packed packed);
    void accept(Entry entry);
    void takePending();
    void addGap(std::uint64_t to, const std::string& sentence);
    std::uint64_t holeEnd() const;
    void closedByDaemon(const std::string& sentence, Time now);

    std::string m_run;
    StreamOptions m_options;
    StreamCount m_count;
    std::deque<Entry> m_queue;
    std::optional<Error> m_error;
    bool m_terminal = false;     ///< the run's last message has been received
    std::uint64_t m_next = 0;    ///< sequence
    std::uint64_t m_nextRow = 0; ///< the first row not seen yet

    bool m_ready = false; ///< the link is there
    bool m_everOpened = false;
    Phase m_phase = Phase::Closed;
    std::int64_t m_number = 0;
    std::uint64_t m_credit = 0; ///< granted and not used
    std::uint64_t m_needs = 0;  ///< of the message for which the credit does not suffice
    Time m_lastMoved{};         ///< a message came or credit went
    std::optional<Time> m_retryAt;
    std::optional<Time> m_busySince;
    unsigned m_fruitless = 0; ///< openings in a row that ended without a message
    bool m_moved = false;     ///< a message came since the opening

    std::map<std::uint64_t, Entry> m_pending; ///< published, behind a hole
    std::uint64_t m_pendingBytes = 0;
    std::uint64_t m_known = 0;    ///< messages that exist, as far as was heard
    std::uint64_t m_repairTo = 0; ///< of the present opening
    Time m_lastHeard{};
    std::optional<Time> m_lastAsked;
};

} // namespace moire::wire
