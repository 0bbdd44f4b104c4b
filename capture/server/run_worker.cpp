// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/run_worker.h"

#include "capture/server/process_memory.h"
#include "capture/task/token_offsets.h"
#include "core/wire/protocol.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

namespace moire::capture {

namespace {

using Clock = std::chrono::steady_clock;

/// How often an idle daemon looks whether others need the memory of its weights.
constexpr std::chrono::seconds idleInterval{5};

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string numberText(double value)
{
    std::string text = std::to_string(value);
    constexpr std::size_t decimals = 3;
    return text.substr(0, text.find('.') + 1 + decimals);
}

/// Adds to the bytes of its job, and gives every token its place in the text.
class CountedRun : public TokenOffsets
{
public:
    CountedRun(trace::RunSink& sink, RunJob& job)
        : TokenOffsets(sink)
        , m_job(job)
    {}
    Result<void> append(trace::RowBlock block) override
    {
        const std::uint64_t bytes = bytesOf(block);
        auto done = TokenOffsets::append(std::move(block));
        if (done)
            m_job.bytes += bytes;
        return done;
    }

private:
    RunJob& m_job;
};

} // namespace

void RunWorker::start()
{
    m_thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void RunWorker::stop()
{
    m_thread.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

void RunWorker::work(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        if (const auto job = m_places.runs.next(stop, idleInterval)) {
            const std::lock_guard lock(m_computing);
            make(*job);
        } else if (!m_weights.isEmpty() && isMemoryShort()) {
            m_weights.release();
            m_places.log(EventLevel::Info, "weights-released", {{"reason", "memory is short"}});
        }
    }
}

RunEnding RunWorker::endingOf(const RunJob& job, const Error& error) const
{
    if (error.code != Errc::Cancelled)
        return {std::string(wire::state::failed), error.text(), 0};
    if (job.daemonEnds)
        return {std::string(wire::state::lost), "the daemon was stopped", 0};
    return {std::string(wire::state::cancelled), "cancelled on request", 0};
}

void RunWorker::make(RunJob& job)
{
    m_places.log(EventLevel::Info, "run-begins", {{"run", job.run}, {"model", job.model}});
    const auto begin = Clock::now();
    std::optional<PublishedRun> published;
    RunEnding ending{std::string(wire::state::finished), {}, 0};
    Result<void> ran;
    try {
        ran = run(job, published);
    } catch (const std::bad_alloc&) {
        ran = Error{Errc::Internal, "there is not enough memory", {}, "Ask for less at once"};
    } catch (const std::exception& exception) {
        ran = Error{Errc::Internal, exception.what(), {}, {}};
    }
    if (!ran) {
        ending = endingOf(job, ran.error());
        if (published)
            published->breakOff(ending.state, ending.sentence);
        else
            job.log->breakOff(ending.state, ending.sentence);
        // Whatever went wrong may have to do with them, and above all with the memory they take.
        if (ending.state == wire::state::failed)
            m_weights.release();
    }
    ending.seconds = secondsSince(begin);
    if (published)
        published->close(ending.seconds);
    published.reset();
    if (m_places.spool && job.spooled)
        m_places.spool->measure(job.run);
    m_places.runs.ended(job.run, ending);
    m_places.log(ending.state == wire::state::failed ? EventLevel::Warning : EventLevel::Info,
                 "run-ends",
                 {{"run", job.run},
                  {"state", ending.state},
                  {"rows", std::to_string(job.log->rows())},
                  {"seconds", numberText(ending.seconds)},
                  {"waited", numberText(job.log->secondsWaited())},
                  {"spooled", job.spooled ? "true" : "false"},
                  {"sentence", ending.sentence}});
}

Result<void> RunWorker::run(RunJob& job, std::optional<PublishedRun>& published)
{
    RunOptions options = job.request.options;
    const auto model = m_places.models.model(job.model);
    if (!model)
        return model.error();
    const auto digest = (*model)->weightDigest();
    if (!digest)
        return digest.error();
    options.knownWeightDigest = *digest;
    options.digestWeights = true;
    const auto& prompts = *job.request.prompts;
    auto plan = planRun((*model)->checkpoint, options, prompts);
    if (!plan)
        return plan.error();
    for (const auto& [key, value] : job.request.description.fields())
        plan->header.environment.set(key, value);
    const auto weights = m_weights.get(*model, options);
    if (!weights)
        return weights.error();
    const std::stop_token stop = job.stop.get_token();
    if (stop.stop_requested())
        return Error{Errc::Cancelled, "the run was cancelled", {}, {}};
    const bool exact = !options.liveTokens && (options.maxNew == 0 || options.ignoreEnd);
    const wire::PlannedRows planned{plan->rows, exact};
    published.emplace(
        PublishedRun::Places{job.log, beginSpool(job, plan->header, planned),
                             [&](std::uint64_t bytes) { return makeRoom(job, bytes); },
                             [&](const Error& reason) { sayUnspooled(job, reason); }},
        plan->header, planned, stop);
    m_places.runs.running(job.run, plan->rows);
    CountedRun sink(*published, job);
    base::Progress progress;
    return runModel(**weights, (*model)->checkpoint, options, *plan, prompts, sink, stop, progress);
}

std::unique_ptr<SpoolWriter> RunWorker::beginSpool(RunJob& job, const trace::RunHeader& header,
                                                   wire::PlannedRows planned)
{
    if (!m_places.spool)
        return nullptr;
    // Rows are committed long before those that wait for it fill the memory.
    constexpr std::size_t shareOfHold = 4;
    auto begun = m_places.spool->begin(
        {job.run, job.model, planned, m_places.hold->bytes / shareOfHold}, header);
    if (!begun) {
        sayUnspooled(job, begun.error());
        return nullptr;
    }
    job.spooled = true;
    return *std::move(begun);
}

/// The oldest runs go first.
bool RunWorker::makeRoom(const RunJob& job, std::uint64_t bytes)
{
    m_places.spool->measure(job.run);
    while (m_places.spool->isShort(bytes))
        if (!m_places.runs.dropOldest())
            return false;
    return true;
}

void RunWorker::sayUnspooled(RunJob& job, const Error& reason) const
{
    job.spooled = false;
    m_places.log(EventLevel::Warning, "run-not-spooled",
                 {{"run", job.run}, {"reason", reason.sentence}});
}

} // namespace moire::capture
