// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/connection.h"

#include "core/wire/client_loop.h"
#include "core/wire/protocol.h"
#include "core/wire/random_text.h"

#include <zmq.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace moire::wire {

namespace {

using AfterLoss = ControlSession::AfterLoss;

Result<void> checkOptions(const ConnectionOptions& options, const Address& address)
{
    if (address.scheme == "tcp" && (address.port == 0 || address.host == "*"))
        return Error{Errc::Invalid,
                     "'" + options.address + "' is no place to connect to",
                     {},
                     "Name host and port, such as tcp://127.0.0.1:7431"};
    if (options.own.has_value() != options.serverKey.has_value())
        return Error{Errc::Invalid,
                     options.own ? "the daemon's public key is missing"
                                 : "a key of one's own is missing",
                     {},
                     options.own ? "Give it with --server-key; the daemon prints it when it starts"
                                 : "Make one with moire-capture keygen and give it with --key"};
    if (options.own && zmq_has("curve") == 0)
        return Error{Errc::Unsupported,
                     "this libzmq was built without CURVE",
                     {},
                     "Use an SSH tunnel instead of keys"};
    if (!options.own && !options.insecure && !address.isLocal())
        return Error{Errc::Invalid,
                     "another machine is reached without keys, so that anyone on the way can read "
                     "and change what travels",
                     options.address,
                     "Give --key and --server-key, use an SSH tunnel, or say --insecure"};
    return {};
}

Message requestOf(std::string_view type, Fields fields = Fields::object())
{
    fields["t"] = type;
    return {std::move(fields), {}};
}

/// The entries of a list in a reply, each read by `read`.
template <class T>
Result<std::vector<T>> listOf(const Result<Message>& reply, const char* name,
                              Result<T> (*read)(const Fields&))
{
    if (!reply)
        return reply.error();
    const auto list = listField(reply->fields, name);
    if (!list)
        return list.error();
    std::vector<T> values;
    for (const Fields& entry : **list) {
        auto value = read(entry);
        if (!value)
            return value.error();
        values.push_back(*std::move(value));
    }
    return values;
}

template <class T>
Result<T> valueOf(const Result<Message>& reply, Result<T> (*read)(const Fields&))
{
    return reply ? read(reply->fields) : Result<T>(reply.error());
}

/// A sample as a list of prompts has it.
Result<SampleBegin> toSampleBegin(const Fields& fields)
{
    Message message{fields, {}};
    if (!message.fields.is_object())
        return Error{Errc::Damaged, "a list of prompts has an entry that is no map", {}, {}};
    message.fields["t"] = type::sample;
    const trace::RunHeader any;
    auto read = readRunMessage(message, &any);
    if (!read)
        return read.error();
    return std::get<SampleBegin>(*std::move(read));
}

Result<void> doneOf(const Result<Message>& reply)
{
    return reply ? Result<void>() : Result<void>(reply.error());
}

} // namespace

class Connection::State
{
public:
    State(const ConnectionOptions& options, Address address)
        : m_loop(options, std::move(address), [this] { told(); })
        , m_thread([this](const std::stop_token& stop) {
            while (!stop.stop_requested())
                m_loop.step();
            m_loop.close();
        })
    {}
    ~State()
    {
        m_thread.request_stop();
        m_loop.wake();
        m_thread.join();
    }

    Result<Message> ask(Message request, std::string_view answer,
                        AfterLoss afterLoss = AfterLoss::AskAgain);
    Result<Welcome> waitUntilConnected();
    ClientLoop& loop() { return m_loop; }
    void setPatience(Milliseconds patience)
    {
        const std::lock_guard lock(m_mutex);
        m_patience = patience;
    }
    void setStop(std::stop_token stop)
    {
        const std::lock_guard lock(m_mutex);
        m_stop = std::move(stop);
    }

private:
    using Clock = std::chrono::steady_clock;
    void told()
    {
        const std::lock_guard lock(m_mutex);
        m_changed.notify_all();
    }
    template <class Done>
    std::optional<Error> waitFor(Done done);

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    Milliseconds m_patience = defaultPatience;
    std::stop_token m_stop;
    ClientLoop m_loop;
    std::jthread m_thread;
};

/// Waits until `done`; an error when that takes too long or makes no sense any more.
template <class Done>
std::optional<Error> Connection::State::waitFor(Done done)
{
    std::unique_lock lock(m_mutex);
    const auto until = Clock::now() + m_patience;
    const std::stop_token stop = m_stop;
    const auto settled = [&] { return done() || m_loop.link() == LinkState::Refused; };
    const bool came = m_changed.wait_until(lock, stop, until, settled);
    if (done())
        return std::nullopt;
    if (stop.stop_requested())
        return Error{Errc::Cancelled, "stopped on request", {}, {}};
    const LinkState link = m_loop.link();
    if (came || link != LinkState::Connected) {
        Error trouble = m_loop.trouble();
        if (trouble.sentence.empty())
            trouble = {Errc::Io,
                       "the daemon was not heard of in time",
                       {},
                       "Check the address and that the daemon runs"};
        return trouble;
    }
    return Error{Errc::Io,
                 "the daemon did not answer within "
                     + std::to_string(std::chrono::ceil<std::chrono::seconds>(m_patience).count())
                     + " s",
                 {},
                 "Try again; its log may say what keeps it"};
}

