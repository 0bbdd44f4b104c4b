// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/engine/fixture_run.h"

#include <QTest>

#include <cmath>

using namespace moire;
using namespace moire::capture;

/// Planning, recording and the course of a run.
class RunnerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void badOptions_data();
    void badOptions();
    void badPrompts_data();
    void badPrompts();
    void planCountsRows();
    void environmentSaysHow();
    void observerChangesNothing_data();
    void observerChangesNothing();
    void stepsRepeatTheFreeRun_data();
    void stepsRepeatTheFreeRun();
    void twoRunsAreEqual();
    void levelsKeepTheDigests();
    void scoresAreLogProbabilities();
    void askedIdsAreRecorded();
    void endTokenStops();
    void tokensCarryBytes();
    void cancelledRunIsIncomplete();
    void otherModelIsRefused();
};

namespace {

RunOptions small(const std::string& arithmetic = "native")
{
    RunOptions options;
    options.arithmetic = arithmetic;
    options.threads = 1;
    return options;
}

Prompt fixturePrompt(const std::string& model)
{
    return fixture::promptOf(fixture::promptIds(model));
}

void eachModel()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    for (const std::string& model : fixture::models)
        for (const char* policy : {"fp32", "bf16"})
            QTest::addRow("%s %s", model.c_str(), policy)
                << QString::fromStdString(model) << QString(policy);
}

} // namespace

void RunnerTest::badOptions_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("unsupported");
    QTest::newRow("policy") << "policy"
                            << "fp13" << false;
    QTest::newRow("arithmetic") << "arithmetic"
                                << "tree-a" << false;
    QTest::newRow("device") << "device"
                            << "tpu" << false;
    QTest::newRow("device index") << "device"
                                  << "cuda:x" << false;
    QTest::newRow("negative index") << "device"
                                    << "cuda:-1" << false;
    QTest::newRow("no such device") << "device"
                                    << "hip:0" << true;
    QTest::newRow("pattern") << "taps"
                             << "model.layers.99.*" << false;
    QTest::newRow("batch") << "batch"
                           << "0" << false;
}

void RunnerTest::badOptions()
{
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(bool, unsupported);
    RunOptions options = small();
    if (field == "policy")
        options.policy = value.toStdString();
    else if (field == "arithmetic")
        options.arithmetic = value.toStdString();
    else if (field == "device")
        options.device = value.toStdString();
    else if (field == "taps")
        options.tapPatterns = {value.toStdString()};
    else
        options.batch = 0;
    const std::vector<Prompt> prompts{fixturePrompt("llama_small")};
    const auto plan = planRun(fixture::open("llama_small"), options, prompts);
    QVERIFY(!plan);
    QCOMPARE(plan.error().code, unsupported ? Errc::Unsupported : Errc::Invalid);
    QVERIFY(plan.error().sentence.find(value.toStdString()) != std::string::npos);
    QVERIFY(!plan.error().hint.empty());
}

void RunnerTest::badPrompts_data()
{
    QTest::addColumn<int>("firstId");
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("maxNew");
    QTest::newRow("id beyond the vocabulary") << 512 << 3 << 0;
    QTest::newRow("negative id") << -1 << 3 << 0;
    QTest::newRow("empty") << 1 << 0 << 0;
    QTest::newRow("longer than the context") << 1 << 1000000 << 0;
    QTest::newRow("new tokens beyond the context") << 1 << 3 << 1000000;
}

void RunnerTest::badPrompts()
{
    QFETCH(int, firstId);
    QFETCH(int, count);
    QFETCH(int, maxNew);
    RunOptions options = small();
    options.maxNew = static_cast<std::uint32_t>(maxNew);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(count), 1);
    if (!ids.empty())
        ids.back() = firstId;
    const std::vector<Prompt> prompts{fixture::promptOf(ids, "bad")};
    const auto plan = planRun(fixture::open("llama_small"), options, prompts);
    QVERIFY(!plan);
    QCOMPARE(plan.error().code, Errc::Invalid);
    QCOMPARE(plan.error().place, std::string("sample bad"));
}

void RunnerTest::planCountsRows()
{
    const std::vector<Prompt> prompts{fixturePrompt("llama_small"), fixturePrompt("llama_small")};
    const std::uint64_t tokens = prompts[0].ids.size();
    RunOptions options = small();
    const Checkpoint checkpoint = fixture::open("llama_small");
    QCOMPARE(planRun(checkpoint, options, prompts)->rows, 2 * tokens);
    options.maxNew = 5;
    const auto plan = planRun(checkpoint, options, prompts);
    QCOMPARE(plan->rows, 2 * (tokens + 4));
    std::uint64_t values = 0;
    for (const trace::Tap& tap : plan->header.taps)
        values += tap.rowBytes();
    QVERIFY(plan->bytes > plan->rows * values);
    QCOMPARE(listTaps(checkpoint, options)->size(), plan->header.taps.size());
}

