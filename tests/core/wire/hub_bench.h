// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/hub.h"
#include "core/wire/protocol.h"
#include "core/wire/requests.h"
#include "core/wire/row_frames.h"
#include "tests/core/wire/made_up_run.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A hub without sockets: what it sends is kept, time is what the test says, and the transport
/// takes messages when it is told to.
namespace moire::wire::test {

class KeptOutbox : public Outbox
{
public:
    Sent send(Socket socket, const std::string& peer, const std::vector<Frame>& frames,
              const std::shared_ptr<Flight>& flight, std::size_t bytes) override
    {
        if (gone.contains(peer))
            return Sent::Gone;
        if (full.contains(peer))
            return Sent::Full;
        if (flight && !takesNothing)
            flight->add(bytes), flight->land(bytes);
        else if (flight) {
            flight->add(bytes);
            flying.push_back({flight, bytes});
        }
        sent.push_back({socket, peer, frames});
        return Sent::Yes;
    }
    void land()
    {
        for (const auto& [flight, bytes] : std::exchange(flying, {}))
            flight->land(bytes);
    }

    struct Sending
    {
        Socket socket;
        std::string peer;
        std::vector<Frame> frames;
    };
    std::deque<Sending> sent;
    std::vector<std::pair<std::shared_ptr<Flight>, std::size_t>> flying;
    bool takesNothing = false;
    std::set<std::string> full;
    std::set<std::string> gone;
};

class KeptService : public Service
{
public:
    void handle(Message request, Answer answer) override
    {
        requests.push_back(request);
        if (throws)
            throw std::runtime_error("planted");
        if (answers)
            answer(reply);
        else if (!forgets)
            waiting.push_back(std::move(answer));
    }
    std::shared_ptr<RunLog> log(const std::string& run) override
    {
        const auto found = logs.find(run);
        return found == logs.end() ? nullptr : found->second;
    }
    std::vector<Message> requests;
    std::vector<Answer> waiting;
    Message reply{Fields{{"t", "models"}, {"models", Fields::array()}}, {}};
    bool answers = true;
    bool forgets = false;
    bool throws = false;
    std::map<std::string, std::shared_ptr<RunLog>> logs;
};

inline std::size_t rowBytes()
{
    std::size_t bytes = 0;
    for (const RowFrame& frame : rowFramesOf(madeup::header(), {}))
        bytes += frame.rowBytes;
    return bytes;
}

class HubBench
{
public:
    explicit HubBench(std::size_t clients = 4, std::size_t streams = 4)
    {
        hub = std::make_unique<Hub>(
            Hub::Options{"moire-test", "epoch-1", "tcp://127.0.0.1:2", "tcp://127.0.0.1:3", false,
                         clients, streams,
                         [this](const std::string& line) { lines.push_back(line); },
                         [this] { ++woken; }},
            service, outbox);
    }

    void tell(Outbox::Socket socket, const std::string& peer, const Fields& fields,
              const std::string& key = {})
    {
        std::vector<Frame> frames{Frame::of(encodeFields(fields))};
        if (socket == Outbox::Socket::Control)
            hub->control({peer, key}, std::move(frames), now);
        else
            hub->stream({peer, key}, std::move(frames), now);
        pump();
    }
    void pump()
    {
        while (hub->pump(now)) {
        }
    }
    void wait(Hub::Time::duration time)
    {
        now += time;
        pump();
    }
    /// What came for a peer since the last call: of the stream socket the envelope, whose messages
    /// follow as frames.
    std::optional<Message> heard(const std::string& peer)
    {
        for (auto sending = outbox.sent.begin(); sending != outbox.sent.end(); ++sending)
            if (sending->peer == peer) {
                const auto fields = decodeFields(sending->frames.front().bytes, clientLimits);
                Message message{fields ? *fields : Fields{},
                                {sending->frames.begin() + 1, sending->frames.end()}};
                outbox.sent.erase(sending);
                return message;
            }
        return std::nullopt;
    }
    std::string kind(const std::string& peer)
    {
        const auto message = heard(peer);
        return message ? std::string(message->type()) : std::string("nothing");
    }
    std::string reason(const std::string& peer)
    {
        const auto message = heard(peer);
        return message && message->type() == type::refused
                   ? message->fields["reason"].get<std::string>()
                   : std::string(message ? message->type() : "nothing");
    }

    void hello(const std::string& peer, const std::string& client, const std::string& key = {})
    {
        tell(
            Outbox::Socket::Control, peer,
            {{"t", "hello"}, {"id", 1}, {"versions", {1}}, {"program", "test"}, {"client", client}},
            key);
    }
    /// Says hello and gives the session.
    std::string session(const std::string& peer, const std::string& client,
                        const std::string& key = {})
    {
        hello(peer, client, key);
        const auto welcome = heard(peer);
        return welcome && welcome->fields.contains("session")
                   ? welcome->fields["session"].get<std::string>()
                   : std::string();
    }
    static Fields openOf(const std::string& session, std::uint64_t credit, std::uint64_t from = 0)
    {
        return {{"t", "open"},    {"session", session}, {"stream", 5},
                {"run", "r1"},    {"from", from},       {"to", -1},
                {"values", true}, {"credit", credit},   {"policy", "lossless"}};
    }
    void ask(const std::string& peer, const Fields& fields, const std::string& key = {})
    {
        tell(Outbox::Socket::Stream, peer, fields, key);
    }

    /// A run of begin, sample, `rows` messages of a row each, and finish.
    std::shared_ptr<RunLog> run(std::uint32_t rows, bool finished = true,
                                std::size_t heldRows = 1000)
    {
        auto limit = std::make_shared<HoldLimit>();
        limit->bytes = heldRows * rowBytes();
        auto log = std::make_shared<RunLog>("r1", limit);
        log->begin(madeup::header(), {rows, true});
        log->beginSample(trace::SampleIndex{0}, madeup::sample(0), madeup::tokens(2, 0, false));
        for (std::uint32_t i = 0; i < rows; ++i)
            grow(*log, i);
        if (finished)
            log->finish({});
        service.logs["r1"] = log;
        return log;
    }
    static void grow(RunLog& log, std::uint32_t position)
    {
        (void)!log.addRows(std::make_shared<const trace::RowBlock>(
                               madeup::block(madeup::header(), trace::SampleIndex{0}, position, 1)),
                           {});
    }

    Hub::Time now = Hub::Time{} + std::chrono::hours(1);
    KeptOutbox outbox;
    KeptService service;
    std::vector<std::string> lines;
    int woken = 0;
    std::unique_ptr<Hub> hub;
};

} // namespace moire::wire::test