Result<Welcome> Connection::State::waitUntilConnected()
{
    if (auto error = waitFor([this] { return m_loop.link() == LinkState::Connected; }))
        return *error;
    return *m_loop.welcome();
}

Result<Message> Connection::State::ask(Message request, std::string_view answer,
                                       AfterLoss afterLoss)
{
    struct Reply
    {
        std::mutex mutex;
        std::optional<Result<Message>> content;
    };
    const auto reply = std::make_shared<Reply>();
    const std::int64_t id =
        m_loop.ask(std::move(request), afterLoss, [reply](Result<Message> content) {
            const std::lock_guard lock(reply->mutex);
            reply->content = std::move(content);
        });
    m_loop.wake();
    const auto error = waitFor([&] {
        const std::lock_guard lock(reply->mutex);
        return reply->content.has_value();
    });
    if (error) {
        m_loop.forget(id);
        return *error;
    }
    const std::lock_guard lock(reply->mutex);
    if (*reply->content && (**reply->content).type() != answer)
        return Error{Errc::Damaged,
                     "the daemon answered something else than \"" + std::string(answer) + '"',
                     {},
                     {}};
    return *std::move(reply->content);
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionOptions& options)
{
    try {
        auto address = readAddress(options.address);
        if (!address)
            return address.error();
        if (auto checked = checkOptions(options, *address); !checked)
            return checked.error();
        return std::unique_ptr<Connection>(
            new Connection(std::make_unique<State>(options, *std::move(address))));
    } catch (const std::exception& failure) {
        return Error{Errc::Internal, std::string("cannot connect: ") + failure.what(), {}, {}};
    }
}

Connection::Connection(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

Connection::~Connection() = default;

LinkState Connection::link() const
{
    return m_state->loop().link();
}

Error Connection::trouble() const
{
    return m_state->loop().trouble();
}

std::optional<Welcome> Connection::welcome() const
{
    return m_state->loop().welcome();
}

void Connection::setPatience(Milliseconds patience)
{
    m_state->setPatience(patience);
}

void Connection::setStop(std::stop_token stop)
{
    m_state->setStop(std::move(stop));
}

Result<Welcome> Connection::waitUntilConnected()
{
    return m_state->waitUntilConnected();
}

Result<std::vector<ModelEntry>> Connection::models()
{
    return listOf<ModelEntry>(m_state->ask(requestOf(type::models), type::models), "models",
                              toModelEntry);
}

Result<std::vector<TapEntry>> Connection::taps(const RunRequest& request)
{
    return listOf<TapEntry>(m_state->ask(toMessage(request, type::taps), type::taps), "taps",
                            toTapEntry);
}

Result<Estimate> Connection::estimate(const RunRequest& request)
{
    return valueOf<Estimate>(m_state->ask(toMessage(request, type::estimate), type::estimate),
                             toEstimate);
}

Result<Queued> Connection::run(const RunRequest& request)
{
    Message message = toMessage(request, type::run);
    if (request.ticket.empty())
        message.fields["ticket"] = randomText();
    return valueOf<Queued>(m_state->ask(std::move(message), type::queued), toQueued);
}

Result<std::vector<RunState>> Connection::runs()
{
    return listOf<RunState>(m_state->ask(requestOf(type::runs), type::runs), "runs", toRunState);
}

Result<RunState> Connection::runState(const std::string& run)
{
    return valueOf<RunState>(
        m_state->ask(requestOf(type::runState, {{"run", run}}), type::runState), toRunState);
}

Result<std::vector<SampleBegin>> Connection::prompts(const std::string& run)
{
    return listOf<SampleBegin>(
        m_state->ask(requestOf(type::prompts, {{"run", run}}), type::prompts), "samples",
        toSampleBegin);
}

Result<void> Connection::feed(const Feed& feed)
{
    const AfterLoss afterLoss = feed.first < 0 ? AfterLoss::Fail : AfterLoss::AskAgain;
    return doneOf(m_state->ask(requestOf(type::feed, toFields(feed)), type::fed, afterLoss));
}

Result<void> Connection::cancel(const std::string& run)
{
    return doneOf(m_state->ask(requestOf(type::cancel, {{"run", run}}), type::cancelled));
}

Result<void> Connection::forget(const std::string& run)
{
    return doneOf(m_state->ask(requestOf(type::forget, {{"run", run}}), type::forgotten));
}

Result<DaemonStatus> Connection::status()
{
    return valueOf<DaemonStatus>(m_state->ask(requestOf(type::status), type::status),
                                 toDaemonStatus);
}

Result<std::unique_ptr<RunStream>> Connection::stream(const std::string& run,
                                                      const StreamOptions& options)
{
    auto stream = m_state->loop().addStream(run, options);
    m_state->loop().wake();
    return std::unique_ptr<RunStream>(std::make_unique<StreamHandle>(std::move(stream)));
}

} // namespace moire::wire
