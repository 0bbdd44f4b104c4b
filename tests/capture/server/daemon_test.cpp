// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/daemon.h"
#include "core/wire/protocol.h"
#include "tests/capture/server/served.h"

#include <QFloat16>
#include <QTest>

#include <atomic>

using namespace moire;
using namespace moire::capture;
namespace state = moire::wire::state;
namespace type = moire::wire::type;
namespace reason = moire::wire::reason;

/// The daemon behind the protocol: what it answers, and what becomes of runs.
class DaemonTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

    void modelsAreListed();
    void namesThatLeaveAreRefused_data();
    void namesThatLeaveAreRefused();
    void aRunIsWhatTheEngineMakes_data();
    void aRunIsWhatTheEngineMakes();
    void weightsAreKept();
    void runsWaitInLine();
    void aQueuedRunIsCancelled();
    void aRunningRunIsCancelled();
    void theQueueIsFullAtLast();
    void aRunThatFailsEndsAlone();
    void requestsThatMakeNoSense_data();
    void requestsThatMakeNoSense();
    void anExplosionIsARefusal();
    void aTicketIsOneRun();
    void feedsScoreWhatArrives();
    void feedsThatMakeNoSense();
    void promptsOfARun();
    void estimateAndTaps();
    void forgetting();
    void endedRunsAreNotKeptForEver();
    void statusSaysWhatItDoes();
    void stopEndsEverything();

private:
    std::shared_ptr<wire::RunLog> logOf(const std::string& run) { return m_daemon->log(run); }
    static constexpr int longRun = 400; ///< tokens: seconds, were it not cancelled

    served::Folder m_folder;
    served::Interpreter m_interpreter;
    std::unique_ptr<Daemon> m_daemon;
    std::atomic<int> m_grown{0};
    std::atomic<int> m_started{0};
};

void DaemonTest::initTestCase()
{
    served::makeModels(m_folder / "models");
    std::filesystem::create_directories(m_folder / "outside");
    std::filesystem::create_directory_symlink(m_folder / "models" / "small",
                                              m_folder / "models" / "inward");
    std::filesystem::copy(m_folder / "models" / "small", m_folder / "outside" / "model",
                          std::filesystem::copy_options::recursive);
    std::filesystem::create_directory_symlink(m_folder / "outside" / "model",
                                              m_folder / "models" / "outward");
    std::filesystem::copy(m_folder / "models" / "small", m_folder / "models" / "mixed",
                          std::filesystem::copy_options::recursive);
    std::filesystem::remove(m_folder / "models" / "mixed" / "tokenizer.json");
    std::filesystem::create_symlink(m_folder / "outside" / "model" / "tokenizer.json",
                                    m_folder / "models" / "mixed" / "tokenizer.json");
}

void DaemonTest::init()
{
    DaemonOptions options;
    options.models = m_folder / "models";
    options.program = "moire-capture test";
    auto daemon = Daemon::create(options, m_interpreter);
    QVERIFY(daemon);
    m_daemon = *std::move(daemon);
    m_grown = 0;
    m_started = 0;
    m_daemon->start({[this] { ++m_grown; }, [this](const auto&) { ++m_started; }});
}

void DaemonTest::cleanup()
{
    m_daemon.reset();
}

