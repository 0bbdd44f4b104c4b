// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/same_run.h"
#include "core/live/capture_store.h"
#include "core/live/live_pair.h"
#include "core/live/replay_request.h"
#include "core/store/mapped_run.h"
#include "core/wire/run_receiver.h"
#include "tests/core/live/fake_host.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>

using namespace moire;
using namespace moire::live;
using live::test::FakeHost;
using live::test::Script;
using moire::test::MadeModel;
namespace fs = std::filesystem;

namespace {

MadeModel model(const std::string& arithmetic)
{
    MadeModel made;
    made.arithmetic = arithmetic;
    made.startTime = "2026-01-01T00:00:00Z";
    return made;
}

wire::RunRequest freeRun()
{
    wire::RunRequest request;
    request.model = "imagined";
    request.options["text"] = std::string("anything");
    request.options["max-new"] = std::int64_t{6};
    return request;
}

/// The run that `replay-from` brings.
trace::RunPointer replayed(const wire::RunRequest& request)
{
    const auto place = std::get<wire::FilePlace>(request.options.at("replay-from"));
    auto messages = wire::unpackTogether(request.files.at(place.place).content, wire::daemonLimits);
    if (!messages)
        qFatal("%s", messages.error().text().c_str());
    auto builder = std::shared_ptr<trace::RunBuilder>();
    wire::RunReceiver receiver([&](const trace::RunHeader& header,
                                   wire::PlannedRows) -> Result<std::unique_ptr<trace::RunSink>> {
        auto made = std::make_unique<trace::RunBuilder>(header, "replayed");
        builder = std::shared_ptr<trace::RunBuilder>(made.get(), [](trace::RunBuilder*) {});
        return std::unique_ptr<trace::RunSink>(std::move(made));
    });
    for (const wire::Packed& packed : *messages) {
        const auto message = wire::unpack(packed, wire::daemonLimits);
        if (!message)
            qFatal("%s", message.error().text().c_str());
        if (const auto taken = receiver.take(*message); !taken)
            qFatal("%s", taken.error().text().c_str());
    }
    return builder->snapshot();
}

} // namespace

class LivePairTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    Script m_ours{model("ordered"), live::test::twoSamples(), 3};
    Script m_theirs{model("native"), live::test::twoSamples(), 4};

    fs::path at(const char* name) const { return fs::path(m_folder.path().toStdString()) / name; }
    SideOptions begun(const std::shared_ptr<FakeHost>& host) const
    {
        SideOptions side;
        side.host = host;
        side.request = freeRun();
        side.folder = m_folder.path().toStdString();
        return side;
    }
    SideOptions asked(const std::shared_ptr<FakeHost>& host) const
    {
        SideOptions side = begun(host);
        side.request.options.clear();
        return side;
    }
    SideOptions file(const char* name, const Script& script) const
    {
        CaptureStoreOptions options;
        options.file = at(name);
        auto store = CaptureStore::create(script.header(), {}, options);
        script.playAll(**store);
        SideOptions side;
        side.file = options.file;
        return side;
    }

