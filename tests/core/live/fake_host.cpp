// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/live/fake_host.h"

#include "core/wire/protocol.h"

#include <algorithm>
#include <thread>

namespace moire::live::test {

namespace {

/// Hands a log's messages out as they come.
class FakeStream : public wire::RunStream
{
public:
    explicit FakeStream(std::shared_ptr<FakeLog> log)
        : m_log(std::move(log))
    {}
    Result<std::optional<wire::Message>> next(std::chrono::milliseconds wait) override
    {
        const auto until = std::chrono::steady_clock::now() + wait;
        while (true) {
            if (const auto packed = m_log->read(m_next)) {
                auto message = wire::unpack(*packed, wire::clientLimits);
                if (!message)
                    return message.error();
                const bool isGap = message->type() == wire::type::gap;
                m_next = isGap ? message->fields["to"].get<std::uint64_t>() : m_next + 1;
                m_bytes += packed->bytes();
                ++m_messages;
                return std::optional(std::move(*message));
            }
            if (std::chrono::steady_clock::now() >= until)
                return std::optional<wire::Message>();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    bool ended() const override { return m_log->closed() && !m_log->read(m_next); }
    wire::StreamCount count() const override
    {
        wire::StreamCount count;
        count.messages = m_messages;
        count.bytes = m_bytes;
        return count;
    }

private:
    std::shared_ptr<FakeLog> m_log;
    std::atomic<std::uint64_t> m_next{0};
    std::atomic<std::uint64_t> m_messages{0};
    std::atomic<std::uint64_t> m_bytes{0};
};

} // namespace

FakeLog::FakeLog(std::string run, const trace::RunHeader& header, wire::PlannedRows planned)
    : m_run(std::move(run))
    , m_header(header)
{
    m_messages.push_back(wire::packBegin(place(), header, planned));
}

Result<trace::SampleIndex> FakeLog::beginSample(const trace::Sample& sample,
                                                const std::vector<trace::Token>& prompt)
{
    const std::scoped_lock lock(m_mutex);
    const auto index = static_cast<trace::SampleIndex>(m_tokens.size());
    m_messages.push_back(wire::packSample(place(), index, sample, prompt));
    m_tokens.push_back(static_cast<std::uint32_t>(prompt.size()));
    return index;
}

Result<void> FakeLog::addTokens(trace::SampleIndex sample, const std::vector<trace::Token>& tokens)
{
    const std::scoped_lock lock(m_mutex);
    std::uint32_t& count = m_tokens[indexOf(sample)];
    m_messages.push_back(wire::packTokens(place(), sample, count, tokens));
    count += static_cast<std::uint32_t>(tokens.size());
    return {};
}

Result<void> FakeLog::append(trace::RowBlock block)
{
    const std::scoped_lock lock(m_mutex);
    const auto shared = std::make_shared<const trace::RowBlock>(std::move(block));
    m_messages.push_back(
        wire::packRows(place(), m_header, shared, 0, shared->rows.size(), m_rows, {}));
    m_rows += shared->rows.size();
    return {};
}

Result<void> FakeLog::addEvent(const trace::Event& event)
{
    const std::scoped_lock lock(m_mutex);
    m_messages.push_back(wire::packEvent(place(), event));
    return {};
}

Result<void> FakeLog::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                const std::string& prediction)
{
    const std::scoped_lock lock(m_mutex);
    m_messages.push_back(wire::packSampleEnd(place(), sample, stopReason, prediction));
    return {};
}

Result<void> FakeLog::finish(const trace::Environment& closing)
{
    const std::scoped_lock lock(m_mutex);
    m_messages.push_back(wire::packFinish(place(), closing));
    m_closed = true;
    return {};
}

void FakeLog::breakOff(const std::string& state, const std::string& sentence)
{
    const std::scoped_lock lock(m_mutex);
    if (std::exchange(m_closed, true))
        return;
    m_messages.push_back(wire::packBroken(place(), state, sentence));
}

void FakeLog::loseRows(std::uint64_t count)
{
    const std::scoped_lock lock(m_mutex);
    wire::Gap gap{m_messages.size(), m_messages.size() + 1, m_rows, count, "memory was full"};
    m_messages.push_back(wire::packGap(m_run, gap));
    m_rows += count;
}

std::optional<wire::Packed> FakeLog::read(std::uint64_t sequence) const
{
    const std::scoped_lock lock(m_mutex);
    return sequence < m_messages.size() ? std::optional(m_messages[sequence]) : std::nullopt;
}

bool FakeLog::closed() const
{
    const std::scoped_lock lock(m_mutex);
    return m_closed;
}

FakeHost::FakeHost(std::string address, const Script& script)
    : m_address(std::move(address))
    , m_script(script)
{}

Result<wire::Queued> FakeHost::run(const wire::RunRequest& request)
{
    const std::scoped_lock lock(m_mutex);
    if (!refusesRuns.empty())
        return Error{Errc::Invalid, refusesRuns, {}, {}};
    m_requests.push_back(request);
    m_current = "run" + std::to_string(m_requests.size());
    m_logs[m_current] =
        std::make_shared<FakeLog>(m_current, m_script.header(), wire::PlannedRows{15, false});
    m_played = 0;
    m_scores = request.options.contains("replay-live");
    m_fed.assign(2, {});
    if (m_scores)
        score();
    return wire::Queued{m_current, 0, 15, 1000};
}

Result<wire::RunState> FakeHost::runState(const std::string& run)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_logs.contains(run))
        return Error{Errc::NotFound, "no such run", run, {}};
    wire::RunState state;
    state.run = run;
    state.state = m_logs[run]->closed() ? wire::state::finished : wire::state::running;
    state.planned = 15;
    return state;
}

