// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/server/served.h"

#include "capture/server/message_run.h"
#include "capture/task/token_offsets.h"
#include "core/wire/protocol.h"
#include "core/wire/run_receiver.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace moire::capture::served {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds patience{20};

const char* textOf(const wire::RunRequest& request, const std::string& name)
{
    const auto found = request.options.find(name);
    const auto* text =
        found == request.options.end() ? nullptr : std::get_if<std::string>(&found->second);
    return text == nullptr ? nullptr : text->c_str();
}

std::int64_t numberOf(const wire::RunRequest& request, const std::string& name)
{
    const auto found = request.options.find(name);
    const auto* number =
        found == request.options.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return number == nullptr ? 0 : *number;
}

std::vector<Prompt> promptsOf(const std::string& text, bool replayed)
{
    std::vector<Prompt> prompts;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line, ',');) {
        Prompt prompt;
        prompt.sample.id = std::to_string(prompts.size());
        prompt.sample.replaySource = replayed ? prompt.sample.id : std::string();
        std::istringstream ids(line);
        for (std::int32_t id = 0; ids >> id;)
            prompt.ids.push_back(id);
        prompt.promptLength = static_cast<std::uint32_t>(prompt.ids.size());
        prompts.push_back(std::move(prompt));
    }
    return prompts;
}

} // namespace

Result<RunOptions> Interpreter::options(const wire::RunRequest& request, const ShelvedModel&)
{
    if (const char* what = textOf(request, "explode")) {
        if (std::string(what) == "memory")
            throw std::bad_alloc();
        throw std::runtime_error(what);
    }
    RunOptions options;
    options.threads = 1;
    options.digestWeights = false;
    options.ignoreEnd = true;
    options.maxNew = static_cast<std::uint32_t>(numberOf(request, "max-new"));
    if (const char* level = textOf(request, "level"))
        options.level = trace::levelFromName(level).value_or(trace::Level::Full);
    if (const char* taps = textOf(request, "taps"))
        options.tapPatterns = {taps};
    if (const char* policy = textOf(request, "policy"))
        options.policy = policy;
    if (request.options.contains("replay-live")) {
        options.liveTokens = std::exchange(options.maxNew, 0);
        options.construction = trace::Construction::Steps;
        options.ignoreEnd = false;
    }
    return options;
}

Result<RequestedRun> Interpreter::run(const wire::RunRequest& request, const ShelvedModel& model)
{
    auto options = this->options(request, model);
    if (!options)
        return options.error();
    const char* ids = textOf(request, "ids");
    auto prompts = promptsOf(ids == nullptr ? "" : ids, options->liveTokens.has_value());
    auto plan = planRun(model.checkpoint, *options, prompts);
    if (!plan)
        return plan.error();
    RequestedRun run{*options, std::make_shared<const std::vector<Prompt>>(prompts), *plan, {}};
    run.description.set(trace::env::commandLine, std::string("asked directly"));
    return run;
}

