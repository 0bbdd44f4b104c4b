// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/flight.h"
#include "core/wire/joined_frames.h"
#include "core/wire/run_log.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::wire {

/// One stream of a daemon (PROTOCOL.md, 5): what it sends next, within the client's credit and the
/// window of what the transport may hold. No socket, no thread, no clock.
class OutgoingStream
{
public:
    struct Opening
    {
        std::int64_t number = 0;
        std::uint64_t from = 0;
        std::uint64_t to = 0; ///< before this one; the most there can be = to the end
        ValueChoice values;
        std::uint64_t credit = 0;
        bool lossless = true;
        bool joined = false; ///< the client takes small frames joined
    };
    /// `reader`: its number at the log. `epoch`: the daemon's.
    OutgoingStream(Opening opening, std::shared_ptr<RunLog> log, std::uint64_t reader,
                   std::shared_ptr<Flight> flight, std::string epoch);

    /// What `open` asks for; the error is refused as `invalid`.
    static Result<Opening> read(const Fields& fields);

    /// The client grants more, and lacks nothing below `received` where it says so. False when it
    /// is more than there can be.
    bool grant(std::uint64_t bytes, std::optional<std::uint64_t> received);

    struct Outgoing
    {
        std::vector<Frame> frames;
        std::size_t bytes = 0;          ///< that the flight is told of; 0 = not told
        std::shared_ptr<Flight> flight; ///< null for a notice
    };
    /// What is to be sent now; the same until sent(). Null: nothing.
    const Outgoing* due();
    void sent();
    bool over() const { return m_over; }

    /// The daemon ends, or the client may not have it any more: the next thing due is the last.
    void finish(std::string_view reason, const std::string& sentence);

    /// The place of a lossless stream at the log, once the link is lost: what the client has not
    /// said it received is kept as it is.
    void keepPlace();
    void forgetPlace();

    std::int64_t number() const { return m_opening.number; }
    bool lossless() const { return m_opening.lossless; }
    const std::shared_ptr<RunLog>& log() const { return m_log; }
    std::uint64_t reader() const { return m_reader; }
    const std::shared_ptr<Flight>& flight() const { return m_flight; }
    std::uint64_t creditLeft() const { return m_credit; }
    std::uint64_t next() const { return m_next; }

private:
    enum class Due
    {
        Nothing,
        Opened,
        Message,
        Starved,
        Last
    };
    void prepare();
    bool prepareMessage();
    bool fits(std::size_t bytes);
    void notice(Due kind, Fields fields);
    void remember();
    void tellPlace();
    void receivedBelow(std::uint64_t sequence);
    bool valuesMakeSense() const;

    Opening m_opening;
    std::shared_ptr<RunLog> m_log;
    std::uint64_t m_reader;
    std::shared_ptr<Flight> m_flight;
    std::string m_epoch;

    std::uint64_t m_next; ///< sequence
    std::uint64_t m_credit;
    std::uint64_t m_granted;    ///< in all
    std::uint64_t m_mostCredit; ///< that there ever was at once
    std::uint64_t m_sentBytes = 0;
    std::uint64_t m_received;  ///< messages below it are the client's
    bool m_clientSays = false; ///< what it received
    struct Mark
    {
        std::uint64_t next = 0;
        std::uint64_t began = 0;     ///< bytes sent before it
        std::uint64_t sentBytes = 0; ///< with the messages below `next`
    };
    std::deque<Mark> m_marks; ///< of what is not known to be received

    std::optional<LogMessage> m_message; ///< the next one, read already
    Outgoing m_outgoing;
    JoinPool m_pool;
    Due m_due = Due::Nothing;
    bool m_opened = false;
    bool m_checked = false; ///< the taps asked for are the run's
    bool m_starved = false; ///< said of the next message
    bool m_over = false;
    std::optional<Fields> m_last;
};

} // namespace moire::wire
