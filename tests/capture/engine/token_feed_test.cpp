// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/lane.h"
#include "capture/engine/token_feed.h"
#include "tests/capture/engine/fixture_run.h"

#include <QTest>

#include <chrono>
#include <thread>

using namespace moire;
using namespace moire::capture;

/// Responses that arrive while a model scores them: the run is the one that had them from the
/// start.
class TokenFeedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void badTokensAreRefused();
    void takingWaits();
    void passesAreThoseOfAKnownResponse_data();
    void passesAreThoseOfAKnownResponse();
    void aFedRunIsTheGivenRun_data();
    void aFedRunIsTheGivenRun();
    void stopEndsTheWait();
    void aGivenResponseIsRefused();
};

namespace {

using Ids = std::vector<std::int32_t>;

Prompt replayed(const Ids& prompt, const Ids& response, const std::string& id = "0")
{
    Prompt result = fixture::promptOf(prompt, id);
    result.sample.replaySource = id;
    result.ids.insert(result.ids.end(), response.begin(), response.end());
    return result;
}

std::string passOf(const Lane& lane)
{
    std::string text;
    for (const trace::Row& row : lane.nextRows())
        text += std::to_string(row.position) + std::string(nameOf(row.phase))
                + std::string(nameOf(row.construction)) + std::to_string(row.step) + ' ';
    for (const std::int32_t target : lane.nextTargets())
        text += '>' + std::to_string(target);
    return text + '|';
}

std::string passesOf(Lane& lane)
{
    std::string text;
    for (; lane.ready() && !lane.done(); lane.advance(-1, {}))
        text += passOf(lane);
    return text;
}

RunOptions steps(std::uint32_t batch, std::uint32_t chunk, Padding padding)
{
    RunOptions options;
    options.threads = 1;
    options.construction = trace::Construction::Steps;
    options.batch = batch;
    options.prefillChunk = chunk;
    options.padding = padding;
    return options;
}

/// A run whose responses come from another thread, one token of each sample after the other.
Result<trace::RunPointer> fedRun(const Checkpoint& checkpoint, RunOptions options,
                                 const std::vector<Prompt>& whole, std::stop_token stop)
{
    std::vector<Prompt> prompts = whole;
    std::size_t most = 0;
    for (Prompt& prompt : prompts) {
        most = std::max(most, prompt.ids.size() - prompt.promptLength);
        prompt.ids.resize(prompt.promptLength);
    }
    options.liveTokens = static_cast<std::uint32_t>(most);
    options.feed = std::make_shared<TokenFeed>(
        TokenFeed::Limits{prompts.size(), *options.liveTokens, checkpoint.plan.vocabulary});
    const auto plan = planRun(checkpoint, options, prompts);
    if (!plan)
        return plan.error();
    const auto model = loadModel(checkpoint, options);
    if (!model)
        return model.error();
    trace::RunBuilder builder(plan->header, "fed");
    base::Progress progress;
    bool wellFed = true;
    std::jthread feeder([&](const std::stop_token& ended) {
        for (std::size_t token = 0; token <= most && !ended.stop_requested(); ++token)
            for (std::size_t s = 0; s < whole.size(); ++s) {
                const Ids response(whole[s].ids.begin() + whole[s].promptLength,
                                   whole[s].ids.end());
                const auto begin = std::min(token, response.size());
                const auto end = std::min(token + 1, response.size());
                const std::span next(response.data() + begin, end - begin);
                // The end comes by itself, or with the last token.
                const bool last = s % 2 == 0 ? begin == response.size() : end == response.size();
                wellFed &=
                    bool(options.feed->add(static_cast<trace::SampleIndex>(s), {}, next, last));
            }
    });
    const auto ran =
        runModel(**model, checkpoint, options, *plan, prompts, builder, stop, progress);
    feeder.join();
    if (!ran)
        return ran.error();
    if (!wellFed)
        return Error{Errc::Internal, "a token was refused", {}, {}};
    return builder.snapshot();
}

/// The first thing that differs between two runs, rows and tables in their order.
std::string difference(const trace::Run& a, const trace::Run& b)
{
    if (a.rowCount() != b.rowCount() || a.samples().size() != b.samples().size())
        return "other rows or samples";
    for (std::size_t s = 0; s < a.samples().size(); ++s) {
        const auto sample = static_cast<trace::SampleIndex>(s);
        if (!(a.samples()[s] == b.samples()[s])
            || !std::ranges::equal(a.tokens(sample), b.tokens(sample)))
            return "sample " + std::to_string(s);
    }
    for (trace::RowIndex r = 0; r < a.rowCount(); ++r)
        if (!(a.row(r) == b.row(r)) || !std::ranges::equal(a.digests(r), b.digests(r))
            || !std::ranges::equal(a.topK(r)->values, b.topK(r)->values))
            return "row " + std::to_string(r);
    return {};
}

} // namespace

