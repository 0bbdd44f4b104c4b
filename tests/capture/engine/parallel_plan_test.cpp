// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/k_plan.h"
#include "capture/engine/parallel_plan.h"
#include "capture/engine/rank_reduction.h"
#include "capture/engine/runner.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;
using numeric::DType;

/// What tensor parallelism and K-plans make of words and sizes; expected values by hand.
class ParallelPlanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shapes_data();
    void shapes();
    void sums();
    void chunks();
    void automatic();
    void words();
    void refusedWords_data();
    void refusedWords();
    void servedModels();
    void kPlans();
    void refusedKPlans_data();
    void refusedKPlans();
};

namespace {

RunOptions parallel(std::uint32_t size, const std::string& reduce, std::uint32_t leaf = 0)
{
    RunOptions options;
    options.tensorParallel = size;
    options.reduce = reduce;
    options.treeLeaf = leaf;
    return options;
}

/// Two dense layers with the inner indices of a model of the hub.
ModelPlan model(std::uint32_t heads, std::uint32_t headDim, std::uint32_t mlpWidth)
{
    ModelPlan plan;
    plan.name = "model";
    plan.dtype = DType::BF16;
    plan.heads = heads;
    plan.headDim = headDim;
    plan.mlpWidth = mlpWidth;
    plan.layers.resize(2);
    return plan;
}

std::string answer(const ModelPlan& plan, const RunOptions& options, const char* policy = "bf16")
{
    const auto parallel = ParallelPlan::of(options);
    const auto words = Policy::parse(policy, plan);
    if (!parallel || !words)
        return "no plan";
    const auto checked = checkParallel(*parallel, plan, *words);
    return checked ? std::string() : checked.error().text();
}

} // namespace

/// Leaves and largest sizes of models of the hub, worked out by hand from their configurations.
void ParallelPlanTest::shapes_data()
{
    QTest::addColumn<unsigned>("inputs");
    QTest::addColumn<unsigned>("leaf");
    QTest::addColumn<unsigned>("leaves");
    QTest::addColumn<unsigned>("oddPart");
    QTest::addColumn<unsigned>("maxRanks");
    QTest::addColumn<unsigned>("firstGroup");
    QTest::addRow("Qwen3-1.7B down") << 6144U << 256U << 24U << 3U << 8U << 3U;
    QTest::addRow("Qwen3-4B down") << 9728U << 256U << 38U << 19U << 2U << 19U;
    QTest::addRow("Qwen3-32B down") << 25600U << 256U << 100U << 25U << 4U << 25U;
    QTest::addRow("Llama-3.1-8B o") << 4096U << 256U << 16U << 1U << 16U << 2U;
    QTest::addRow("Llama-3.1-8B down") << 14336U << 256U << 56U << 7U << 8U << 7U;
    QTest::addRow("Qwen2.5-7B o") << 3584U << 256U << 14U << 7U << 2U << 7U;
    QTest::addRow("Qwen2.5-0.5B o") << 896U << 256U << 0U << 0U << 0U << 0U;
    QTest::addRow("Qwen2.5-0.5B down") << 4864U << 256U << 19U << 19U << 1U << 19U;
    QTest::addRow("Qwen3-30B-A3B expert") << 768U << 256U << 3U << 3U << 1U << 3U;
    QTest::addRow("OLMoE expert") << 1024U << 256U << 4U << 1U << 4U << 2U;
    QTest::addRow("gpt-oss expert") << 2880U << 64U << 45U << 45U << 1U << 45U;
    QTest::addRow("one leaf") << 256U << 256U << 1U << 1U << 1U << 1U;
    QTest::addRow("no leaf") << 256U << 0U << 0U << 0U << 0U << 0U;
}

void ParallelPlanTest::shapes()
{
    QFETCH(unsigned, inputs);
    QFETCH(unsigned, leaf);
    const TreeShape shape = TreeShape::of(inputs, leaf);
    QTEST(shape.leaves, "leaves");
    QTEST(shape.oddPart, "oddPart");
    QTEST(shape.maxRanks, "maxRanks");
    QTEST(shape.firstGroup(), "firstGroup");
}

void ParallelPlanTest::sums()
{
    const auto a = treeSum(TreeContract::A, 6144, 256, DType::BF16);
    QCOMPARE(a.leaf, std::size_t{256});
    QCOMPARE(a.group, std::size_t{3});
    QVERIFY(!a.continuous && a.leafType == DType::BF16 && a.groupType == DType::BF16);
    const auto b = treeSum(TreeContract::B, 6144, 256, DType::BF16);
    QVERIFY(b.continuous && b.group == 3 && b.groupType == DType::BF16);
    QCOMPARE(treeSum(TreeContract::B, 4096, 256, DType::BF16).group, std::size_t{1});
    const auto c = treeSum(TreeContract::C, 4096, 256, DType::FP16);
    QVERIFY(!c.continuous && c.group == 2 && c.leafType == DType::FP32
            && c.groupType == DType::FP32);
}

