// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy.h"
#include "core/numeric/simd_target.h"
#include "tests/capture/engine/fixture_run.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;

/// What tensor parallelism promises of whole runs: trees keep the bits, ordinary reductions do not.
class ParallelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void treesKeepTheBits_data();
    void treesKeepTheBits();
    void ordinaryReductionsDoNot_data();
    void ordinaryReductionsDoNot();
    void contractsPartAtTheOddPart();
    void batchesAndThreads_data();
    void batchesAndThreads();
    void messagesOfTwoShotDependOnTheBatch();
    void simdTargets();
    void tapsOfRanks();

private:
    void eachModel();
};

namespace {

/// Inner indices 64 and 160, 64 and 32 (experts), 64, 160 and 32.
const std::vector<std::string> models{"llama_small", "olmoe_small", "qwen3_moe"};
constexpr std::uint32_t smallLeaf = 4; ///< with it all of them serve eight ranks

std::vector<std::string> policies(const Checkpoint& checkpoint)
{
    std::vector<std::string> known;
    for (const char* policy : {"bf16", "fp16", "fp32"})
        if (Policy::parse(policy, checkpoint.plan))
            known.emplace_back(policy);
    return known;
}

RunOptions parallel(const std::string& policy, const std::string& arithmetic, std::uint32_t size,
                    const std::string& reduce)
{
    RunOptions options;
    options.policy = policy;
    options.arithmetic = arithmetic;
    options.threads = 1;
    options.tensorParallel = size;
    options.reduce = reduce;
    if (reduce.starts_with("tree"))
        options.treeLeaf = smallLeaf;
    return options;
}

std::string difference(const trace::RunPointer& a, const trace::RunPointer& b)
{
    return fixture::firstDifferentBits(*a, 0, *b, 0);
}

} // namespace

void ParallelTest::eachModel()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("arithmetic");
    for (const std::string& model : models)
        for (const char* arithmetic : {"ordered", "native"})
            QTest::addRow("%s %s", model.c_str(), arithmetic)
                << QString::fromStdString(model) << QString(arithmetic);
}

void ParallelTest::treesKeepTheBits_data()
{
    eachModel();
}

void ParallelTest::treesKeepTheBits()
{
    QFETCH(QString, model);
    QFETCH(QString, arithmetic);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    auto all = policies(checkpoint);
    all.emplace_back("layercast"); // 16-bit weights, sums of fp32
    for (const std::string& policy : all) {
        for (const char* tree : {"tree-a", "tree-b", "tree-c"}) {
            const auto run = [&](std::uint32_t size) {
                return fixture::run(
                    checkpoint, parallel(policy, arithmetic.toStdString(), size, tree), samples);
            };
            const auto one = run(1);
            for (const std::uint32_t size : {2U, 4U, 8U})
                QCOMPARE(difference(one, run(size)), std::string());
        }
    }
}

void ParallelTest::ordinaryReductionsDoNot_data()
{
    eachModel();
}

/// The negative test: on the same models the bits change with the number of ranks.
void ParallelTest::ordinaryReductionsDoNot()
{
    QFETCH(QString, model);
    QFETCH(QString, arithmetic);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 1);
    for (const std::string& policy : policies(checkpoint)) {
        for (const char* reduce : {"seq", "oneshot", "twoshot", "ring", "auto"}) {
            std::vector<trace::RunPointer> runs;
            for (const std::uint32_t size : {1U, 2U, 4U, 8U})
                runs.push_back(fixture::run(
                    checkpoint, parallel(policy, arithmetic.toStdString(), size, reduce), samples));
            for (std::size_t a = 0; a < runs.size(); ++a)
                for (std::size_t b = a + 1; b < runs.size(); ++b)
                    QVERIFY(!difference(runs[a], runs[b]).empty());
        }
    }
}

/// o_proj has 16 leaves, down_proj 40 of odd part 5: there A and B part. In fp32 A is C.
void ParallelTest::contractsPartAtTheOddPart()
{
    const auto samples = fixture::prompts("llama_small", 1);
    const Checkpoint llama = fixture::open("llama_small");
    const auto run = [&](const Checkpoint& checkpoint, const char* policy, const char* tree,
                         const std::vector<Prompt>& prompts) {
        return fixture::run(checkpoint, parallel(policy, "ordered", 2, tree), prompts);
    };
    const std::string parting =
        difference(run(llama, "bf16", "tree-a", samples), run(llama, "bf16", "tree-b", samples));
    QVERIFY2(parting.starts_with("model.layers.0.mlp.down_proj.out"), parting.c_str());
    const std::string wide =
        difference(run(llama, "bf16", "tree-b", samples), run(llama, "bf16", "tree-c", samples));
    QVERIFY2(wide.starts_with("model.layers.0.self_attn.o_proj.out"), wide.c_str());
    QCOMPARE(
        difference(run(llama, "fp32", "tree-a", samples), run(llama, "fp32", "tree-c", samples)),
        std::string());
    const Checkpoint olmoe = fixture::open("olmoe_small"); // no odd part anywhere
    const auto ids = fixture::prompts("olmoe_small", 1);
    QCOMPARE(difference(run(olmoe, "bf16", "tree-a", ids), run(olmoe, "bf16", "tree-b", ids)),
             std::string());
}