void RunnerTest::environmentSaysHow()
{
    RunOptions options = small("ordered");
    options.seed = 7;
    const auto run =
        fixture::run(fixture::open("olmoe_small"), options, {fixturePrompt("olmoe_small")});
    const trace::Environment& environment = run->header().environment;
    QCOMPARE(environment.text(trace::env::policy), std::string("bf16"));
    QCOMPARE(environment.text(trace::env::arithmetic), std::string("ordered"));
    QCOMPARE(environment.text(trace::env::replay), std::string("forced"));
    QCOMPARE(environment.text(trace::env::construction), std::string("once"));
    QCOMPARE(environment.text(trace::env::seed), std::string("7"));
    QCOMPARE(environment.text(trace::env::threads), std::string("1"));
    for (const auto key : {trace::env::vendor, trace::env::device, trace::env::arch,
                           trace::env::blas, trace::env::torchVersion, trace::env::weightDigest,
                           trace::env::tokenizerDigest, trace::env::startTime, trace::env::endTime,
                           trace::env::wallSeconds, trace::env::peakBytes})
        QVERIFY2(!environment.text(key).empty(), std::string(key).c_str());
    QVERIFY(run->complete());
}

void RunnerTest::observerChangesNothing_data()
{
    eachModel();
}

void RunnerTest::observerChangesNothing()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    for (const char* arithmetic : {"native", "ordered"}) {
        RunOptions options = small(arithmetic);
        options.policy = policy.toStdString();
        options.maxNew = 3;
        options.observerCheck = true;
        const auto run = fixture::run(fixture::open(model.toStdString()), options,
                                      {fixturePrompt(model.toStdString())});
        QCOMPARE(run->header().environment.text(trace::env::observerCheck),
                 std::string("bitwise equal"));
    }
}

void RunnerTest::stepsRepeatTheFreeRun_data()
{
    eachModel();
}

/// A free run's tokens, scored in steps, go through the same passes: the same bits, natively too.
void RunnerTest::stepsRepeatTheFreeRun()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    RunOptions options = small();
    options.policy = policy.toStdString();
    options.maxNew = 6;
    options.ignoreEnd = true;
    const auto free = fixture::run(checkpoint, options, {fixturePrompt(model.toStdString())});

    Prompt replay = fixturePrompt(model.toStdString());
    replay.sample.replaySource = replay.sample.id;
    for (const trace::Token& token : free->tokens(trace::SampleIndex{0}))
        if (token.response)
            replay.ids.push_back(token.id);
    options.maxNew = 0;
    options.construction = trace::Construction::Steps;
    const auto forced = fixture::run(checkpoint, options, {replay});
    QCOMPARE(fixture::firstDifferentBits(*free, 0, *forced, 0), std::string());
    for (trace::RowIndex r = 0; r < free->rowCount(); ++r) {
        QVERIFY(free->row(r).score == forced->row(r).score);
        QVERIFY(free->row(r).construction == forced->row(r).construction);
    }
    const auto tokens = forced->tokens(trace::SampleIndex{0});
    QCOMPARE(tokens.size(), replay.ids.size());
    QVERIFY(tokens.back().response);
}

void RunnerTest::twoRunsAreEqual()
{
    RunOptions options = small();
    options.maxNew = 4;
    const Checkpoint checkpoint = fixture::open("olmoe_odd");
    const auto first = fixture::run(checkpoint, options, {fixturePrompt("olmoe_odd")});
    const auto second = fixture::run(checkpoint, options, {fixturePrompt("olmoe_odd")});
    QCOMPARE(fixture::firstDifferentBits(*first, 0, *second, 0), std::string());
}

void RunnerTest::levelsKeepTheDigests()
{
    const Checkpoint checkpoint = fixture::open("llama_odd");
    RunOptions options = small();
    const auto full = fixture::run(checkpoint, options, {fixturePrompt("llama_odd")});
    options.level = trace::Level::Digest;
    const auto digest = fixture::run(checkpoint, options, {fixturePrompt("llama_odd")});
    QCOMPARE(fixture::firstDifferentBits(*full, 0, *digest, 0), std::string());
    QCOMPARE(full->row(3).rollUp, digest->row(3).rollUp);
    QVERIFY(digest->statistics(0).empty());
    QVERIFY(!digest->values(trace::TapIndex{0}, 0, 1));
    QCOMPARE(digest->topK(0)->ids.size(), std::size_t{64});
}