/// 21 elements of two bytes: three packs of 8, the last one short.
void ParallelPlanTest::chunks()
{
    using Chunks = std::vector<RankChunk>;
    QCOMPARE(chunksOf(Reduction::Seq, 21, 2, 4), (Chunks{{0, 21, 0}}));
    QCOMPARE(chunksOf(Reduction::OneShot, 21, 2, 4), (Chunks{{0, 21, 0}}));
    QCOMPARE(chunksOf(Reduction::TwoShot, 21, 2, 2), (Chunks{{0, 8, 0}, {8, 21, 1}}));
    QCOMPARE(chunksOf(Reduction::TwoShot, 21, 2, 3), (Chunks{{0, 8, 0}, {8, 16, 1}, {16, 21, 2}}));
    QCOMPARE(chunksOf(Reduction::TwoShot, 21, 2, 4),
             (Chunks{{0, 21, 3}})); // fewer packs than ranks
    QCOMPARE(chunksOf(Reduction::TwoShot, 40, 4, 4),
             (Chunks{{0, 8, 0}, {8, 16, 1}, {16, 24, 2}, {24, 40, 3}}));
    QCOMPARE(chunksOf(Reduction::Ring, 21, 2, 2), (Chunks{{0, 16, 1}, {16, 21, 0}}));
    QCOMPARE(chunksOf(Reduction::Ring, 32, 2, 4),
             (Chunks{{0, 8, 1}, {8, 16, 2}, {16, 24, 3}, {24, 32, 0}}));
    QCOMPARE(chunksOf(Reduction::Ring, 21, 2, 4), (Chunks{{0, 8, 1}, {8, 16, 2}, {16, 21, 3}}));
}

void ParallelPlanTest::automatic()
{
    constexpr std::size_t kibibyte = 1024;
    const auto choice = [](std::size_t bytes, std::uint32_t ranks) {
        return reductionFor(Reduction::Auto, bytes, ranks);
    };
    QCOMPARE(choice(std::size_t{1} << 30U, 2), Reduction::OneShot);
    QCOMPARE(choice(512 * kibibyte - 2, 4), Reduction::OneShot);
    QCOMPARE(choice(512 * kibibyte, 4), Reduction::TwoShot);
    QCOMPARE(choice(256 * kibibyte - 2, 8), Reduction::OneShot);
    QCOMPARE(choice(256 * kibibyte, 8), Reduction::TwoShot);
    QCOMPARE(choice(16, 16), Reduction::TwoShot);
    QCOMPARE(reductionFor(Reduction::Ring, 16, 4), Reduction::Ring);
}

void ParallelPlanTest::words()
{
    QCOMPARE(ParallelPlan::of(parallel(1, ""))->reduction, Reduction::None);
    QCOMPARE(ParallelPlan::of(parallel(1, "ring"))->reduction, Reduction::None);
    QCOMPARE(ParallelPlan::of(parallel(4, ""))->reduction, Reduction::Auto);
    const auto tree = ParallelPlan::of(parallel(1, "tree-c"));
    QVERIFY(tree->isActive() && tree->isTree());
    QCOMPARE(tree->leafOf(DType::BF16), 256U);
    QCOMPARE(tree->leafOf(DType::FP16), 256U);
    QCOMPARE(tree->leafOf(DType::FP32), 128U);
    QCOMPARE(tree->wireType(DType::BF16), DType::FP32);
    QCOMPARE(ParallelPlan::of(parallel(2, "tree-b", 64))->leafOf(DType::FP32), 64U);
    QCOMPARE(ParallelPlan::of(parallel(2, "tree-b"))->wireType(DType::BF16), DType::BF16);
}

void ParallelPlanTest::refusedWords_data()
{
    QTest::addColumn<unsigned>("size");
    QTest::addColumn<QString>("reduce");
    QTest::addColumn<unsigned>("leaf");
    QTest::addRow("no rank") << 0U << "seq" << 0U;
    QTest::addRow("too many") << 1025U << "seq" << 0U;
    QTest::addRow("unknown") << 2U << "tree" << 0U;
    QTest::addRow("none is no word") << 2U << "none" << 0U;
    QTest::addRow("leaf without a tree") << 2U << "ring" << 64U;
    QTest::addRow("tree over three") << 3U << "tree-a" << 0U;
    QTest::addRow("tree over six") << 6U << "tree-b" << 0U;
}

void ParallelPlanTest::refusedWords()
{
    QFETCH(unsigned, size);
    QFETCH(QString, reduce);
    QFETCH(unsigned, leaf);
    const auto plan = ParallelPlan::of(parallel(size, reduce.toStdString(), leaf));
    QVERIFY(!plan);
    QCOMPARE(plan.error().code, Errc::Invalid);
    QVERIFY(!plan.error().hint.empty());
}

