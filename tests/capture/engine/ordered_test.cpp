// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/simd_target.h"
#include "tests/capture/engine/fixture_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <iterator>

using namespace moire;
using namespace moire::capture;

/// What `ordered` promises: the same bits however a sample is computed.
class OrderedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void batches_data();
    void batches();
    void dynamicScalingKnowsEachSampleAlone();
    void threads_data();
    void threads();
    void prefillAgainstDecode_data();
    void prefillAgainstDecode();
    void simdTargets_data();
    void simdTargets();
    void nativeNeedNot();

private:
    void eachModel();
};

namespace {

RunOptions ordered(const std::string& policy)
{
    RunOptions options;
    options.policy = policy;
    options.arithmetic = "ordered";
    options.threads = 1;
    return options;
}

} // namespace

void OrderedTest::eachModel()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    for (const std::string& model : fixture::models)
        for (const char* policy : {"fp32", "bf16"})
            QTest::addRow("%s %s", model.c_str(), policy)
                << QString::fromStdString(model) << QString(policy);
}

void OrderedTest::batches_data()
{
    eachModel();
}

void OrderedTest::batches()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 8);
    RunOptions options = ordered(policy.toStdString());
    options.maxNew = 3;
    options.ignoreEnd = true;
    const auto alone = fixture::run(checkpoint, options, samples);
    for (const std::uint32_t batch : {3U, 8U}) {
        options.batch = batch;
        const auto together = fixture::run(checkpoint, options, samples);
        for (std::size_t i = 0; i < samples.size(); ++i)
            QCOMPARE(fixture::firstDifferentBits(*alone, i, *together, i), std::string());
    }
}

/// Dynamic rope scaling depends on a sample's length, and on nothing else in its batch.
void OrderedTest::dynamicScalingKnowsEachSampleAlone()
{
    QTemporaryDir folder;
    const std::filesystem::path path(folder.path().toStdString());
    std::ifstream source(fixture::folder("mistral") / "config.json");
    std::string config{std::istreambuf_iterator<char>(source), {}};
    const auto replace = [&](const std::string& before, const std::string& after) {
        const std::size_t place = config.find(before);
        QVERIFY2(place != std::string::npos, before.c_str());
        config.replace(place, before.size(), after);
    };
    replace(R"("rope_scaling": null)", R"("rope_scaling": {"rope_type": "dynamic", "factor": 4})");
    replace(R"("max_position_embeddings": 512)", R"("max_position_embeddings": 8)");
    std::ofstream(path / "config.json") << config;
    std::filesystem::create_symlink(fixture::folder("mistral") / "model.safetensors",
                                    path / "model.safetensors");
    const auto checkpoint = openCheckpoint(path);
    QVERIFY2(checkpoint, checkpoint ? "" : checkpoint.error().text().c_str());
    QCOMPARE(checkpoint->plan.context, 32U);
    const auto samples = fixture::prompts("mistral", 3);
    RunOptions options = ordered("fp32");
    options.maxNew = 3;
    options.ignoreEnd = true;
    const auto alone = fixture::run(*checkpoint, options, samples);
    options.batch = 3;
    const auto together = fixture::run(*checkpoint, options, samples);
    for (std::size_t i = 0; i < samples.size(); ++i)
        QCOMPARE(fixture::firstDifferentBits(*alone, i, *together, i), std::string());
}

void OrderedTest::threads_data()
{
    eachModel();
}

void OrderedTest::threads()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    RunOptions options = ordered(policy.toStdString());
    const auto one = fixture::run(checkpoint, options, samples);
    for (const unsigned threads : {2U, 3U}) {
        options.threads = threads;
        QCOMPARE(
            fixture::firstDifferentBits(*one, 0, *fixture::run(checkpoint, options, samples), 0),
            std::string());
    }
}

void OrderedTest::prefillAgainstDecode_data()
{
    eachModel();
}

void OrderedTest::prefillAgainstDecode()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    RunOptions options = ordered(policy.toStdString());
    const auto whole = fixture::run(checkpoint, options, samples);
    options.construction = trace::Construction::Steps;
    const auto steps = fixture::run(checkpoint, options, samples);
    QCOMPARE(steps->row(steps->rowCount() - 1).step + 1, std::uint32_t(samples[0].ids.size()));
    QCOMPARE(fixture::firstDifferentBits(*whole, 0, *steps, 0), std::string());
}

void OrderedTest::simdTargets_data()
{
    eachModel();
}

void OrderedTest::simdTargets()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    const RunOptions options = ordered(policy.toStdString());
    const auto best = fixture::run(checkpoint, options, samples);
    for (const std::string& target : numeric::availableSimdTargets()) {
        QVERIFY(numeric::forceSimdTarget(target));
        const auto forced = fixture::run(checkpoint, options, samples);
        const std::string difference = fixture::firstDifferentBits(*best, 0, *forced, 0);
        QVERIFY2(difference.empty(), (target + ": " + difference).c_str());
    }
    QVERIFY(numeric::forceSimdTarget(""));
}

/// The library's products may depend on what else is computed with them: here a case that does.
void OrderedTest::nativeNeedNot()
{
    std::string difference;
    for (const std::string& model : fixture::models) {
        const Checkpoint checkpoint = fixture::open(model);
        const auto samples = fixture::prompts(model, 1);
        RunOptions options = ordered("fp32");
        options.arithmetic = "native";
        const auto whole = fixture::run(checkpoint, options, samples);
        options.construction = trace::Construction::Steps;
        const auto steps = fixture::run(checkpoint, options, samples);
        difference = fixture::firstDifferentBits(*whole, 0, *steps, 0);
        if (!difference.empty())
            break;
    }
    if (difference.empty())
        QSKIP("this LibTorch and processor gave equal bits for prefill and decode in every model");
    qInfo("native: prefill and decode differ first at %s", difference.c_str());
}

QTEST_APPLESS_MAIN(OrderedTest)
#include "ordered_test.moc"
