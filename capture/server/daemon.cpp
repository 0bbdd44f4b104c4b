// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/daemon.h"

#include "capture/engine/device_choice.h"
#include "capture/server/process_memory.h"
#include "core/wire/field_reader.h"
#include "core/wire/protocol.h"
#include "core/wire/random_text.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <utility>

namespace moire::capture {

namespace {

/// Requests that wait for the task thread; a client has one or two on its way.
constexpr std::size_t mostTasks = 2 * wire::maxClients;

wire::Message refused(const Error& error)
{
    // What the system refuses the daemon is no business between it and its client.
    return wire::refusal(
        error.code == Errc::Io ? wire::reason::internal : wire::reasonOf(error.code), error);
}

wire::Message reply(std::string_view type, wire::Fields fields = wire::Fields::object())
{
    fields["t"] = type;
    return {std::move(fields), {}};
}

Error stopping()
{
    return {Errc::Cancelled, "the daemon is about to end", {}, "Ask again later"};
}

bool isQuick(std::string_view type)
{
    return type == wire::type::runs || type == wire::type::runState || type == wire::type::feed
           || type == wire::type::cancel || type == wire::type::status;
}

/// The device that runs take when they are not told another.
std::string deviceText()
{
    trace::Environment environment;
    if (const auto device = DeviceChoice::parse(RunOptions{}.device))
        describeDevice(*device, environment);
    return RunOptions{}.device + ' ' + environment.text(trace::env::device) + ' '
           + environment.text(trace::env::arch);
}

} // namespace

Result<std::unique_ptr<Daemon>> Daemon::create(DaemonOptions options, RunInterpreter& interpreter)
{
    auto models = ModelShelf::open(options.models);
    if (!models)
        return models.error();
    std::shared_ptr<Spool> spool;
    if (options.spool) {
        auto opened = Spool::open(*options.spool, options.spoolLimit);
        if (!opened)
            return opened.error();
        spool = *std::move(opened);
    }
    return std::unique_ptr<Daemon>(
        new Daemon(std::move(options), interpreter, *std::move(models), std::move(spool)));
}

Daemon::Daemon(DaemonOptions options, RunInterpreter& interpreter,
               std::unique_ptr<ModelShelf> models, std::shared_ptr<Spool> spool)
    : m_options(std::move(options))
    , m_interpreter(interpreter)
    , m_models(std::move(models))
    , m_spool(std::move(spool))
    , m_hold(std::make_shared<wire::HoldLimit>())
    , m_device(deviceText())
    , m_runs(m_spool, m_hold)
    , m_worker({m_runs, *m_models, m_spool, m_hold, m_options.log})
    , m_tasks(mostTasks)
{
    m_hold->bytes = m_options.holdLimit;
}

Daemon::~Daemon()
{
    stop();
}

void Daemon::start(Listener listener)
{
    m_listener = std::move(listener);
    m_listening = true;
    m_worker.start();
}

void Daemon::stop()
{
    if (m_stopping.exchange(true))
        return;
    m_runs.stop();
    m_tasks.stop();
    m_worker.stop();
}

void Daemon::handle(wire::Message request, Answer answer)
{
    if (m_stopping)
        return answer(refused(stopping()));
    if (isQuick(request.type()))
        return answer(replyTo(request));
    // Both are shared: a task can be copied.
    const auto asked = std::make_shared<const wire::Message>(std::move(request));
    const bool added = m_tasks.add([this, asked, answer](bool ending) {
        answer(ending ? refused(stopping()) : replyTo(*asked));
    });
    if (!added)
        answer(wire::refusal(
            wire::reason::busy,
            {Errc::Io, "the daemon has too many requests to answer", {}, "Ask again later"}));
}

std::shared_ptr<wire::RunLog> Daemon::log(const std::string& run)
{
    return m_runs.log(run);
}

wire::Message Daemon::replyTo(const wire::Message& request)
{
    using Handler = wire::Message (Daemon::*)(const wire::Message&);
    struct Entry
    {
        std::string_view type;
        Handler handler;
    };
    static constexpr Entry handlers[]{
        {wire::type::taps, &Daemon::taps},     {wire::type::estimate, &Daemon::estimate},
        {wire::type::run, &Daemon::run},       {wire::type::feed, &Daemon::feed},
        {wire::type::cancel, &Daemon::cancel}, {wire::type::prompts, &Daemon::prompts},
        {wire::type::forget, &Daemon::forget},
    };
    const std::string_view type = request.type();
    try {
        if (type == wire::type::models)
            return models();
        if (type == wire::type::runs)
            return runs();
        if (type == wire::type::runState)
            return runState(request);
        if (type == wire::type::status)
            return status();
        for (const Entry& entry : handlers)
            if (entry.type == type)
                return (this->*entry.handler)(request);
        return refused({Errc::Unsupported, "this kind of request is not known here", {}, {}});
    } catch (const std::exception& exception) {
        return refused({Errc::Internal, exception.what(), {}, "Memory may have run out"});
    }
}

std::string Daemon::newName()
{
    constexpr unsigned names = 10'000; // within one second
    std::array<char, 48> text{};
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
    std::snprintf(text.data() + size, text.size() - size, "-%04u-", m_named++ % names);
    constexpr std::size_t randomDigits = 8;
    return text.data() + wire::randomText().substr(0, randomDigits);
}

// --- quick ---

wire::Message Daemon::runs() const
{
    wire::Fields list = wire::Fields::array();
    for (const wire::RunState& state : m_runs.states())
        list.push_back(toFields(state));
    return reply(wire::type::runs, {{"runs", std::move(list)}});
}

wire::Message Daemon::runState(const wire::Message& request) const
{
    const auto run = wire::textField(request.fields, "run");
    if (!run)
        return refused(run.error());
    const auto state = m_runs.state(*run);
    return state ? reply(wire::type::runState, toFields(*state)) : refused(state.error());
}

wire::Message Daemon::feed(const wire::Message& request)
{
    const auto feed = wire::toFeed(request.fields);
    if (!feed)
        return refused(feed.error());
    const auto state = m_runs.state(feed->run);
    if (!state)
        return refused(state.error());
    const auto job = m_runs.job(feed->run);
    if (!job || !job->request.options.feed)
        return refused({Errc::Invalid,
                        job ? "the run does not score tokens that arrive" : "the run has ended",
                        {},
                        "Feed a run that was begun with replay-live"});
    std::optional<std::uint64_t> first;
    if (feed->first >= 0)
        first = static_cast<std::uint64_t>(feed->first);
    // Why the response ended is the other run's affair: as in a replay of its capture.
    const auto added = job->request.options.feed->add(feed->sample, first, feed->ids, feed->end);
    return added ? reply(wire::type::fed, {{"run", feed->run}}) : refused(added.error());
}

wire::Message Daemon::cancel(const wire::Message& request)
{
    const auto run = wire::textField(request.fields, "run");
    if (!run)
        return refused(run.error());
    if (const auto cancelled = m_runs.cancel(*run); !cancelled)
        return refused(cancelled.error());
    m_options.log(EventLevel::Info, "run-cancelled", {{"run", *run}});
    return reply(wire::type::cancelled, {{"run", *run}});
}

wire::Message Daemon::status() const
{
    using Seconds = std::chrono::duration<double>;
    wire::DaemonStatus status;
    status.program = m_options.program;
    status.uptime = Seconds(std::chrono::steady_clock::now() - m_begin).count();
    status.run = m_runs.current();
    status.state = m_stopping ? "stopping" : status.run.empty() ? "idle" : "running";
    status.queue = m_runs.queue();
    status.held = m_hold->held;
    status.holdLimit = m_hold->bytes;
    status.spool = m_spool ? m_spool->bytes() : 0;
    status.spoolLimit = m_spool ? m_spool->limit() : 0;
    status.waited = m_runs.secondsWaited();
    status.memory = residentBytes();
    status.device = m_device;
    return reply(wire::type::status, toFields(status));
}

} // namespace moire::capture