private Q_SLOTS:
    void theTargetScoresWhatTheReferenceChooses()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        target->losesReplies = 2; // nothing is scored twice
        std::atomic<int> changes{0};
        LivePair pair({begun(reference), asked(target)}, [&] { ++changes; });
        QCOMPARE(pair.status(Which::Target).state, SideState::Idle);
        pair.start();
        QTRY_COMPARE(target->requests().size(), std::size_t{1});
        const auto request = target->requests()[0];
        QCOMPARE(std::get<bool>(request.options.at("replay-live")), true);
        QCOMPARE(std::get<std::int64_t>(request.options.at("max-new")), std::int64_t{6});
        const auto prompts = replayed(request);
        QCOMPARE(prompts->samples().size(), std::size_t{2});
        QCOMPARE(prompts->tokens(trace::SampleIndex{0}).size(), std::size_t{4});
        QCOMPARE(prompts->samples()[1].id, std::string("two"));

        for (std::size_t call = 0; call < m_ours.size(); ++call) {
            reference->play(1);
            // The target is at most a few rows behind.
            QTRY_VERIFY(pair.status(Which::Reference).rows <= pair.status(Which::Target).rows + 3);
        }
        reference->playAll();
        QTRY_VERIFY(pair.isOver());
        QCOMPARE(pair.status(Which::Reference).state, SideState::Finished);
        QCOMPARE(pair.status(Which::Target).state, SideState::Finished);
        QVERIFY(changes > 4);
        const auto ours = pair.snapshot(Which::Reference);
        const auto theirs = pair.snapshot(Which::Target);
        QVERIFY(ours && theirs);
        QVERIFY(diff::holdSameRun(**ours, *m_ours.run("x")));
        QVERIFY(diff::holdSameRun(**theirs, *m_theirs.run("x")));
        bool ends = false;
        for (const wire::Feed& feed : target->feeds())
            ends = ends || (feed.end && feed.stopReason == "length");
        QVERIFY(ends);
        QCOMPARE(pair.status(Which::Reference).rows, 15U);
        QCOMPARE(pair.status(Which::Target).planned, 15U);
    }

    void aFileIsScoredFromTheStart()
    {
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        LivePair pair({file("reference.moire", m_ours), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(target->requests().size(), std::size_t{1});
        const auto request = target->requests()[0];
        QVERIFY(!request.options.contains("replay-live"));
        const auto sent = replayed(request);
        const auto expected = m_ours.run("x");
        QCOMPARE(sent->rowCount(), expected->rowCount());
        for (std::size_t s = 0; s < 2; ++s) {
            const auto sample = static_cast<trace::SampleIndex>(s);
            QVERIFY(std::ranges::equal(sent->tokens(sample), expected->tokens(sample)));
        }
        for (trace::RowIndex r = 0; r < sent->rowCount(); ++r) {
            QCOMPARE(sent->row(r).construction, expected->row(r).construction);
            QCOMPARE(sent->row(r).position, expected->row(r).position);
        }
        target->playAll();
        QTRY_VERIFY(pair.isOver());
        QCOMPARE(pair.status(Which::Reference).isFile, true);
        QCOMPARE(pair.status(Which::Reference).rows, 15U);
        const auto theirs = pair.snapshot(Which::Target);
        QVERIFY(theirs && diff::holdSameRun(**theirs, *m_theirs.run("x")));
    }

    void twoRunsThatAreThereAreAttachedTo()
    {
        const auto host = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        host->addWhole("a");
        host->addWhole("b");
        SideOptions reference = asked(host);
        reference.run = "a";
        SideOptions target = asked(host);
        target.run = "b";
        LivePair pair({reference, target}, [] {});
        pair.start();
        QTRY_VERIFY(pair.isOver());
        QVERIFY(host->requests().empty() && host->feeds().empty());
        QCOMPARE(pair.status(Which::Target).run, std::string("b"));
        pair.cancel();
        QVERIFY(host->cancelled().empty());
    }

    void bothAreCancelled()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        LivePair pair({begun(reference), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(target->requests().size(), std::size_t{1});
        reference->play(9);
        QTRY_VERIFY(pair.status(Which::Target).rows > 0);
        pair.cancel();
        QTRY_VERIFY(pair.isOver());
        QCOMPARE(pair.status(Which::Reference).state, SideState::Cancelled);
        QCOMPARE(pair.status(Which::Target).state, SideState::Cancelled);
        QCOMPARE(reference->cancelled(), std::vector<std::string>{"run1"});
        QCOMPARE(target->cancelled(), std::vector<std::string>{"run1"});
        QVERIFY(pair.save(Which::Reference, at("cancelled.moire")));
        const auto saved = store::MappedRun::open(at("cancelled.moire"));
        QVERIFY(saved && !(*saved)->complete());
    }

    /// Only that of the two ends which failed ends early.
    void aReferenceThatFailsLetsTheTargetEnd()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        LivePair pair({begun(reference), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(target->requests().size(), std::size_t{1});
        reference->play(12);
        reference->breakOff("failed", "the device is out of memory");
        QTRY_VERIFY(isOver(pair.status(Which::Reference).state));
        const SideStatus status = pair.status(Which::Reference);
        QCOMPARE(status.state, SideState::Failed);
        QCOMPARE(status.trouble.sentence, std::string("the device is out of memory"));
        QTRY_COMPARE(
            std::ranges::count_if(target->feeds(), [](const wire::Feed& feed) { return feed.end; }),
            2);
        QCOMPARE(target->feeds().back().stopReason, std::string("cancelled"));
    }

    void refusalsAreToldWhereTheyBelong()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        target->refusesRuns = "there is no such model";
        LivePair pair({begun(reference), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(pair.status(Which::Target).state, SideState::Failed);
        QCOMPARE(pair.status(Which::Target).trouble.sentence,
                 std::string("there is no such model"));
        reference->playAll();
        QTRY_COMPARE(pair.status(Which::Reference).state, SideState::Finished);
        QVERIFY(!*pair.snapshot(Which::Target));
        QVERIFY(!pair.save(Which::Target, at("none.moire")));
    }

    void tokensThatAreRefusedEndTheTarget()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        target->refusesFeeds = true;
        LivePair pair({begun(reference), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(target->requests().size(), std::size_t{1});
        reference->playAll();
        QTRY_VERIFY(pair.isOver());
        QCOMPARE(pair.status(Which::Target).state, SideState::Failed);
        QCOMPARE(target->cancelled().size(), std::size_t{1});
    }

    void aDaemonThatIsNotThereYetIsWaitedFor()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        reference->linkState = wire::LinkState::Connecting;
        target->linkState = wire::LinkState::Refused;
        LivePair pair({begun(reference), asked(target)}, [] {});
        pair.start();
        QTRY_COMPARE(pair.status(Which::Reference).state, SideState::Connecting);
        QTRY_COMPARE(pair.status(Which::Target).state, SideState::Failed);
        QCOMPARE(pair.status(Which::Reference).trouble.sentence, std::string("no answer"));
        QVERIFY(reference->requests().empty());
        reference->linkState = wire::LinkState::Connected;
        QTRY_COMPARE(reference->requests().size(), std::size_t{1});
        QVERIFY(!reference->requests()[0].ticket.empty());
        pair.cancel();
        QTRY_VERIFY(pair.isOver());
    }

    void lostRowsAreCountedAndTheCaptureStaysIncomplete()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        SideOptions target = file("target.moire", m_theirs);
        SideOptions side = begun(reference);
        side.lossless = false;
        side.record = at("with a gap.moire");
        LivePair pair({side, target}, [] {});
        pair.start();
        QTRY_COMPARE(reference->requests().size(), std::size_t{1});
        reference->play(6);
        reference->loseRows(4);
        reference->play(2);
        reference->playAll();
        QTRY_VERIFY(pair.isOver());
        const SideStatus status = pair.status(Which::Reference);
        QCOMPARE(status.state, SideState::Finished);
        QCOMPARE(status.lostRows, 4U);
        QVERIFY(status.trouble.sentence.find("missing") != std::string::npos);
        const auto shown = pair.snapshot(Which::Reference);
        QVERIFY(shown && !(*shown)->complete());
        QVERIFY(std::ranges::any_of((*shown)->events(),
                                    [](const trace::Event& e) { return e.kind == "gap"; }));
    }

    void aFileThatIsNoCaptureFails()
    {
        SideOptions nothing;
        nothing.file = at("nothing.moire");
        LivePair pair({nothing, file("target.moire", m_theirs)}, [] {});
        pair.start();
        QTRY_VERIFY(pair.isOver());
        QCOMPARE(pair.status(Which::Reference).state, SideState::Failed);
        QCOMPARE(pair.status(Which::Target).state, SideState::Finished);
        QVERIFY(!pair.save(Which::Target, at("copy.moire"))); // it is a file already
    }

    void aPairMayGoAtAnyTime()
    {
        const auto reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        const auto target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        for (int calls = 0; calls < 20; calls += 3) {
            LivePair pair({begun(reference), asked(target)}, [] {});
            pair.start();
            if (calls > 0)
                QTRY_VERIFY(!pair.status(Which::Reference).run.empty());
            if (calls > 0)
                reference->play(static_cast<std::size_t>(calls));
        }
    }

    void boundsOfResponses()
    {
        std::vector<wire::SampleBegin> prompts(2);
        prompts[0].prompt.resize(4);
        prompts[1].prompt.resize(3);
        // T + N − 1 rows a sample.
        QCOMPARE(longestResponse(4 + 3, prompts), 1U);         // N = 0 or 1
        QCOMPARE(longestResponse(4 + 5 + 3 + 5, prompts), 6U); // N = 6
        QCOMPARE(longestResponse(0, prompts), 1U);
        QCOMPARE(longestResponse(10, {}), 1U);
    }
};

QTEST_GUILESS_MAIN(LivePairTest)
#include "live_pair_test.moc"