void RunnerTest::scoresAreLogProbabilities()
{
    RunOptions options = small();
    options.policy = "fp32";
    const auto run =
        fixture::run(fixture::open("llama_small"), options, {fixturePrompt("llama_small")});
    const auto logits = fixture::recorded(*run, "lm_head.out");
    const auto ids = fixture::promptIds("llama_small");
    for (std::size_t r = 0; r + 1 < logits.rows; ++r) {
        double sum = 0;
        std::size_t better = 0;
        const double* row = logits.values.data() + r * logits.width;
        const double chosen = row[ids[r + 1]];
        for (std::size_t i = 0; i < logits.width; ++i) {
            sum += std::exp(row[i]);
            better += row[i] > chosen;
        }
        const trace::TokenScore score = run->row(r).score;
        QCOMPARE(score.id, ids[r + 1]);
        QCOMPARE(static_cast<std::size_t>(score.rank), better);
        QVERIFY(std::abs(score.logProb - (chosen - std::log(sum))) < 1e-12);
    }
    QCOMPARE(run->row(run->rowCount() - 1).score.id, -1);
}

void RunnerTest::askedIdsAreRecorded()
{
    Prompt asking = fixturePrompt("llama_small");
    asking.askedIds = {7, 300};
    const Prompt silent = fixture::promptOf(fixture::promptIds("llama_small"), "1");
    const auto run = fixture::run(fixture::open("llama_small"), small(), {asking, silent});
    const auto logits = fixture::recorded(*run, "lm_head.out", 0);
    const auto first = run->topK(0);
    QCOMPARE(first->askedIds[0], 7);
    QCOMPARE(first->askedIds[1], 300);
    QCOMPARE(static_cast<double>(first->askedValues[1]), logits.values[300]);
    QCOMPARE(run->topK(asking.ids.size())->askedIds[0], -1);
}

void RunnerTest::endTokenStops()
{
    Checkpoint checkpoint = fixture::open("llama_small");
    RunOptions options = small();
    options.maxNew = 8;
    options.ignoreEnd = true;
    const auto whole = fixture::run(checkpoint, options, {fixturePrompt("llama_small")});
    const auto tokens = whole->tokens(trace::SampleIndex{0});
    QCOMPARE(whole->samples()[0].stopReason, std::string("length"));
    const std::size_t prompt = fixture::promptIds("llama_small").size();
    checkpoint.plan.endTokens = {tokens[prompt + 2].id};
    options.ignoreEnd = false;
    const auto stopped = fixture::run(checkpoint, options, {fixturePrompt("llama_small")});
    QCOMPARE(stopped->samples()[0].stopReason, std::string("end"));
    QVERIFY(stopped->tokens(trace::SampleIndex{0}).size() <= prompt + 3);
    QCOMPARE(stopped->rowCount() + 1,
             trace::RowIndex{stopped->tokens(trace::SampleIndex{0}).size()});
}

void RunnerTest::tokensCarryBytes()
{
    const auto run = fixture::run(fixture::open("llama_small"), small(),
                                  {fixture::promptOf({fixture::promptIds("llama_small")[1], 499})});
    const auto tokens = run->tokens(trace::SampleIndex{0});
    QCOMPARE(tokens[0].bytes.substr(0, 1), std::string("T")); // "The model's …" after the begin
    QCOMPARE(tokens[1].bytes, std::string("<499>"));          // the vocabulary ends at 479
}

void RunnerTest::cancelledRunIsIncomplete()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    const std::vector<Prompt> prompts{fixturePrompt("llama_small")};
    RunOptions options = small();
    options.maxNew = 20;
    const auto plan = planRun(checkpoint, options, prompts);
    const auto model = loadModel(checkpoint, options);
    trace::RunBuilder builder(plan->header, "cancelled");
    base::Progress progress;
    std::stop_source stop;
    stop.request_stop();
    const auto ran =
        runModel(**model, checkpoint, options, *plan, prompts, builder, stop.get_token(), progress);
    QVERIFY(!ran);
    QCOMPARE(ran.error().code, Errc::Cancelled);
    const auto run = builder.snapshot();
    QVERIFY(!run->complete());
    QCOMPARE(run->rowCount(), trace::RowIndex{prompts[0].ids.size()});
    QCOMPARE(progress.done.load(), std::uint64_t{prompts[0].ids.size()});
    QCOMPARE(progress.total.load(), plan->rows);
    QCOMPARE(run->samples()[0].stopReason, std::string("cancelled"));
}

void RunnerTest::otherModelIsRefused()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    const std::vector<Prompt> prompts{fixturePrompt("llama_small")};
    const auto plan = planRun(checkpoint, small("ordered"), prompts);
    const auto model = loadModel(checkpoint, small("native"));
    trace::RunBuilder builder(plan->header, "refused");
    base::Progress progress;
    const auto ran =
        runModel(**model, checkpoint, small("ordered"), *plan, prompts, builder, {}, progress);
    QVERIFY(!ran);
    QCOMPARE(ran.error().code, Errc::Invalid);
}

QTEST_APPLESS_MAIN(RunnerTest)
#include "runner_test.moc"