void DaemonTest::modelsAreListed()
{
    const auto reply = served::ask(*m_daemon, served::request(type::models));
    QCOMPARE(reply.type(), type::models);
    std::map<std::string, wire::ModelEntry> models;
    for (const wire::Fields& fields : reply.fields.at("models")) {
        const auto entry = wire::toModelEntry(fields);
        QVERIFY(entry);
        models[entry->name] = *entry;
    }
    QCOMPARE(models.size(), std::size_t{6});
    QCOMPARE(models.at("small").kind, std::string("folder"));
    QCOMPARE(models.at("small").architecture, std::string("LlamaForCausalLM"));
    QVERIFY(models.at("small").bytes > 480'336);
    QCOMPARE(models.at("small").problem, std::string());
    QCOMPARE(models.at("deep/odd").problem, std::string());
    QCOMPARE(models.at("inward").problem, std::string());
    QVERIFY(!models.at("broken").problem.empty());
    QVERIFY(models.at("outward").problem.find("link leads out") != std::string::npos);
    QVERIFY(models.at("mixed").problem.find("link leads out") != std::string::npos);
}

void DaemonTest::namesThatLeaveAreRefused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("reason");
    const QString invalid = "invalid";
    QTest::newRow("parent") << ".." << invalid;
    QTest::newRow("through a parent") << "small/../../outside/model" << invalid;
    QTest::newRow("back again") << "deep/../small" << invalid;
    QTest::newRow("absolute") << "/etc" << invalid;
    QTest::newRow("absolute to the shelf")
        << QString::fromStdString((m_folder / "models/small").string()) << invalid;
    QTest::newRow("here") << "./small" << invalid;
    QTest::newRow("empty") << "" << invalid;
    QTest::newRow("empty part") << "deep//odd" << invalid;
    QTest::newRow("the shelf itself") << "." << invalid;
    QTest::newRow("control character") << "small\n" << invalid;
    QTest::newRow("backslash") << "..\\outside" << invalid;
    QTest::newRow("long") << QString(2000, 'a') << invalid;
    QTest::newRow("a link that leads out") << "outward" << invalid;
    QTest::newRow("a file that leads out") << "mixed" << invalid;
    QTest::newRow("no model") << "empty"
                              << "not-found";
    QTest::newRow("nothing") << "none"
                             << "not-found";
    QTest::newRow("a file of a model") << "small/config.json"
                                       << "not-found";
}

void DaemonTest::namesThatLeaveAreRefused()
{
    QFETCH(QString, name);
    QFETCH(QString, reason);
    for (const std::string_view asked : {type::taps, type::estimate, type::run}) {
        auto request = served::runRequest("5 6", 1);
        request.fields["t"] = asked;
        request.fields["model"] = name.toStdString();
        const auto reply = served::ask(*m_daemon, request);
        QCOMPARE(QString::fromStdString(served::reasonOf(reply)), reason);
        const std::string told = reply.fields.dump();
        QVERIFY2(name.contains("models") || told.find(m_folder.path.string()) == std::string::npos,
                 told.c_str());
    }
}

void DaemonTest::aRunIsWhatTheEngineMakes_data()
{
    QTest::addColumn<QString>("level");
    for (const char* level : {"full", "topk", "digest"})
        QTest::newRow(level) << level;
}

void DaemonTest::aRunIsWhatTheEngineMakes()
{
    QFETCH(QString, level);
    const auto asked =
        served::runRequest("5 6 7 8,9 10", 6, {{"level", level.toStdString()}, {"policy", "bf16"}});
    const std::string run = served::begin(*m_daemon, asked);
    QVERIFY(!run.empty());
    QVERIFY(served::ends(*m_daemon, run));
    const auto ended = served::stateOf(*m_daemon, run);
    QCOMPARE(ended.state, std::string(state::finished));
    QCOMPARE(ended.rows, std::uint64_t{16});
    QCOMPARE(ended.planned, std::uint64_t{16});
    QVERIFY(ended.bytes > 0);
    QVERIFY(!ended.spooled);
    const auto log = logOf(run);
    QCOMPARE(ended.messages, log->size());
    const auto received = served::runOf(*log);
    const auto expected = served::expectedRun(m_folder / "models/small", asked);
    QVERIFY(received && expected);
    QCOMPARE(served::difference(*received, *expected), std::string());
    QVERIFY(m_grown > 0);
    QCOMPARE(m_started.load(), 1);
}

/// The second run of the same model gives the same bits, and one with another policy its own.
void DaemonTest::weightsAreKept()
{
    std::vector<trace::RunPointer> runs;
    for (const char* policy : {"fp32", "fp32", "bf16", "fp32"}) {
        const auto asked = served::runRequest("5 6 7", 4, {{"policy", policy}});
        const std::string run = served::begin(*m_daemon, asked);
        QVERIFY(served::ends(*m_daemon, run));
        runs.push_back(served::runOf(*logOf(run)));
        QVERIFY(runs.back());
        const auto expected = served::expectedRun(m_folder / "models/small", asked);
        QCOMPARE(served::difference(*runs.back(), *expected), std::string());
    }
    QCOMPARE(served::difference(*runs[0], *runs[1]), std::string());
    QCOMPARE(served::difference(*runs[0], *runs[3]), std::string());
}

