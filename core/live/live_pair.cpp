// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/live_pair.h"

#include "core/live/replay_request.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <variant>

namespace moire::live {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds retryInterval{100};

bool isLive(const SideOptions& side)
{
    return side.host != nullptr;
}

} // namespace

class LivePair::State
{
public:
    State(PairOptions wanted, LiveSide::Changed changed)
        : options(std::move(wanted))
        , target(options.target, changed)
        , reference(options.reference, [this, changed = std::move(changed)] {
            noteEnd();
            changed();
        })
    {}

    ~State() ///< both threads use both sides
    {
        target.stop();
        reference.stop();
    }

    LiveSide& side(Which which) { return which == Which::Reference ? reference : target; }
    void connectSides();
    Result<void> scoreFile(wire::RunRequest& request, const std::stop_token& stop);
    Result<void> scoreRun(wire::RunRequest& request, const std::stop_token& stop);
    Result<std::vector<wire::SampleBegin>> askPrompts(const std::string& run,
                                                      const std::stop_token& stop);
    void pass(const wire::LiveRun::NewTokens& tokens);
    void noteEnd();
    void endOpenSamples();

    PairOptions options;
    std::mutex mutex; ///< of the next three
    std::condition_variable_any referenceChanged;
    std::map<trace::SampleIndex, bool> ended; ///< samples that the target scores, by the end
    bool endTold = false;
    LiveSide target;
    LiveSide reference;
};

void LivePair::State::connectSides()
{
    if (!options.score || !isLive(options.target) || !options.target.run.empty())
        return;
    target.setPrepare([this](wire::RunRequest& request, const std::stop_token& stop) {
        return isLive(options.reference) ? scoreRun(request, stop) : scoreFile(request, stop);
    });
    if (isLive(options.reference))
        reference.onTokens([this](const wire::LiveRun::NewTokens& tokens) { pass(tokens); });
}

Result<void> LivePair::State::scoreFile(wire::RunRequest& request, const std::stop_token& stop)
{
    std::unique_lock lock(mutex);
    referenceChanged.wait(lock, stop, [this] { return live::isOver(reference.status().state); });
    lock.unlock();
    auto run = reference.snapshot();
    if (!run)
        return run.error();
    if (*run == nullptr)
        return Error{Errc::Cancelled, "there is no reference to score", {}, {}};
    replayRun(**run, request);
    return {};
}

Result<void> LivePair::State::scoreRun(wire::RunRequest& request, const std::stop_token& stop)
{
    const std::string run = reference.waitForRun(stop);
    if (run.empty())
        return Error{Errc::Cancelled, "the reference did not begin", {}, {}};
    auto prompts = askPrompts(run, stop);
    if (!prompts)
        return prompts.error();
    // Its environment is not needed to score it, and comes only when its model is loaded.
    trace::Environment environment;
    if (auto begun = reference.snapshot(); begun && *begun != nullptr)
        environment = (*begun)->header().environment;
    std::uint32_t tokens = longestResponse(reference.status().planned, *prompts);
    const auto asked = options.reference.request.options.find("max-new");
    if (asked != options.reference.request.options.end())
        if (const auto* number = std::get_if<std::int64_t>(&asked->second); number && *number > 0)
            tokens = static_cast<std::uint32_t>(*number);
    replayLive(environment, *prompts, tokens, request);
    std::unique_lock lock(mutex);
    for (const wire::SampleBegin& prompt : *prompts)
        ended.try_emplace(prompt.index, false);
    const bool over = endTold;
    lock.unlock();
    if (over)
        endOpenSamples();
    return {};
}

/// The prompts are known when the reference's tokenizer is loaded, which may take its turn.
Result<std::vector<wire::SampleBegin>> LivePair::State::askPrompts(const std::string& run,
                                                                   const std::stop_token& stop)
{
    while (true) {
        auto prompts = options.reference.host->prompts(run);
        const bool again =
            !prompts
            && (prompts.error().code == Errc::Io || reference.status().state < SideState::Running);
        if (!again)
            return prompts;
        std::unique_lock lock(mutex);
        referenceChanged.wait_for(lock, stop, retryInterval, [] { return false; });
        if (stop.stop_requested() || live::isOver(reference.status().state))
            return Error{
                Errc::Cancelled, "the reference ended before its prompts were known", {}, {}};
    }
}

void LivePair::State::pass(const wire::LiveRun::NewTokens& tokens)
{
    {
        const std::scoped_lock lock(mutex);
        if (tokens.end)
            ended[tokens.sample] = true;
    }
    target.feed(tokens);
}

void LivePair::State::noteEnd()
{
    bool first = false;
    {
        const std::scoped_lock lock(mutex);
        first = !endTold && live::isOver(reference.status().state);
        endTold = endTold || first;
    }
    referenceChanged.notify_all();
    if (first)
        endOpenSamples();
}

/// A reference that ended early leaves samples open, which the target would wait for.
void LivePair::State::endOpenSamples()
{
    std::vector<trace::SampleIndex> open;
    {
        const std::scoped_lock lock(mutex);
        for (auto& [sample, isEnded] : ended)
            if (!std::exchange(isEnded, true))
                open.push_back(sample);
    }
    for (const trace::SampleIndex sample : open)
        target.feed({sample, {}, true, "cancelled"});
}

LivePair::LivePair(PairOptions options, LiveSide::Changed changed)
    : m_state(std::make_unique<State>(std::move(options), std::move(changed)))
{
    m_state->connectSides();
}

LivePair::~LivePair() = default;

void LivePair::start()
{
    m_state->reference.start();
    m_state->target.start();
}

void LivePair::cancel()
{
    m_state->reference.cancel();
    m_state->target.cancel();
}

SideStatus LivePair::status(Which which) const
{
    return m_state->side(which).status();
}

bool LivePair::isOver() const
{
    return live::isOver(m_state->reference.status().state)
           && live::isOver(m_state->target.status().state);
}

Result<trace::RunPointer> LivePair::snapshot(Which which)
{
    return m_state->side(which).snapshot();
}

Result<void> LivePair::save(Which which, const std::filesystem::path& path)
{
    return m_state->side(which).save(path);
}

} // namespace moire::live
