// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/live/run_host.h"
#include "core/trace/run_builder.h"
#include "tests/core/live/script.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace moire::live::test {

/// The messages of a run, made by its calls.
class FakeLog : public trace::RunSink
{
public:
    FakeLog(std::string run, const trace::RunHeader& header, wire::PlannedRows planned);

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& prompt) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    Result<void> append(trace::RowBlock block) override;
    Result<void> addEvent(const trace::Event& event) override;
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;
    void breakOff(const std::string& state, const std::string& sentence);
    void loseRows(std::uint64_t count);

    std::optional<wire::Packed> read(std::uint64_t sequence) const;
    bool closed() const;

private:
    wire::MessagePlace place() const { return {m_run, m_messages.size()}; }

    std::string m_run;
    trace::RunHeader m_header;
    mutable std::mutex m_mutex;
    std::vector<wire::Packed> m_messages;
    std::vector<std::uint32_t> m_tokens;
    trace::RowIndex m_rows = 0;
    bool m_closed = false;
};

/// A daemon without a socket. It makes runs of a script: freely, or as tokens are fed.
class FakeHost : public RunHost
{
public:
    FakeHost(std::string address, const Script& script);

    // --- what it is told to do ---
    std::atomic<wire::LinkState> linkState{wire::LinkState::Connected};
    std::atomic<int> losesReplies{0}; ///< of so many feeds, which it has taken
    std::atomic<bool> refusesFeeds{false};
    std::string refusesRuns; ///< with this sentence
    /// Plays the script's next calls into the run that was begun last.
    void play(std::size_t calls);
    void playAll();
    void breakOff(const std::string& state, const std::string& sentence);
    void loseRows(std::uint64_t count);
    /// A run that is there already, whole.
    void addWhole(const std::string& run);

    // --- what it has seen ---
    std::vector<wire::RunRequest> requests() const;
    std::vector<wire::Feed> feeds() const;
    std::vector<std::string> cancelled() const;

    std::string address() const override { return m_address; }
    wire::LinkState link() const override { return linkState; }
    Error trouble() const override { return {Errc::Io, "no answer", m_address, {}}; }
    Result<wire::Queued> run(const wire::RunRequest& request) override;
    Result<wire::RunState> runState(const std::string& run) override;
    Result<std::vector<wire::SampleBegin>> prompts(const std::string& run) override;
    Result<void> feed(const wire::Feed& feed) override;
    Result<void> cancel(const std::string& run) override;
    Result<std::unique_ptr<wire::RunStream>> stream(const std::string& run,
                                                    const wire::StreamOptions& options) override;

private:
    struct FedSample
    {
        std::size_t has = 0; ///< response tokens
        bool ended = false;
    };
    void score();

    std::string m_address;
    const Script& m_script;
    mutable std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<FakeLog>> m_logs;
    std::string m_current;
    std::size_t m_played = 0;
    std::vector<FedSample> m_fed; ///< of a live replay
    bool m_scores = false;
    std::vector<wire::RunRequest> m_requests;
    std::vector<wire::Feed> m_feeds;
    std::vector<std::string> m_cancelled;
};

} // namespace moire::live::test