void DaemonTest::runsWaitInLine()
{
    const auto first = served::ask(*m_daemon, served::runRequest("5 6", longRun));
    const auto second = served::ask(*m_daemon, served::runRequest("5 6", 2));
    const auto third = served::ask(*m_daemon, served::runRequest("5 6", 2));
    const std::string names[]{*wire::textField(first.fields, "run"),
                              *wire::textField(second.fields, "run"),
                              *wire::textField(third.fields, "run")};
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, names[0]).rows > 3; }));
    QCOMPARE(served::stateOf(*m_daemon, names[1]).place, 1U);
    QCOMPARE(served::stateOf(*m_daemon, names[2]).place, 2U);
    QCOMPARE(served::stateOf(*m_daemon, names[2]).state, std::string(state::queued));
    const auto status = served::ask(*m_daemon, served::request(type::status));
    QCOMPARE(status.fields.at("run").get<std::string>(), names[0]);
    QVERIFY((status.fields.at("queue") == wire::Fields{names[1], names[2]}));
    const auto cancelled =
        served::ask(*m_daemon, served::request(type::cancel, {{"run", names[0]}}));
    QCOMPARE(cancelled.type(), type::cancelled);
    for (const std::string& name : names)
        QVERIFY(served::ends(*m_daemon, name));
    QCOMPARE(served::stateOf(*m_daemon, names[2]).state, std::string(state::finished));
    const auto runs = served::ask(*m_daemon, served::request(type::runs));
    QCOMPARE(runs.fields.at("runs").size(), std::size_t{3});
}

void DaemonTest::aQueuedRunIsCancelled()
{
    const std::string first = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    const std::string second = served::begin(*m_daemon, served::runRequest("5 6", 2));
    const auto log = logOf(second);
    served::ask(*m_daemon, served::request(type::cancel, {{"run", second}}));
    QCOMPARE(served::stateOf(*m_daemon, second).state, std::string(state::cancelled));
    QVERIFY(log->closed());
    QCOMPARE(log->size(), std::uint64_t{1});
    QVERIFY(served::stateOf(*m_daemon, first).state != std::string(state::cancelled));
    served::ask(*m_daemon, served::request(type::cancel, {{"run", first}}));
    QVERIFY(served::ends(*m_daemon, first));
    // Once more is no error, another name is one.
    QCOMPARE(served::ask(*m_daemon, served::request(type::cancel, {{"run", first}})).type(),
             type::cancelled);
    QCOMPARE(
        served::reasonOf(served::ask(*m_daemon, served::request(type::cancel, {{"run", "x"}}))),
        std::string(reason::notFound));
}

void DaemonTest::aRunningRunIsCancelled()
{
    const std::string run = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, run).rows > 5; }));
    const auto rows = logOf(run)->rows();
    served::ask(*m_daemon, served::request(type::cancel, {{"run", run}}));
    QVERIFY(served::ends(*m_daemon, run));
    const auto ended = served::stateOf(*m_daemon, run);
    QCOMPARE(ended.state, std::string(state::cancelled));
    QVERIFY(!ended.sentence.empty());
    QVERIFY(ended.rows >= rows && ended.rows < longRun);
    const auto last = wire::unpack(served::messagesOf(*logOf(run)).back(), wire::clientLimits);
    QCOMPARE(last->type(), type::broken);
    QCOMPARE(*wire::textField(last->fields, "state"), std::string(state::cancelled));
}

void DaemonTest::theQueueIsFullAtLast()
{
    const std::string first = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, first).rows > 0; }));
    for (std::size_t i = 0; i < wire::maxQueue; ++i)
        QVERIFY(!served::begin(*m_daemon, served::runRequest("5 6", 2)).empty());
    QCOMPARE(served::reasonOf(served::ask(*m_daemon, served::runRequest("5 6", 2))),
             std::string(reason::busy));
}