void ParallelPlanTest::servedModels()
{
    const ModelPlan qwen32b = model(64, 128, 25600);
    QCOMPARE(answer(qwen32b, parallel(4, "tree-a")), std::string());
    const std::string refused = answer(qwen32b, parallel(8, "tree-a"));
    for (const char* part : {"model.layers.0.mlp.down_proj", "25600", "100 leaves of 256",
                             "at most 4 ranks", "--tp 4", "--tree-leaf 128"})
        QVERIFY2(refused.find(part) != std::string::npos, refused.c_str());
    QCOMPARE(answer(qwen32b, parallel(8, "tree-a"), "fp32"), std::string());
    QCOMPARE(answer(qwen32b, parallel(8, "seq")), std::string());
    const ModelPlan qwenHalf = model(14, 64, 4864);
    const std::string uneven = answer(qwenHalf, parallel(1, "tree-c"));
    for (const char* part : {"self_attn.o_proj", "896", "leaves of 256", "--tree-leaf 128"})
        QVERIFY2(uneven.find(part) != std::string::npos, uneven.c_str());
    const std::string parts = answer(qwenHalf, parallel(6, "ring"));
    QVERIFY2(parts.find("6 equal parts") != std::string::npos, parts.c_str());
    QVERIFY2(parts.find("--tp 4") != std::string::npos, parts.c_str());
    QVERIFY(answer(model(3, 5, 15), parallel(4, "tree-b")).find("No tree serves")
            != std::string::npos);

    ModelPlan moe = model(16, 128, 0);
    moe.moe = MoePlan{};
    moe.moe->expertWidth = 768;
    moe.moe->sharedWidth = 1024;
    for (LayerPlan& layer : moe.layers)
        layer.sparse = true;
    QCOMPARE(answer(moe, parallel(1, "tree-a")), std::string());
    QVERIFY(answer(moe, parallel(2, "tree-a")).find("model.layers.0.mlp.experts.*.down_proj")
            != std::string::npos);
    moe.moe->expertWidth = 1024;
    moe.moe->sharedWidth = 768;
    QVERIFY(answer(moe, parallel(2, "tree-a")).find("mlp.shared_expert.down_proj")
            != std::string::npos);
    const auto policy = Policy::parse("bf16", moe);
    QCOMPARE(reductionText(*ParallelPlan::of(parallel(2, "tree-a")), moe, *policy),
             std::string("tree-a, leaf 256"));
    QCOMPARE(reductionText(*ParallelPlan::of(parallel(1, "")), moe, *policy), std::string("none"));
    // The leaf is that of the dtype which a layer computes in.
    const auto layercast = Policy::parse("layercast", qwen32b);
    QVERIFY(layercast);
    QCOMPARE(reductionText(*ParallelPlan::of(parallel(2, "tree-a")), qwen32b, *layercast),
             std::string("tree-a, leaf 128"));
    const auto noMlp = Policy::parse("nomlp", qwen32b);
    QVERIFY(noMlp);
    QCOMPARE(reductionText(*ParallelPlan::of(parallel(2, "tree-a")), qwen32b, *noMlp),
             std::string("tree-a, leaf 128 and 256"));
}

void ParallelPlanTest::kPlans()
{
    QVERIFY(KPlan::parse("")->isPlain());
    QVERIFY(KPlan::parse("combine=tree")->isPlain()); // nothing to combine
    const auto plan = KPlan::parse("partial=bf16,block=64,combine=tree,split=4");
    QVERIFY(plan && !plan->isPlain());
    QCOMPARE(plan->text(), std::string("block=64,split=4,combine=tree,partial=bf16"));
    QVERIFY(*KPlan::parse(plan->text()) == *plan);
    QCOMPARE(KPlan::parse("split=2")->text(), std::string("split=2,combine=seq,partial=fp32"));
    // 1000 inputs are 16 blocks of 64, the last one of 40: four blocks a slice.
    const auto sum = plan->sumOf(1000);
    QCOMPARE(sum.leaf, std::size_t{64});
    QCOMPARE(sum.group, std::size_t{4});
    QVERIFY(sum.leafType == DType::FP32 && sum.groupType == DType::BF16
            && sum.combine == device::Combine::Tree && !sum.continuous);
    const auto slices = KPlan::parse("split=3,combine=wide")->sumOf(100);
    QCOMPARE(slices.leaf, std::size_t{34});
    QCOMPARE(slices.group, std::size_t{1});
    QVERIFY(slices.combine == device::Combine::Wide);
}

void ParallelPlanTest::refusedKPlans_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text :
         {"block", "block=", "block=0", "block=-1", "block=16777217", "split=2x", "combine=ring",
          "partial=fp64", "tile=3", "split=2,", ",split=2", "split=2,split=2", "=3", " split=2"})
        QTest::addRow("%s", text) << text;
}

void ParallelPlanTest::refusedKPlans()
{
    QFETCH(QString, text);
    const auto plan = KPlan::parse(text.toStdString());
    QVERIFY(!plan);
    QCOMPARE(plan.error().code, Errc::Invalid);
    QVERIFY(plan.error().sentence.find("K-plan") != std::string::npos);
}

QTEST_APPLESS_MAIN(ParallelPlanTest)
#include "parallel_plan_test.moc"