Folder::Folder()
{
    std::string name = (fs::temp_directory_path() / "moire-served-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        std::abort();
    path = name;
}

Folder::~Folder()
{
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

void makeModels(const fs::path& folder)
{
    const char* root = std::getenv("MOIRE_SOURCE");
    const fs::path models = fs::path(root ? root : ".") / "tests/data/models";
    const auto copy = [&](const char* from, const fs::path& to) {
        fs::create_directories(to);
        for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
            if (fs::exists(models / from / file))
                fs::copy_file(models / from / file, to / file);
    };
    copy("llama_small", folder / "small");
    copy("llama_odd", folder / "deep" / "odd");
    copy("llama_small", folder / "broken");
    fs::resize_file(folder / "broken" / "model.safetensors", 1000);
    fs::create_directories(folder / "empty");
}

wire::Message ask(Daemon& daemon, wire::Message request)
{
    auto answered = std::make_shared<std::promise<wire::Message>>();
    auto reply = answered->get_future();
    daemon.handle(std::move(request),
                  [answered](wire::Message message) { answered->set_value(std::move(message)); });
    if (reply.wait_for(patience) != std::future_status::ready)
        return wire::Message{{{"t", "nothing"}}, {}};
    return reply.get();
}

wire::Message request(std::string_view type, wire::Fields fields)
{
    fields["t"] = type;
    return {std::move(fields), {}};
}

wire::Message runRequest(const std::string& ids, int maxNew, wire::Fields options)
{
    if (options.is_null())
        options = wire::Fields::object();
    options["ids"] = ids;
    options["max-new"] = maxNew;
    return request(wire::type::run, {{"model", "small"}, {"options", std::move(options)}});
}

std::string begin(Daemon& daemon, const wire::Message& asked)
{
    const auto reply = ask(daemon, asked);
    return reply.type() == wire::type::queued ? *wire::textField(reply.fields, "run")
                                              : std::string();
}

std::string reasonOf(const wire::Message& reply)
{
    const auto reason = wire::textField(reply.fields, "reason");
    return reply.type() == wire::type::refused && reason ? *reason : "none: " + reply.fields.dump();
}

wire::RunState stateOf(Daemon& daemon, const std::string& run)
{
    const auto reply = ask(daemon, request(wire::type::runState, {{"run", run}}));
    const auto state = wire::toRunState(reply.fields);
    if (state)
        return *state;
    wire::RunState none;
    none.state = reasonOf(reply);
    return none;
}

bool soon(const std::function<bool()>& condition)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

bool ends(Daemon& daemon, const std::string& run)
{
    return soon([&] {
        const std::string state = stateOf(daemon, run).state;
        return state != wire::state::queued && state != wire::state::loading
               && state != wire::state::running && state != wire::state::waiting;
    });
}

std::vector<wire::Packed> messagesOf(const wire::RunLog& log)
{
    std::vector<wire::Packed> messages;
    for (std::uint64_t i = 0; i < log.size(); ++i)
        if (auto message = log.read(i, {}))
            messages.push_back(*std::move(message));
    return messages;
}

trace::RunPointer runOf(const wire::RunLog& log)
{
    std::shared_ptr<trace::RunBuilder> builder;
    /// Hands on to the builder, which outlives the receiver.
    struct Sink : trace::RunSink
    {
        explicit Sink(std::shared_ptr<trace::RunBuilder> target)
            : to(std::move(target))
        {}
        Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                               const std::vector<trace::Token>& prompt) override
        {
            return to->beginSample(sample, prompt);
        }
        Result<void> addTokens(trace::SampleIndex sample,
                               const std::vector<trace::Token>& tokens) override
        {
            return to->addTokens(sample, tokens);
        }
        Result<void> append(trace::RowBlock block) override { return to->append(std::move(block)); }
        Result<void> addEvent(const trace::Event& event) override { return to->addEvent(event); }
        Result<void> endSample(trace::SampleIndex sample, const std::string& stop,
                               const std::string& prediction) override
        {
            return to->endSample(sample, stop, prediction);
        }
        Result<void> finish(const trace::Environment& closing) override
        {
            return to->finish(closing);
        }
        std::shared_ptr<trace::RunBuilder> to;
    };
    wire::RunReceiver receiver([&](const trace::RunHeader& header, wire::PlannedRows) {
        builder = std::make_shared<trace::RunBuilder>(header, "received");
        return Result<std::unique_ptr<trace::RunSink>>(std::make_unique<Sink>(builder));
    });
    for (const wire::Packed& packed : messagesOf(log)) {
        const auto message = wire::unpack(packed, wire::clientLimits);
        if (!message || !receiver.take(*message))
            return nullptr;
    }
    return builder ? builder->snapshot() : nullptr;
}

trace::RunPointer expectedRun(const fs::path& model, const wire::Message& asked)
{
    ShelvedModel shelved;
    shelved.checkpoint = *openCheckpoint(model);
    auto run = Interpreter().run(*wire::toRunRequest(asked), shelved);
    if (!run)
        return nullptr;
    run->options.digestWeights = true;
    auto plan = planRun(shelved.checkpoint, run->options, *run->prompts);
    const auto weights = loadModel(shelved.checkpoint, run->options);
    if (!plan || !weights)
        return nullptr;
    for (const auto& [key, value] : run->description.fields())
        plan->header.environment.set(key, value);
    trace::RunBuilder builder(plan->header, "expected");
    TokenOffsets sink(builder);
    base::Progress progress;
    const auto ran = runModel(**weights, shelved.checkpoint, run->options, *plan, *run->prompts,
                              sink, {}, progress);
    return ran ? builder.snapshot() : nullptr;
}

namespace {

std::string headerDifference(const trace::RunHeader& a, const trace::RunHeader& b)
{
    const auto lasting = [](const trace::Environment& environment) {
        std::string text;
        for (const auto& [key, value] : environment.fields())
            if (!trace::isIncidental(key))
                text += key + '=' + trace::textOf(value) + '\n';
        return text;
    };
    if (lasting(a.environment) != lasting(b.environment))
        return "environment:\n" + lasting(a.environment) + "against\n" + lasting(b.environment);
    if (a.taps != b.taps || a.level != b.level || a.vocabulary != b.vocabulary)
        return "header";
    return {};
}

bool sameRow(const trace::Run& a, const trace::Run& b, trace::RowIndex r)
{
    if (!(a.row(r) == b.row(r)) || !std::ranges::equal(a.digests(r), b.digests(r))
        || !std::ranges::equal(a.counts(r), b.counts(r))
        || a.statistics(r).size() != b.statistics(r).size()
        || !std::ranges::equal(a.topK(r)->ids, b.topK(r)->ids)
        || !std::ranges::equal(a.topK(r)->values, b.topK(r)->values)
        || a.topK(r)->logSumExp != b.topK(r)->logSumExp)
        return false;
    if (a.header().level != trace::Level::Full)
        return true;
    for (std::size_t t = 0; t < a.header().taps.size(); ++t) {
        const auto tap = static_cast<trace::TapIndex>(t);
        const auto left = a.values(tap, r, r + 1);
        const auto right = b.values(tap, r, r + 1);
        if (!left || !right
            || !std::equal(left->row(r), left->row(r) + a.header().taps[t].rowBytes(),
                           right->row(r)))
            return false;
    }
    return true;
}

} // namespace

std::string difference(const trace::Run& a, const trace::Run& b)
{
    if (const std::string header = headerDifference(a.header(), b.header()); !header.empty())
        return header;
    if (a.rowCount() != b.rowCount() || a.samples().size() != b.samples().size())
        return "rows " + std::to_string(a.rowCount()) + " against " + std::to_string(b.rowCount());
    for (std::size_t s = 0; s < a.samples().size(); ++s) {
        const auto sample = static_cast<trace::SampleIndex>(s);
        if (!(a.samples()[s] == b.samples()[s])
            || !std::ranges::equal(a.tokens(sample), b.tokens(sample)))
            return "sample " + std::to_string(s);
    }
    for (trace::RowIndex r = 0; r < a.rowCount(); ++r)
        if (!sameRow(a, b, r))
            return "row " + std::to_string(r);
    return a.complete() == b.complete() ? std::string() : "one is incomplete";
}

} // namespace moire::capture::served