void DaemonTest::aRunThatFailsEndsAlone()
{
    // The weights go bad between the request and the run.
    const std::string waits = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    auto doomed = served::runRequest("5 6", 2);
    doomed.fields["model"] = "doomed";
    std::filesystem::copy(m_folder / "models" / "small", m_folder / "models" / "doomed",
                          std::filesystem::copy_options::recursive);
    const std::string run = served::begin(*m_daemon, doomed);
    QVERIFY(!run.empty());
    std::filesystem::resize_file(m_folder / "models" / "doomed" / "model.safetensors", 100);
    const std::string after = served::begin(*m_daemon, served::runRequest("5 6", 2));
    served::ask(*m_daemon, served::request(type::cancel, {{"run", waits}}));
    QVERIFY(served::ends(*m_daemon, run));
    QCOMPARE(served::stateOf(*m_daemon, run).state, std::string(state::failed));
    QVERIFY(!served::stateOf(*m_daemon, run).sentence.empty());
    QVERIFY(logOf(run)->closed());
    QVERIFY(served::ends(*m_daemon, after));
    QCOMPARE(served::stateOf(*m_daemon, after).state, std::string(state::finished));
    std::filesystem::remove_all(m_folder / "models" / "doomed");
}

void DaemonTest::requestsThatMakeNoSense_data()
{
    QTest::addColumn<QByteArray>("request");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* name, const wire::Fields& fields, std::string_view reason) {
        QTest::newRow(name) << QByteArray::fromStdString(fields.dump())
                            << QString::fromStdString(std::string(reason));
    };
    row("unknown", {{"t", "dance"}}, reason::unsupported);
    row("no type", {{"x", 1}}, reason::unsupported);
    row("no run", {{"t", "run-state"}}, reason::invalid);
    row("run is a number", {{"t", "cancel"}, {"run", 5}}, reason::invalid);
    row("no such run", {{"t", "run-state"}, {"run", "20200101"}}, reason::notFound);
    row("a path as a run", {{"t", "forget"}, {"run", "../models/small"}}, reason::notFound);
    row("prompts of nothing", {{"t", "prompts"}, {"run", ""}}, reason::notFound);
    row("no model", {{"t", "run"}}, reason::invalid);
    row("options are a list", {{"t", "run"}, {"model", "small"}, {"options", {1, 2}}},
        reason::invalid);
    row("an option is null", {{"t", "run"}, {"model", "small"}, {"options", {{"ids", nullptr}}}},
        reason::invalid);
    row("a file that did not come",
        {{"t", "run"}, {"model", "small"}, {"options", {{"ids", {{"file", 0}}}}}}, reason::invalid);
    row("an id outside the vocabulary",
        {{"t", "run"}, {"model", "small"}, {"options", {{"ids", "99999"}}}}, reason::invalid);
    row("a policy that is none",
        {{"t", "estimate"}, {"model", "small"}, {"options", {{"ids", "5"}, {"policy", "fp13"}}}},
        reason::invalid);
    row("a broken model", {{"t", "run"}, {"model", "broken"}, {"options", {{"ids", "5"}}}},
        reason::invalid);
    row("feed of nothing",
        {{"t", "feed"},
         {"run", "x"},
         {"sample", 0},
         {"first", -1},
         {"ids", {1}},
         {"end", false},
         {"stop", ""}},
        reason::notFound);
}

void DaemonTest::requestsThatMakeNoSense()
{
    QFETCH(QByteArray, request);
    QFETCH(QString, reason);
    const auto reply = served::ask(*m_daemon, {wire::Fields::parse(request.toStdString()), {}});
    QCOMPARE(QString::fromStdString(served::reasonOf(reply)), reason);
    QVERIFY(!wire::textField(reply.fields, "sentence")->empty());
}

void DaemonTest::anExplosionIsARefusal()
{
    for (const char* what : {"memory", "boom"}) {
        const auto reply =
            served::ask(*m_daemon, served::runRequest("5 6", 1, {{"explode", what}}));
        QCOMPARE(served::reasonOf(reply), std::string(reason::internal));
    }
    QVERIFY(!served::begin(*m_daemon, served::runRequest("5 6", 1)).empty());
}

void DaemonTest::aTicketIsOneRun()
{
    auto asked = served::runRequest("5 6", 2);
    asked.fields["ticket"] = "a7";
    const std::string run = served::begin(*m_daemon, asked);
    QCOMPARE(served::begin(*m_daemon, asked), run);
    QVERIFY(served::ends(*m_daemon, run));
    QCOMPARE(served::begin(*m_daemon, asked), run);
    asked.fields["ticket"] = "a8";
    QVERIFY(served::begin(*m_daemon, asked) != run);
}

