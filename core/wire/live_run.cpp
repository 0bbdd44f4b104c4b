// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/live_run.h"

#include "core/wire/protocol.h"
#include "core/wire/run_receiver.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace moire::wire {

namespace {

using Clock = std::chrono::steady_clock;

/// While messages come without a pause, whoever watches is told this often.
constexpr std::chrono::milliseconds tellInterval{20};
/// How long a silent stream is waited for before the stop token is looked at.
constexpr std::chrono::milliseconds silence{50};

/// Passes everything on to the store and notes the response tokens.
class TokenNotes : public trace::RunSink
{
public:
    TokenNotes(std::unique_ptr<LiveStore> store, std::vector<LiveRun::NewTokens>& notes)
        : m_store(std::move(store))
        , m_notes(notes)
    {}
    LiveStore& store() { return *m_store; }

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& prompt) override
    {
        return m_store->beginSample(sample, prompt);
    }
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override
    {
        LiveRun::NewTokens added;
        added.sample = sample;
        for (const trace::Token& token : tokens)
            if (token.response)
                added.ids.push_back(token.id);
        if (!added.ids.empty())
            m_notes.push_back(std::move(added));
        return m_store->addTokens(sample, tokens);
    }
    Result<void> append(trace::RowBlock block) override
    {
        return m_store->append(std::move(block));
    }
    Result<void> addEvent(const trace::Event& event) override { return m_store->addEvent(event); }
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override
    {
        LiveRun::NewTokens ended;
        ended.sample = sample;
        ended.end = true;
        ended.stopReason = stopReason;
        m_notes.push_back(std::move(ended));
        return m_store->endSample(sample, stopReason, prediction);
    }
    Result<void> finish(const trace::Environment& closing) override
    {
        return m_store->finish(closing);
    }

private:
    std::unique_ptr<LiveStore> m_store;
    std::vector<LiveRun::NewTokens>& m_notes;
};

} // namespace

class LiveRun::Private
{
public:
    Private(std::unique_ptr<RunStream> from, std::string name, StoreMaker maker, Grown told)
        : stream(std::move(from))
        , source(std::move(name))
        , makeStore(std::move(maker))
        , grown(std::move(told))
        , receiver([this](const trace::RunHeader& header, PlannedRows rows) {
            return makeSink(header, rows);
        })
    {}

    Result<std::unique_ptr<trace::RunSink>> makeSink(const trace::RunHeader& header,
                                                     PlannedRows rows);
    void work(const std::stop_token& stop);
    Result<bool> take(const Message& message);
    void tellTokens();
    void breakOff(Error why);
    void conclude();

    std::unique_ptr<RunStream> stream;
    std::string source;
    StoreMaker makeStore;
    Grown grown;
    std::function<void(const NewTokens&)> tokensTold;

    mutable std::mutex mutex; ///< of all that follows
    RunReceiver receiver;
    std::vector<NewTokens> notes;
    LiveStore* store = nullptr; ///< the receiver's sink has it
    std::optional<PlannedRows> planned;
    std::optional<std::pair<State, Error>> outcome; ///< how it ended

    /// What is told of it at any time: never behind the store, which waits for its disk.
    struct Shown
    {
        State state = State::Waiting;
        Error trouble{Errc::Internal, {}, {}, {}};
        std::string brokenState;
        std::uint64_t rows = 0;
        std::uint64_t lostRows = 0;
        std::optional<PlannedRows> planned;
    };
    Shown shown() const
    {
        const std::scoped_lock lock(m_shownMutex);
        return m_shown;
    }
    void show(Shown now)
    {
        const std::scoped_lock lock(m_shownMutex);
        m_shown = std::move(now);
    }

    std::jthread thread; ///< last: it ends before anything that it uses

private:
    mutable std::mutex m_shownMutex;
    Shown m_shown;
};

Result<std::unique_ptr<trace::RunSink>> LiveRun::Private::makeSink(const trace::RunHeader& header,
                                                                   PlannedRows rows)
{
    auto made = makeStore(header, rows);
    if (!made)
        return made.error();
    store = made->get();
    planned = rows;
    return std::unique_ptr<trace::RunSink>(std::make_unique<TokenNotes>(std::move(*made), notes));
}