void TokenFeedTest::badTokensAreRefused()
{
    TokenFeed feed({2, 3, 100});
    const auto add = [&](unsigned sample, const Ids& ids, bool end,
                         std::optional<std::uint64_t> first = {}) {
        const auto added = feed.add(static_cast<trace::SampleIndex>(sample), first, ids, end);
        return added ? QString("added") : QString::fromStdString(added.error().text());
    };
    QVERIFY(add(2, {1}, false).contains("no such sample"));
    QVERIFY(add(0, {1, 100}, false).contains("token id 100"));
    QVERIFY(add(0, {-1}, false).contains("token id -1"));
    QVERIFY(add(0, {1, 2, 3, 4}, false).contains("more than the 3"));
    QCOMPARE(add(0, {1, 2}, false), QString("added"));
    QVERIFY(add(0, {3, 4}, true).contains("more than the 3"));
    QVERIFY(add(0, {3}, false, 3).contains("missing between place 2 and 3"));
    QCOMPARE(add(0, {1, 2}, false, 0), QString("added")); // said twice
    QCOMPARE(add(0, {1}, false, 0), QString("added"));
    QCOMPARE(add(0, {2, 3}, true, 1), QString("added"));
    QCOMPARE(add(0, {2, 3}, true, 1), QString("added"));
    QCOMPARE(add(0, {}, true), QString("added")); // said twice
    QVERIFY(add(0, {5}, true).contains("has ended"));
    const auto taken = feed.take(trace::SampleIndex{0}, {});
    QCOMPARE(taken->ids, (Ids{1, 2, 3}));
    QVERIFY(taken->ended);
}

void TokenFeedTest::takingWaits()
{
    TokenFeed feed({1, 10, 100});
    std::jthread feeder([&](const std::stop_token&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        static_cast<void>(feed.add(trace::SampleIndex{0}, {}, Ids{7}, false));
    });
    const auto taken = feed.take(trace::SampleIndex{0}, {});
    QCOMPARE(taken->ids, (Ids{7}));
    QVERIFY(!taken->ended);
}

void TokenFeedTest::passesAreThoseOfAKnownResponse_data()
{
    QTest::addColumn<int>("prompt");
    QTest::addColumn<int>("response");
    QTest::addColumn<int>("chunk");
    for (const int prompt : {1, 2, 5})
        for (const int response : {0, 1, 2, 4})
            for (const int chunk : {0, 2})
                QTest::addRow("%d+%d by %d", prompt, response, chunk)
                    << prompt << response << chunk;
}

void TokenFeedTest::passesAreThoseOfAKnownResponse()
{
    QFETCH(int, prompt);
    QFETCH(int, response);
    QFETCH(int, chunk);
    Ids ids;
    Ids answer;
    for (int i = 0; i < prompt; ++i)
        ids.push_back(i);
    for (int i = 0; i < response; ++i)
        answer.push_back(50 + i);
    RunOptions options = steps(1, static_cast<std::uint32_t>(chunk), Padding::None);
    Lane given(replayed(ids, answer), options, {}, 0);
    const std::string expected = passesOf(given);
    options.liveTokens = 9;
    for (std::size_t piece = 1; piece <= answer.size() + 1; ++piece) {
        Lane lane(replayed(ids, {}), options, {}, 0);
        std::string passes = passesOf(lane);
        for (std::size_t begin = 0; begin < answer.size(); begin += piece) {
            lane.take(std::span(answer).subspan(begin, std::min(piece, answer.size() - begin)),
                      false);
            passes += passesOf(lane);
            QVERIFY(!lane.done());
        }
        lane.take({}, true);
        passes += passesOf(lane);
        QVERIFY(lane.done());
        QCOMPARE(passes, expected);
    }
}

