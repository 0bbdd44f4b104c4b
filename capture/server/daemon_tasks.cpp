// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0
//
// What the daemon answers on its task thread.

#include "capture/engine/run_estimate.h"
#include "capture/server/daemon.h"
#include "core/wire/protocol.h"

#include <utility>

namespace moire::capture {

namespace {

/// The prompts of all runs in memory: those that wait, and those that ended and are nowhere else.
constexpr std::uint64_t mostPromptBytes = std::uint64_t{512} << 20U;

wire::Message refused(const Error& error)
{
    return wire::refusal(
        error.code == Errc::Io ? wire::reason::internal : wire::reasonOf(error.code), error);
}

wire::Message busy(const Error& error)
{
    const bool isBusy = error.code == Errc::Io;
    return wire::refusal(isBusy ? wire::reason::busy : wire::reasonOf(error.code), error);
}

wire::Message reply(std::string_view type, wire::Fields fields)
{
    fields["t"] = type;
    return {std::move(fields), {}};
}

/// The tokens of a prompt as the run will begin with them.
std::vector<trace::Token> tokensOf(const Prompt& prompt, const Tokenizer* tokenizer)
{
    std::vector<trace::Token> tokens;
    std::int64_t offset = 0;
    for (std::uint32_t i = 0; i < prompt.promptLength; ++i) {
        trace::Token token;
        token.id = prompt.ids[i];
        token.bytes = tokenizer ? tokenizer->bytesOf(token.id) : std::string();
        token.textOffset = offset;
        offset += static_cast<std::int64_t>(token.bytes.size());
        tokens.push_back(std::move(token));
    }
    return tokens;
}

} // namespace

Result<Daemon::Asked> Daemon::asked(const wire::Message& request)
{
    auto read = wire::toRunRequest(request);
    if (!read)
        return read.error();
    auto model = m_models->model(read->model);
    if (!model)
        return model.error();
    return Asked{*std::move(read), *std::move(model)};
}

wire::Message Daemon::models()
{
    wire::Fields list = wire::Fields::array();
    for (const wire::ModelEntry& entry : m_models->entries())
        list.push_back(toFields(entry));
    return reply(wire::type::models, {{"models", std::move(list)}});
}

wire::Message Daemon::taps(const wire::Message& request)
{
    const auto asked = this->asked(request);
    if (!asked)
        return refused(asked.error());
    const auto options = m_interpreter.options(asked->request, *asked->model);
    if (!options)
        return refused(options.error());
    const auto taps = listTaps(asked->model->checkpoint, *options);
    if (!taps)
        return refused(taps.error());
    wire::Fields list = wire::Fields::array();
    for (const trace::Tap& tap : *taps)
        list.push_back(toFields(wire::TapEntry{tap.name, std::string(numeric::nameOf(tap.dtype)),
                                               tap.width, std::string(trace::nameOf(tap.kind))}));
    return reply(wire::type::taps, {{"taps", std::move(list)}});
}

/// Nothing may be timed beside a run: it would be slow, and threads set for it would be the run's.
double Daemon::secondsOf(const Asked& asked, const RequestedRun& run)
{
    const auto right = m_worker.tryToCompute();
    if (!right)
        return 0;
    const auto seconds = estimateSeconds(asked.model->checkpoint, run.options, *run.prompts);
    return seconds ? *seconds : 0;
}

wire::Message Daemon::estimate(const wire::Message& request)
{
    const auto asked = this->asked(request);
    if (!asked)
        return refused(asked.error());
    const auto run = m_interpreter.run(asked->request, *asked->model);
    if (!run)
        return refused(run.error());
    return reply(wire::type::estimate,
                 toFields(wire::Estimate{run->plan.rows, run->plan.bytes, secondsOf(*asked, *run),
                                         run->plan.header.taps.size(), run->prompts->size()}));
}

wire::Message Daemon::run(const wire::Message& request)
{
    const auto asked = this->asked(request);
    if (!asked)
        return refused(asked.error());
    if (const auto known = m_runs.withTicket(asked->request.ticket))
        return reply(wire::type::queued, toFields(*known));
    if (m_runs.promptBytes() > mostPromptBytes)
        return busy({Errc::Io,
                     "the prompts of the runs that wait fill the daemon's memory",
                     {},
                     "Ask again when one has ended"});
    auto run = m_interpreter.run(asked->request, *asked->model);
    if (!run)
        return refused(run.error());
    auto job = std::make_shared<RunJob>();
    job->run = newName();
    job->model = asked->model->name;
    job->ticket = asked->request.ticket;
    job->request = *std::move(run);
    if (job->request.options.liveTokens)
        job->request.options.feed = std::make_shared<TokenFeed>(
            TokenFeed::Limits{job->request.prompts->size(), *job->request.options.liveTokens,
                              asked->model->checkpoint.plan.vocabulary});
    job->request.plan.header = {}; // made again when it begins; a vocabulary is large
    job->log = std::make_shared<wire::RunLog>(job->run, m_hold);
    job->log->onGrowth([this] {
        if (m_listening)
            m_listener.grown();
    });
    const auto queued = m_runs.add(job);
    if (!queued)
        return busy(queued.error());
    m_options.log(EventLevel::Info, "run-queued",
                  {{"run", job->run},
                   {"model", job->model},
                   {"place", std::to_string(queued->place)},
                   {"rows", std::to_string(queued->rows)}});
    if (m_listening)
        m_listener.started(job->log);
    return reply(wire::type::queued, toFields(*queued));
}

Result<std::vector<wire::SampleBegin>> Daemon::promptsOf(const std::string& run)
{
    const auto state = m_runs.state(run);
    if (!state)
        return state.error();
    const auto prompts = m_runs.prompts(run);
    if (!prompts)
        return m_spool->prompts(run);
    const auto model = m_models->model(state->model);
    if (!model)
        return model.error();
    std::vector<wire::SampleBegin> samples;
    for (const Prompt& prompt : *prompts)
        samples.push_back({static_cast<trace::SampleIndex>(samples.size()), prompt.sample,
                           tokensOf(prompt, (*model)->checkpoint.tokenizer.get())});
    return samples;
}

wire::Message Daemon::prompts(const wire::Message& request)
{
    const auto run = wire::textField(request.fields, "run");
    if (!run)
        return refused(run.error());
    const auto samples = promptsOf(*run);
    if (!samples)
        return refused(samples.error());
    wire::Fields list = wire::Fields::array();
    for (const wire::SampleBegin& begin : *samples) {
        auto message =
            wire::unpack(wire::packSample({*run, 0}, begin.index, begin.sample, begin.prompt),
                         wire::clientLimits);
        if (!message)
            return refused(message.error());
        for (const char* ofStream : {"t", "run", "seq"})
            message->fields.erase(ofStream);
        list.push_back(std::move(message->fields));
    }
    wire::Message answer = reply(wire::type::prompts, {{"samples", std::move(list)}});
    if (wire::encodeFields(answer.fields).size() > wire::maxHeaderBytes)
        return wire::refusal(wire::reason::tooLarge, {Errc::Invalid,
                                                      "the prompts are too large for one message",
                                                      {},
                                                      "Take them from the run's messages"});
    return answer;
}

wire::Message Daemon::forget(const wire::Message& request)
{
    const auto run = wire::textField(request.fields, "run");
    if (!run)
        return refused(run.error());
    if (const auto forgotten = m_runs.forget(*run); !forgotten)
        return busy(forgotten.error());
    m_options.log(EventLevel::Info, "run-forgotten", {{"run", *run}});
    return reply(wire::type::forgotten, {{"run", *run}});
}

} // namespace moire::capture