void LiveRun::Private::work(const std::stop_token& stop)
{
    Clock::time_point told = Clock::now();
    bool news = false;
    const auto tell = [&] {
        tellTokens();
        if (std::exchange(news, false))
            grown();
        told = Clock::now();
    };
    while (!stop.stop_requested()) {
        auto message = stream->next(news ? std::chrono::milliseconds(0) : silence);
        if (!message) {
            breakOff(message.error());
            break;
        }
        if (!*message) {
            tell();
            if (!stream->ended())
                continue;
            breakOff({Errc::Damaged, "the run's messages stop before its end", source,
                      "Attach to the run again"});
            break;
        }
        news = true;
        const auto wasLast = take(**message);
        if (!wasLast)
            breakOff(wasLast.error());
        if (!wasLast || *wasLast)
            break;
        if (Clock::now() - told >= tellInterval)
            tell();
    }
    if (!outcome)
        breakOff({Errc::Cancelled, "the run is no longer received", source, {}});
    conclude();
}

/// Whether it was the last one.
Result<bool> LiveRun::Private::take(const Message& message)
{
    const std::scoped_lock lock(mutex);
    if (auto taken = receiver.take(message); !taken)
        return taken.error();
    Shown now = shown();
    now.rows = receiver.rows();
    now.lostRows = receiver.lostRows();
    now.planned = planned;
    now.brokenState = receiver.brokenState();
    if (receiver.ending() == RunReceiver::Ending::None)
        now.state = State::Growing;
    show(std::move(now));
    switch (receiver.ending()) {
    case RunReceiver::Ending::None:
        return false;
    case RunReceiver::Ending::Finished:
        outcome = {State::Finished, {Errc::Internal, {}, {}, {}}};
        return true;
    case RunReceiver::Ending::Broken:
        break;
    }
    const std::string& how = receiver.brokenState();
    outcome = {how.empty() ? State::Partial : State::Broken,
               {how == wire::state::cancelled ? Errc::Cancelled : Errc::Damaged,
                receiver.sentence(),
                source,
                {}}};
    return true;
}

void LiveRun::Private::tellTokens()
{
    std::vector<NewTokens> news;
    {
        const std::scoped_lock lock(mutex);
        news.swap(notes);
    }
    for (const NewTokens& tokens : news)
        if (tokensTold)
            tokensTold(tokens);
}

void LiveRun::Private::breakOff(Error why)
{
    const std::scoped_lock lock(mutex);
    outcome = {State::Broken, std::move(why)};
}

/// Whoever sees the end has been told all tokens.
void LiveRun::Private::conclude()
{
    tellTokens();
    Shown now = shown();
    now.state = outcome->first;
    now.trouble = std::move(outcome->second);
    show(std::move(now));
    grown();
}

LiveRun::LiveRun(std::unique_ptr<RunStream> stream, std::string source, StoreMaker maker,
                 Grown grown)
    : m_private(std::make_unique<Private>(std::move(stream), std::move(source), std::move(maker),
                                          std::move(grown)))
{}

LiveRun::~LiveRun()
{
    stop(); // while all that it calls is there
}

void LiveRun::start()
{
    m_private->thread =
        std::jthread([this](const std::stop_token& stop) { m_private->work(stop); });
}

void LiveRun::stop()
{
    m_private->thread = {};
}

void LiveRun::onTokens(std::function<void(const NewTokens&)> told)
{
    m_private->tokensTold = std::move(told);
}

LiveRun::State LiveRun::state() const
{
    return m_private->shown().state;
}

Error LiveRun::trouble() const
{
    return m_private->shown().trouble;
}

std::string LiveRun::brokenState() const
{
    return m_private->shown().brokenState;
}

StreamCount LiveRun::count() const
{
    return m_private->stream->count();
}

std::uint64_t LiveRun::rows() const
{
    return m_private->shown().rows;
}

std::uint64_t LiveRun::lostRows() const
{
    return m_private->shown().lostRows;
}

std::optional<PlannedRows> LiveRun::planned() const
{
    return m_private->shown().planned;
}

Result<trace::RunPointer> LiveRun::snapshot()
{
    const std::scoped_lock lock(m_private->mutex);
    if (m_private->store == nullptr)
        return trace::RunPointer();
    return m_private->store->snapshot();
}

Result<void> LiveRun::withStore(const std::function<Result<void>(LiveStore&)>& work)
{
    const std::scoped_lock lock(m_private->mutex);
    if (m_private->store == nullptr)
        return Error{Errc::Invalid, "nothing of the run has come yet", m_private->source,
                     "Wait until it has begun"};
    return work(*m_private->store);
}

} // namespace moire::wire