void ParallelTest::batchesAndThreads_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("reduce");
    for (const std::string& model : models)
        for (const char* reduce : {"tree-a", "tree-b", "tree-c", "seq", "oneshot"})
            QTest::addRow("%s %s", model.c_str(), reduce)
                << QString::fromStdString(model) << QString(reduce);
}

/// In `ordered` whatever has one order for all elements keeps a sample's bits in any batch.
void ParallelTest::batchesAndThreads()
{
    QFETCH(QString, model);
    QFETCH(QString, reduce);
    const Checkpoint checkpoint = fixture::open(model.toStdString());
    const auto samples = fixture::prompts(model.toStdString(), 3);
    for (const char* policy : {"bf16", "fp32"}) {
        RunOptions options = parallel(policy, "ordered", 4, reduce.toStdString());
        options.maxNew = 2;
        options.ignoreEnd = true;
        const auto alone = fixture::run(checkpoint, options, samples);
        options.batch = 3;
        options.threads = 3;
        const auto together = fixture::run(checkpoint, options, samples);
        for (std::size_t i = 0; i < samples.size(); ++i)
            QCOMPARE(fixture::firstDifferentBits(*alone, i, *together, i), std::string());
    }
}

/// Which rank an element's sum begins with depends on where it lies in the message.
void ParallelTest::messagesOfTwoShotDependOnTheBatch()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    const auto samples = fixture::prompts("llama_small", 3);
    for (const char* reduce : {"twoshot", "ring"}) {
        RunOptions options = parallel("fp32", "ordered", 4, reduce);
        const auto alone = fixture::run(checkpoint, options, samples);
        options.batch = 3;
        const auto together = fixture::run(checkpoint, options, samples);
        const std::string parting = fixture::firstDifferentBits(*alone, 0, *together, 0);
        QVERIFY2(parting.starts_with("model.layers.0.self_attn.o_proj.out"), parting.c_str());
    }
}

void ParallelTest::simdTargets()
{
    const Checkpoint checkpoint = fixture::open("llama_small");
    const auto samples = fixture::prompts("llama_small", 1);
    for (const char* reduce : {"tree-a", "tree-b", "tree-c", "ring"}) {
        const RunOptions options = parallel("bf16", "ordered", 4, reduce);
        const auto best = fixture::run(checkpoint, options, samples);
        for (const std::string& target : numeric::availableSimdTargets()) {
            QVERIFY(numeric::forceSimdTarget(target));
            const std::string parting =
                difference(best, fixture::run(checkpoint, options, samples));
            QVERIFY2(parting.empty(), (target + ": " + parting).c_str());
        }
        QVERIFY(numeric::forceSimdTarget(""));
    }
}

void ParallelTest::tapsOfRanks()
{
    const Checkpoint checkpoint = fixture::open("olmoe_small");
    RunOptions options = parallel("bf16", "ordered", 4, "tree-c");
    options.tapPatterns = {"*", "*.experts.down.partial.*", "*.o_proj.partial.2"};
    const auto taps = listTaps(checkpoint, options);
    QVERIFY(taps);
    const auto find = [&](const std::string& name) -> const trace::Tap* {
        for (const trace::Tap& tap : *taps)
            if (tap.name == name)
                return &tap;
        return nullptr;
    };
    const trace::Tap* slots = find("model.layers.1.mlp.experts.down.partial.3.slots");
    QVERIFY(slots != nullptr);
    QVERIFY(slots->partial && slots->tpSensitive && slots->rank == 3);
    QCOMPARE(slots->dtype, numeric::DType::FP32); // tree-c sends fp32
    QCOMPARE(slots->slots, checkpoint.plan.moe->chosen);
    QCOMPARE(slots->width, checkpoint.plan.moe->chosen * checkpoint.plan.hidden);
    const trace::Tap* o = find("model.layers.0.self_attn.o_proj.partial.2");
    QVERIFY(o != nullptr && o->inputsComplete);
    QVERIFY(find("model.layers.0.self_attn.o_proj.partial.1") == nullptr);
    const trace::Tap* sum = find("model.layers.0.self_attn.o_proj.out");
    QVERIFY(sum != nullptr && sum->inputsComplete && !sum->partial && sum->tpSensitive);
    QCOMPARE(sum->dtype, numeric::DType::BF16);
    QCOMPARE(sum->rank, -1);
    options.tapPatterns = {"*"};
    const auto usual = listTaps(checkpoint, options);
    QVERIFY(usual);
    for (const trace::Tap& tap : *usual)
        QVERIFY(!tap.partial);
}

QTEST_APPLESS_MAIN(ParallelTest)
#include "parallel_test.moc"