void DaemonTest::feedsScoreWhatArrives()
{
    // The free run first, whose tokens then arrive piece by piece.
    const std::string free = served::begin(*m_daemon, served::runRequest("5 6 7,9 10", 5));
    QVERIFY(served::ends(*m_daemon, free));
    const auto reference = served::runOf(*logOf(free));
    const std::string run =
        served::begin(*m_daemon, served::runRequest("5 6 7,9 10", 8, {{"replay-live", true}}));
    QVERIFY(!run.empty());
    for (unsigned s = 0; s < 2; ++s) {
        std::vector<std::int32_t> ids;
        for (const trace::Token& token : reference->tokens(static_cast<trace::SampleIndex>(s)))
            if (token.response)
                ids.push_back(token.id);
        for (std::size_t i = 0; i <= ids.size(); ++i) {
            wire::Feed feed{run,
                            static_cast<trace::SampleIndex>(s),
                            static_cast<std::int64_t>(i),
                            {},
                            i == ids.size(),
                            "length"};
            if (i < ids.size())
                feed.ids = {ids[i]};
            for (int twice = 0; twice < 2; ++twice)
                QCOMPARE(served::ask(*m_daemon, {toFields(feed), {}}).type(), type::fed);
        }
    }
    QVERIFY(served::ends(*m_daemon, run));
    QCOMPARE(served::stateOf(*m_daemon, run).state, std::string(state::finished));
    const auto scored = served::runOf(*logOf(run));
    QCOMPARE(scored->rowCount(), reference->rowCount());
    QCOMPARE(scored->header().environment.text("run.replay"), std::string("forced"));
    QCOMPARE(scored->header().environment.text("run.construction"), std::string("steps"));
    for (trace::RowIndex r = 0; r < scored->rowCount(); ++r)
        QVERIFY(std::ranges::equal(scored->digests(r), reference->digests(r)));
}

void DaemonTest::feedsThatMakeNoSense()
{
    const std::string run =
        served::begin(*m_daemon, served::runRequest("5 6", 3, {{"replay-live", true}}));
    const auto fed = [&](unsigned sample, std::int64_t first, std::vector<std::int32_t> ids) {
        const wire::Feed feed{
            run, static_cast<trace::SampleIndex>(sample), first, std::move(ids), false, ""};
        return served::reasonOf(served::ask(*m_daemon, {toFields(feed), {}}));
    };
    QCOMPARE(fed(7, -1, {5}), std::string(reason::notFound));
    QCOMPARE(fed(0, -1, {99999}), std::string(reason::invalid));
    QCOMPARE(fed(0, 2, {5}), std::string(reason::invalid));
    QCOMPARE(fed(0, -1, {5, 5, 5, 5}), std::string(reason::invalid));
    // It waits for tokens; cancelling does not.
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, run).state == state::running; }));
    served::ask(*m_daemon, served::request(type::cancel, {{"run", run}}));
    QVERIFY(served::ends(*m_daemon, run));
    QCOMPARE(fed(0, -1, {5}), std::string(reason::invalid));
    const std::string free = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    const wire::Feed feed{free, trace::SampleIndex{0}, -1, {5}, false, ""};
    QCOMPARE(served::reasonOf(served::ask(*m_daemon, {toFields(feed), {}})),
             std::string(reason::invalid));
}

void DaemonTest::promptsOfARun()
{
    const std::string run = served::begin(*m_daemon, served::runRequest("5 6 7,9 10", 3));
    const auto before = served::ask(*m_daemon, served::request(type::prompts, {{"run", run}}));
    QCOMPARE(before.type(), type::prompts);
    QVERIFY(served::ends(*m_daemon, run));
    const auto after = served::ask(*m_daemon, served::request(type::prompts, {{"run", run}}));
    QVERIFY(after.fields == before.fields);
    QCOMPARE(after.fields.at("samples").size(), std::size_t{2});
    // As in the run's own messages.
    for (const wire::Packed& packed : served::messagesOf(*logOf(run))) {
        auto message = *wire::unpack(packed, wire::clientLimits);
        if (message.type() != type::sample)
            continue;
        for (const char* field : {"t", "run", "seq"})
            message.fields.erase(field);
        QVERIFY(after.fields.at("samples").at(message.fields.at("sample").get<std::size_t>())
                == message.fields);
    }
}