Result<std::vector<wire::SampleBegin>> FakeHost::prompts(const std::string& run)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_logs.contains(run))
        return Error{Errc::NotFound, "no such run", run, {}};
    const auto whole = m_script.run("whole");
    std::vector<wire::SampleBegin> prompts;
    for (std::size_t s = 0; s < whole->samples().size(); ++s) {
        const auto index = static_cast<trace::SampleIndex>(s);
        wire::SampleBegin prompt{index, whole->samples()[s], {}};
        for (const trace::Token& token : whole->tokens(index))
            if (!token.response)
                prompt.prompt.push_back(token);
        prompts.push_back(std::move(prompt));
    }
    return prompts;
}

/// Plays on as far as the tokens that were fed reach.
void FakeHost::score()
{
    const auto whole = m_script.run("whole");
    FakeLog& log = *m_logs[m_current];
    std::vector<std::size_t> prompts;
    for (std::size_t s = 0; s < whole->samples().size(); ++s) {
        const auto tokens = whole->tokens(static_cast<trace::SampleIndex>(s));
        prompts.push_back(static_cast<std::size_t>(std::count_if(
            tokens.begin(), tokens.end(), [](const auto& t) { return !t.response; })));
    }
    // The script is played in order, so that all samples go on together.
    for (; m_played < m_script.size(); ++m_played) {
        trace::RunBuilder trial(m_script.header(), "trial");
        m_script.play(trial, 0, m_played + 1);
        const auto shown = trial.snapshot();
        for (std::size_t s = 0; s < shown->samples().size(); ++s) {
            const auto tokens = shown->tokens(static_cast<trace::SampleIndex>(s));
            const bool ends = !shown->samples()[s].stopReason.empty();
            if (tokens.size() > prompts[s] + m_fed[s].has || (ends && !m_fed[s].ended))
                return;
        }
        m_script.play(log, m_played, m_played + 1);
    }
    if (!log.closed())
        static_cast<void>(log.finish(Script::closing()));
}

Result<void> FakeHost::feed(const wire::Feed& feed)
{
    const std::scoped_lock lock(m_mutex);
    if (refusesFeeds)
        return Error{Errc::Invalid, "a token is outside the vocabulary", {}, {}};
    m_feeds.push_back(feed);
    FedSample& sample = m_fed.at(indexOf(feed.sample));
    if (feed.first < 0 || static_cast<std::size_t>(feed.first) > sample.has)
        return Error{Errc::Invalid, "there is a hole in the tokens", {}, {}};
    sample.has = std::max(sample.has, static_cast<std::size_t>(feed.first) + feed.ids.size());
    sample.ended = sample.ended || feed.end;
    score();
    if (losesReplies > 0) {
        --losesReplies;
        return Error{Errc::Io, "no answer came", m_address, {}};
    }
    return {};
}

Result<void> FakeHost::cancel(const std::string& run)
{
    const std::scoped_lock lock(m_mutex);
    m_cancelled.push_back(run);
    m_logs[run]->breakOff("cancelled", "the run was cancelled");
    return {};
}

Result<std::unique_ptr<wire::RunStream>> FakeHost::stream(const std::string& run,
                                                          const wire::StreamOptions&)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_logs.contains(run))
        return Error{Errc::NotFound, "no such run", run, {}};
    return std::unique_ptr<wire::RunStream>(std::make_unique<FakeStream>(m_logs[run]));
}

void FakeHost::play(std::size_t calls)
{
    const std::scoped_lock lock(m_mutex);
    const std::size_t end = std::min(m_script.size(), m_played + calls);
    m_script.play(*m_logs[m_current], m_played, end);
    m_played = end;
}

void FakeHost::playAll()
{
    play(m_script.size());
    const std::scoped_lock lock(m_mutex);
    static_cast<void>(m_logs[m_current]->finish(Script::closing()));
}

void FakeHost::breakOff(const std::string& state, const std::string& sentence)
{
    const std::scoped_lock lock(m_mutex);
    m_logs[m_current]->breakOff(state, sentence);
}

void FakeHost::loseRows(std::uint64_t count)
{
    const std::scoped_lock lock(m_mutex);
    m_logs[m_current]->loseRows(count);
}

void FakeHost::addWhole(const std::string& run)
{
    const std::scoped_lock lock(m_mutex);
    m_logs[run] = std::make_shared<FakeLog>(run, m_script.header(), wire::PlannedRows{15, true});
    m_script.playAll(*m_logs[run]);
}

std::vector<wire::RunRequest> FakeHost::requests() const
{
    const std::scoped_lock lock(m_mutex);
    return m_requests;
}

std::vector<wire::Feed> FakeHost::feeds() const
{
    const std::scoped_lock lock(m_mutex);
    return m_feeds;
}

std::vector<std::string> FakeHost::cancelled() const
{
    const std::scoped_lock lock(m_mutex);
    return m_cancelled;
}

} // namespace moire::live::test