void TokenFeedTest::aFedRunIsTheGivenRun_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("arithmetic");
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("chunk");
    QTest::addColumn<bool>("padded");
    QTest::newRow("llama") << "llama_small"
                           << "native" << 1 << 0 << false;
    QTest::newRow("llama ordered") << "llama_small"
                                   << "ordered" << 2 << 0 << false;
    QTest::newRow("batch of 3") << "llama_odd"
                                << "native" << 3 << 0 << false;
    QTest::newRow("chunks") << "qwen3"
                            << "native" << 2 << 2 << false;
    QTest::newRow("padded mixture") << "olmoe_small"
                                    << "native" << 3 << 0 << true;
}

void TokenFeedTest::aFedRunIsTheGivenRun()
{
    QFETCH(QString, model);
    QFETCH(QString, arithmetic);
    QFETCH(int, batch);
    QFETCH(int, chunk);
    QFETCH(bool, padded);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    RunOptions options = steps(static_cast<std::uint32_t>(batch), static_cast<std::uint32_t>(chunk),
                               padded ? Padding::Left : Padding::None);
    options.arithmetic = arithmetic.toStdString();
    // The cache of a fed run begins small and grows; a short prompt with a long response sees it.
    const std::vector<Prompt> prompts{
        replayed({5, 6, 7}, {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, "a"),
        replayed({9}, {21, 22, 23}, "b"), replayed({30, 31, 32, 33}, {}, "c"),
        replayed({40, 41}, {42}, "d")};
    const auto given = fixture::run(checkpoint, options, prompts);
    const auto fed = fedRun(checkpoint, options, prompts, {});
    QVERIFY2(fed, fed ? "" : fed.error().text().c_str());
    QCOMPARE(difference(*given, **fed), std::string());
    for (const char* key : {"run.replay", "run.construction"})
        QCOMPARE((*fed)->header().environment.text(key), given->header().environment.text(key));
}

void TokenFeedTest::stopEndsTheWait()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    RunOptions options = steps(1, 0, Padding::None);
    options.liveTokens = 4;
    options.feed = std::make_shared<TokenFeed>(TokenFeed::Limits{1, 4, checkpoint.plan.vocabulary});
    const std::vector<Prompt> prompts{replayed({5, 6}, {})};
    QVERIFY(options.feed->add(trace::SampleIndex{0}, {}, Ids{7, 8}, false));
    const auto plan = planRun(checkpoint, options, prompts);
    QVERIFY(plan);
    QCOMPARE(plan->rows, std::uint64_t{5});
    const auto model = loadModel(checkpoint, options);
    trace::RunBuilder builder(plan->header, "fed");
    base::Progress progress;
    std::stop_source stop;
    std::jthread stopper([&](const std::stop_token&) {
        while (progress.done < 3) // two of the prompt, one of the first token
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stop.request_stop();
    });
    const auto ran =
        runModel(**model, checkpoint, options, *plan, prompts, builder, stop.get_token(), progress);
    QVERIFY(!ran);
    QCOMPARE(ran.error().code, Errc::Cancelled);
    QCOMPARE(builder.snapshot()->rowCount(), trace::RowIndex{3});
    QCOMPARE(builder.snapshot()->samples()[0].stopReason, std::string("cancelled"));
}

void TokenFeedTest::aGivenResponseIsRefused()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    RunOptions options = steps(1, 0, Padding::None);
    options.liveTokens = 4;
    const std::vector<Prompt> given{replayed({5, 6}, {7})};
    QCOMPARE(planRun(checkpoint, options, given).error().code, Errc::Invalid);
    const std::vector<Prompt> alone{replayed({5, 6}, {})};
    QVERIFY(planRun(checkpoint, options, alone));
    options.construction = trace::Construction::Once;
    QCOMPARE(planRun(checkpoint, options, alone).error().code, Errc::Invalid);
}

QTEST_APPLESS_MAIN(TokenFeedTest)
#include "token_feed_test.moc"