void DaemonTest::estimateAndTaps()
{
    auto asked = served::runRequest("5 6 7,9 10", 3);
    asked.fields["t"] = type::estimate;
    const auto estimate = wire::toEstimate(served::ask(*m_daemon, asked).fields);
    QVERIFY(estimate);
    QCOMPARE(estimate->rows, std::uint64_t{9});
    QCOMPARE(estimate->samples, std::uint64_t{2});
    QVERIFY(estimate->bytes > 0 && estimate->seconds > 0 && estimate->taps > 10);
    const auto taps = served::ask(
        *m_daemon,
        served::request(type::taps, {{"model", "small"}, {"options", {{"taps", "*.out"}}}}));
    QVERIFY(taps.fields.at("taps").size() > 10);
    const auto tap = wire::toTapEntry(taps.fields.at("taps").at(0));
    QCOMPARE(tap->name, std::string("model.embed_tokens.out"));
    // Beside a run nothing is timed.
    const std::string run = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, run).rows > 0; }));
    QCOMPARE(wire::toEstimate(served::ask(*m_daemon, asked).fields)->seconds, 0.0);
}

void DaemonTest::forgetting()
{
    const std::string run = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    const auto forget = served::request(type::forget, {{"run", run}});
    QCOMPARE(served::reasonOf(served::ask(*m_daemon, forget)), std::string(reason::busy));
    served::ask(*m_daemon, served::request(type::cancel, {{"run", run}}));
    QVERIFY(served::ends(*m_daemon, run));
    auto reader = logOf(run);
    QCOMPARE(served::reasonOf(served::ask(*m_daemon, forget)), std::string(reason::busy));
    reader.reset();
    QVERIFY(served::soon([&] { return served::ask(*m_daemon, forget).type() == type::forgotten; }));
    QCOMPARE(served::stateOf(*m_daemon, run).state, std::string(reason::notFound));
    QVERIFY(logOf(run) == nullptr);
}

/// Without a spool the messages of runs that ended take memory.
void DaemonTest::endedRunsAreNotKeptForEver()
{
    std::vector<std::string> runs;
    for (int i = 0; i < 12; ++i) {
        runs.push_back(served::begin(*m_daemon, served::runRequest("5 6", 1)));
        QVERIFY(served::ends(*m_daemon, runs.back()));
    }
    QVERIFY(logOf(runs.front()) == nullptr);
    QVERIFY(logOf(runs.back()) != nullptr);
}

void DaemonTest::statusSaysWhatItDoes()
{
    const auto status =
        wire::toDaemonStatus(served::ask(*m_daemon, served::request(type::status)).fields);
    QVERIFY(status);
    QCOMPARE(status->state, std::string("idle"));
    QCOMPARE(status->program, std::string("moire-capture test"));
    QCOMPARE(status->holdLimit, std::uint64_t{256} << 20U);
    QVERIFY(status->memory > 1 << 20);
    QVERIFY(status->device.starts_with("cpu "));
}

void DaemonTest::stopEndsEverything()
{
    const std::string first = served::begin(*m_daemon, served::runRequest("5 6", longRun));
    const std::string second = served::begin(*m_daemon, served::runRequest("5 6", 2));
    QVERIFY(served::soon([&] { return served::stateOf(*m_daemon, first).rows > 0; }));
    const auto logs = {logOf(first), logOf(second)};
    m_daemon->stop();
    for (const auto& log : logs) {
        QVERIFY(log->closed());
        const auto last = wire::unpack(served::messagesOf(*log).back(), wire::clientLimits);
        QCOMPARE(*wire::textField(last->fields, "state"), std::string(state::lost));
    }
    QCOMPARE(served::reasonOf(served::ask(*m_daemon, served::runRequest("5 6", 2))),
             std::string(reason::stopping));
}

QTEST_APPLESS_MAIN(DaemonTest)
#include "daemon_test.moc"
