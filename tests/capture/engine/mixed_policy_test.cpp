// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/capture/engine/fixture_run.h"

#include <QTest>

#include <set>

using namespace moire;
using namespace moire::capture;

/// Models of every kind under policies that give their modules different dtypes. That each tap has
/// the dtype that was planned the recorder checks itself.
class MixedPolicyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void batchesAndSteps_data();
    void batchesAndSteps();
    void nearFp32_data();
    void nearFp32();
    void layercastIsFp32OfTheWeights_data();
    void layercastIsFp32OfTheWeights();
    void fp16MatchesTransformers_data();
    void fp16MatchesTransformers();
    void treesOverRanks_data();
    void treesOverRanks();
    void modelOfAnotherPolicy();
};

namespace {

const std::vector<std::string> someModels{"llama_odd", "olmoe_odd", "qwen2_moe", "gpt2",
                                          "olmo2",     "mixtral",   "jais2"};

RunOptions options(const std::string& policy, const std::string& arithmetic)
{
    RunOptions result;
    result.policy = policy;
    result.arithmetic = arithmetic;
    result.threads = 1;
    return result;
}

void eachModel(const std::vector<const char*>& policies, const std::set<std::string>& without = {})
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    for (const std::string& model : someModels)
        for (const char* policy : policies)
            if (!without.contains(model))
                QTest::addRow("%s %s", model.c_str(), policy)
                    << QString::fromStdString(model) << QString(policy);
}

} // namespace

void MixedPolicyTest::batchesAndSteps_data()
{
    eachModel({"fp16", "layercast", "nomlp", "selective:attn+head", "selective:first1+norm"});
}

/// `ordered` gives the same bits for samples alone and together, and token by token.
void MixedPolicyTest::batchesAndSteps()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 3);
    RunOptions run = options(policy.toStdString(), "ordered");
    const auto alone = fixture::run(checkpoint, run, samples);
    run.batch = 3;
    const auto together = fixture::run(checkpoint, run, samples);
    for (std::size_t i = 0; i < samples.size(); ++i)
        QCOMPARE(fixture::firstDifferentBits(*alone, i, *together, i), std::string());
    run.construction = trace::Construction::Steps;
    const auto steps = fixture::run(checkpoint, run, samples);
    QCOMPARE(fixture::firstDifferentBits(*alone, 0, *steps, 0), std::string());
}

void MixedPolicyTest::nearFp32_data()
{
    eachModel({"fp16", "layercast", "nomlp", "selective:attn+head", "selective:mlp+embed"},
              {"mixtral"}); // whose routing flips between them
}

/// What is rounded to 16 bits here and there stays near fp32, in both arithmetics.
void MixedPolicyTest::nearFp32()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    const auto wide = fixture::run(checkpoint, options("fp32", "ordered"), samples);
    const auto reference = fixture::recorded(*wide, "lm_head.out");
    for (const char* arithmetic : {"native", "ordered"}) {
        const auto run =
            fixture::run(checkpoint, options(policy.toStdString(), arithmetic), samples);
        const double error = fixture::relativeL2(reference, fixture::recorded(*run, "lm_head.out"));
        const double bound = policy == "layercast" ? 1e-5 : 5e-2;
        QVERIFY2(error <= bound && (policy == "layercast" || error > 0),
                 qPrintable(QString("%1 %2").arg(arithmetic).arg(error)));
    }
}

void MixedPolicyTest::layercastIsFp32OfTheWeights_data()
{
    eachModel({"layercast"});
}

/// Widening 16-bit weights changes no value: every bit of `ordered` is that of fp32.
void MixedPolicyTest::layercastIsFp32OfTheWeights()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    const auto cast = fixture::run(checkpoint, options(policy.toStdString(), "ordered"), samples);
    const auto wide = fixture::run(checkpoint, options("fp32", "ordered"), samples);
    QCOMPARE(fixture::firstDifferentBits(*wide, 0, *cast, 0), std::string());
}

void MixedPolicyTest::fp16MatchesTransformers_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("arithmetic");
    for (const char* model : {"llama_small", "olmoe_small"})
        for (const char* arithmetic : {"native", "ordered"})
            QTest::addRow("%s %s", model, arithmetic) << model << arithmetic;
}

/// Of transformers in float16 on a CPU: the logits, and where the values of the first layer round.
void MixedPolicyTest::fp16MatchesTransformers()
{
    QFETCH(QString, model);
    QFETCH(QString, arithmetic);
    const std::string name = model.toStdString();
    const auto run = fixture::run(fixture::open(name), options("fp16", arithmetic.toStdString()),
                                  fixture::prompts(name, 1));
    auto taps = fixture::expectedTaps(name, "fp16");
    QVERIFY(taps.size() >= 6);
    taps.emplace_back("lm_head.out");
    for (const std::string& tap : taps) {
        const auto wanted = fixture::expected(name, "fp16", tap);
        auto got = fixture::recorded(*run, tap);
        QVERIFY(got.rows >= wanted.rows && got.width == wanted.width);
        got.values.erase(got.values.begin(),
                         got.values.end() - static_cast<std::ptrdiff_t>(wanted.values.size()));
        got.rows = wanted.rows;
        const double error = fixture::relativeL2(wanted, got);
        QVERIFY2(error <= 5e-3, qPrintable(QString("%1 %2").arg(tap.c_str()).arg(error)));
        if (tap.find(".0.self_attn") != std::string::npos)
            QVERIFY2(fixture::shareEqual(wanted, got) >= 0.9,
                     qPrintable(QString::number(fixture::shareEqual(wanted, got))));
    }
}

void MixedPolicyTest::treesOverRanks_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    for (const char* model : {"llama_small", "olmoe_small"})
        for (const char* policy : {"layercast", "nomlp", "selective:attn+last1"})
            QTest::addRow("%s %s", model, policy) << model << policy;
}

/// Row-parallel layers keep to the policy too: a tree gives the same bits for one rank and two.
void MixedPolicyTest::treesOverRanks()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    for (const char* tree : {"tree-a", "tree-b", "tree-c"}) {
        RunOptions run = options(policy.toStdString(), "ordered");
        run.reduce = tree;
        run.treeLeaf = 8;
        const auto one = fixture::run(checkpoint, run, samples);
        run.tensorParallel = 2;
        QCOMPARE(fixture::firstDifferentBits(*one, 0, *fixture::run(checkpoint, run, samples), 0),
                 std::string());
        run.tapPatterns = {"*", "*.partial.*"};
        const auto tapped = fixture::run(checkpoint, run, samples);
        QVERIFY(tapped->header().taps.size() > one->header().taps.size());
    }
}

void MixedPolicyTest::modelOfAnotherPolicy()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    const auto samples = fixture::prompts("llama_small", 1);
    const auto model = loadModel(checkpoint, options("layercast", "ordered"));
    QVERIFY(model);
    const RunOptions other = options("fp32", "ordered");
    const auto plan = planRun(checkpoint, other, samples);
    QVERIFY(plan);
    trace::RunBuilder builder(plan->header, "another policy");
    base::Progress progress;
    const auto ran = runModel(**model, checkpoint, other, *plan, samples, builder, {}, progress);
    QVERIFY(!ran);
    QVERIFY(ran.error().text().find("policy layercast") != std::string::npos);
}

QTEST_APPLESS_MAIN(MixedPolicyTest)
#include "mixed_policy_test.moc"
