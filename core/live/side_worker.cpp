// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/side_worker.h"

#include "core/live/capture_store.h"
#include "core/store/mapped_run.h"
#include "core/wire/random_text.h"

#include <optional>
#include <utility>

namespace moire::live {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds lookInterval{50};   ///< at the link, while nothing happens
constexpr milliseconds askInterval{500};   ///< the daemon about the run
constexpr milliseconds retryInterval{200}; ///< of what was not answered
constexpr milliseconds cancelPatience{10'000};

bool isTransient(const Error& error)
{
    return error.code == Errc::Io || error.code == Errc::Cancelled;
}

} // namespace

void SideWorker::set(SideState now, Error why)
{
    {
        const std::scoped_lock lock(mutex);
        if (isOver(state) || (state == now && why.sentence == trouble.sentence))
            return;
        state = now;
        trouble = std::move(why);
    }
    happened.notify_all();
    changed();
}

bool SideWorker::stopped(const std::stop_token& stop) const
{
    const std::scoped_lock lock(mutex);
    return stop.stop_requested() || cancelWanted;
}

void SideWorker::pause(const std::stop_token& stop, milliseconds time)
{
    std::unique_lock lock(mutex);
    happened.wait_for(lock, stop, time, [this] { return cancelWanted || grown; });
    grown = false;
}

void SideWorker::noteGrowth()
{
    {
        const std::scoped_lock lock(mutex);
        grown = true;
    }
    happened.notify_all();
    changed();
}

void SideWorker::work(const std::stop_token& stop)
{
    if (options.host == nullptr)
        return openFile();
    if (!connect(stop) || !begin(stop) || !receive()) {
        if (stopped(stop))
            set(SideState::Cancelled);
        return;
    }
    watch(stop);
}

void SideWorker::openFile()
{
    auto opened = store::MappedRun::open(options.file);
    if (!opened)
        return set(SideState::Failed, opened.error());
    {
        const std::scoped_lock lock(mutex);
        file = std::move(*opened);
    }
    set(SideState::Finished);
}

/// Waits for the daemon as long as it takes.
bool SideWorker::connect(const std::stop_token& stop)
{
    set(SideState::Connecting);
    while (!stopped(stop)) {
        const wire::LinkState link = options.host->link();
        if (link == wire::LinkState::Connected)
            return true;
        if (link == wire::LinkState::Refused) {
            set(SideState::Failed, options.host->trouble());
            return false;
        }
        pause(stop, lookInterval);
    }
    return false;
}

/// Gives the side a run of the daemon's.
bool SideWorker::begin(const std::stop_token& stop)
{
    std::string name = options.run;
    if (name.empty()) {
        if (prepare)
            if (auto prepared = prepare(options.request, stop); !prepared) {
                if (!stopped(stop))
                    set(SideState::Failed, prepared.error());
                return false;
            }
        if (stopped(stop))
            return false;
        auto queued = askForRun(stop);
        if (!queued) {
            if (!stopped(stop))
                set(SideState::Failed, queued.error());
            return false;
        }
        const std::scoped_lock lock(mutex);
        begun = true;
        name = queued->run;
        heard.place = queued->place;
        heard.planned = queued->rows;
    }
    sender.setRun(name);
    {
        const std::scoped_lock lock(mutex);
        run = name;
    }
    set(SideState::Queued);
    return true;
}

/// The ticket keeps a request that was sent twice from being two runs.
Result<wire::Queued> SideWorker::askForRun(const std::stop_token& stop)
{
    options.request.ticket = wire::randomText();
    while (true) {
        auto queued = options.host->run(options.request);
        if (queued || !isTransient(queued.error()) || stopped(stop))
            return queued;
        pause(stop, retryInterval);
        if (!connect(stop))
            return queued;
    }
}

bool SideWorker::receive()
{
    wire::StreamOptions how;
    how.lossless = options.lossless;
    auto stream = options.host->stream(run, how);
    if (!stream) {
        set(SideState::Failed, stream.error());
        return false;
    }
    const std::string source = options.host->address() + " " + run;
    CaptureStoreOptions keep;
    keep.file = options.record;
    keep.folder = options.folder;
    keep.source = source;
    auto made = std::make_shared<wire::LiveRun>(
        std::move(*stream), source,
        [keep](const trace::RunHeader& header,
               wire::PlannedRows planned) -> Result<std::unique_ptr<wire::LiveStore>> {
            auto kept = CaptureStore::create(header, planned, keep);
            if (!kept)
                return kept.error();
            return std::unique_ptr<wire::LiveStore>(std::move(*kept));
        },
        [this] { noteGrowth(); });
    if (tokensTold)
        made->onTokens(tokensTold);
    {
        const std::scoped_lock lock(mutex);
        live = made;
    }
    made->start();
    return true;
}

void SideWorker::watch(const std::stop_token& stop)
{
    Clock::time_point asked{};
    Clock::time_point sendAgain{};
    while (!stop.stop_requested()) {
        if (lookAtLive())
            return;
        const Clock::time_point now = Clock::now();
        if (now - asked >= askInterval) {
            ask();
            asked = now;
        }
        if (stopped(stop))
            return cancelRun(stop);
        if (now >= sendAgain)
            if (auto sent = sender.send(); !sent) {
                if (!isTransient(sent.error())) {
                    static_cast<void>(options.host->cancel(run));
                    return set(SideState::Failed, sent.error());
                }
                sendAgain = now + retryInterval;
            }
        if (!sender.hasTokens())
            pause(stop, lookInterval);
        else if (now < sendAgain)
            pause(stop, std::min(lookInterval, retryInterval));
    }
}

/// What the daemon says of the run, while it can be reached.
void SideWorker::ask()
{
    if (options.host->link() != wire::LinkState::Connected)
        return;
    const auto said = options.host->runState(run);
    if (!said)
        return;
    const std::scoped_lock lock(mutex);
    heard = *said;
}

/// Takes over how the reception stands. True when it is over.
bool SideWorker::lookAtLive()
{
    const auto received = liveRun();
    const wire::LiveRun::State now = received->state();
    const wire::StreamCount count = received->count();
    const std::uint64_t rows = received->rows();
    std::string word;
    std::string sentence;
    {
        const std::scoped_lock lock(mutex);
        rate.note(Clock::now(), rows, count.bytes);
        word = heard.state;
        sentence = heard.sentence;
    }
    switch (now) {
    case wire::LiveRun::State::Finished:
        set(SideState::Finished);
        return true;
    case wire::LiveRun::State::Partial:
        set(SideState::Finished, received->trouble());
        return true;
    case wire::LiveRun::State::Growing:
        set(goingOn(word, true));
        return false;
    case wire::LiveRun::State::Waiting:
        // A run that failed before its first message has none.
        if (const auto ended = endedAs(word)) {
            received->stop();
            set(*ended, {Errc::Internal, sentence, options.host->address(), {}});
            return true;
        }
        set(goingOn(word, false));
        return false;
    case wire::LiveRun::State::Broken:
        break;
    }
    if (const auto ended = endedAs(received->brokenState())) {
        set(*ended, received->trouble());
        return true;
    }
    ask();
    std::optional<SideState> ended;
    {
        const std::scoped_lock lock(mutex);
        ended = endedAs(heard.state);
        sentence = heard.sentence;
    }
    if (ended && !sentence.empty())
        set(*ended, {Errc::Internal, sentence, options.host->address(), {}});
    else
        set(SideState::Failed, received->trouble());
    return true;
}

/// A run of ours ends at its daemon, and its last message tells; any other is only left.
void SideWorker::cancelRun(const std::stop_token& stop)
{
    const Clock::time_point giveUp = Clock::now() + cancelPatience;
    bool told = false;
    while (begun && !stop.stop_requested() && Clock::now() < giveUp) {
        if (lookAtLive())
            return;
        if (!told && options.host->link() == wire::LinkState::Connected) {
            const auto cancelled = options.host->cancel(run);
            told = cancelled || !isTransient(cancelled.error());
        }
        std::this_thread::sleep_for(lookInterval);
    }
    liveRun()->stop();
    set(SideState::Cancelled);
}

} // namespace moire::live
