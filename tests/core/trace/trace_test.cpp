// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/digest.h"
#include "core/trace/run_builder.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace moire;
using namespace moire::trace;
using numeric::DType;

namespace {

RunHeader smallHeader(Level level = Level::Full)
{
    RunHeader header;
    header.level = level;
    Tap tap;
    tap.name = "model.norm.out";
    tap.dtype = DType::FP32;
    tap.width = 3;
    header.taps.push_back(tap);
    tap.name = "lm_head.out";
    tap.dtype = DType::BF16;
    tap.width = 4;
    header.taps.push_back(tap);
    RouterLayer router;
    router.module = "model.layers.0.mlp.gate";
    router.experts = 4;
    router.chosen = 2;
    header.routers.push_back(router);
    header.logits = {4, 2, DType::BF16, 1};
    return header;
}

std::vector<std::byte> bytesOf(const void* data, std::size_t size)
{
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), data, size);
    return bytes;
}

/// `count` rows of sample 0 whose values begin at `first`.
RowBlock makeBlock(const RunHeader& header, std::uint32_t count, float first)
{
    RowBlock block;
    block.values.resize(2);
    block.routing.resize(1);
    for (std::uint32_t r = 0; r < count; ++r) {
        Row row;
        row.position = r;
        const float norm[] = {first + static_cast<float>(r), 0.0F, -1.0F};
        const std::uint16_t logits[] = {0x3F80, 0x4040, 0x4000, 0x4040}; // 1, 3, 2, 3
        const auto a = bytesOf(norm, sizeof norm);
        const auto b = bytesOf(logits, sizeof logits);
        block.values[0].insert(block.values[0].end(), a.begin(), a.end());
        block.values[1].insert(block.values[1].end(), b.begin(), b.end());
        row.score = appendTopK(header.logits, b.data(), 2, block.topK);
        block.topK.askedIds.push_back(0);
        block.topK.askedValues.push_back(1.0F);
        block.rows.push_back(row);
        block.routing[0].ids.insert(block.routing[0].ids.end(), {3, static_cast<int>(r)});
        block.routing[0].weights.resize((r + 1) * 2 * sizeof(float));
        block.routing[0].logits.resize((r + 1) * 4 * sizeof(float));
    }
    summariseBlock(header, block);
    return block;
}

} // namespace

class TraceTest : public QObject
{
    Q_OBJECT

private slots:
    void environmentKeepsOrderAndTypes()
    {
        Environment environment;
        environment.set(env::policy, std::string("bf16"));
        environment.set(env::seed, std::int64_t{7});
        environment.set(env::policy, std::string("fp32"));
        QCOMPARE(environment.fields().size(), std::size_t{2});
        QCOMPARE(environment.text(env::policy), std::string("fp32"));
        QCOMPARE(environment.text(env::seed), std::string("7"));
        QCOMPARE(environment.text(env::device), std::string());
        QVERIFY(environment.find(env::device) == nullptr);
        QVERIFY(isIncidental(env::wallSeconds) && !isIncidental(env::policy));
    }

    void summaryByHand()
    {
        constexpr float inf = std::numeric_limits<float>::infinity();
        const float values[] = {1, -2, 0.5F, 3, NAN, inf};
        const RowSummary s = summarise(reinterpret_cast<const std::byte*>(values), DType::FP32, 6);
        QCOMPARE(s.counts.finite, 4U);
        QCOMPARE(s.counts.nan, 1U);
        QCOMPARE(s.counts.infinite, 1U);
        QCOMPARE(s.statistics.min, -2.0F);
        QCOMPARE(s.statistics.max, 3.0F);
        QCOMPARE(s.statistics.mean, 0.625F);
        QCOMPARE(s.statistics.l2, static_cast<float>(std::sqrt(14.25)));
        const float none[] = {NAN, -inf};
        const RowSummary empty =
            summarise(reinterpret_cast<const std::byte*>(none), DType::FP32, 2);
        QCOMPARE(empty.counts.finite, 0U);
        QVERIFY(std::isnan(empty.statistics.min) && std::isnan(empty.statistics.l2));
    }

    void topKTableAgainstNumPy()
    {
        // numpy: l = [1, 3, 2, 3]; lse = log(sum(exp(l))) = 3.9175757955891974,
        // 1 − Σ over ids 1 and 3 of exp(l − lse) = 0.20102739069939435.
        const std::uint16_t logits[] = {0x3F80, 0x4040, 0x4000, 0x4040};
        TopKBlock block;
        const TokenScore score = appendTopK({4, 2, DType::BF16, 0},
                                            reinterpret_cast<const std::byte*>(logits), 2, block);
        QCOMPARE(block.ids, (std::vector<std::int32_t>{1, 3}));
        QCOMPARE(block.values, (std::vector<float>{3, 3}));
        QVERIFY(std::fabs(block.logSumExp[0] - 3.9175757955891974) < 1e-14);
        QVERIFY(std::fabs(block.remainingMass[0] - 0.20102739069939435) < 1e-14);
        QCOMPARE(score.id, 2);
        QCOMPARE(score.logit, 2.0F);
        QCOMPARE(score.rank, 2);
        QVERIFY(std::fabs(score.logProb - (2 - 3.9175757955891974)) < 1e-14);
        const TokenScore none = appendTopK({4, 2, DType::BF16, 0},
                                           reinterpret_cast<const std::byte*>(logits), -1, block);
        QCOMPARE(none.id, -1);
        QCOMPARE(block.ids.size(), std::size_t{4});
    }

    void snapshotsDoNotChange()
    {
        RunBuilder builder(smallHeader(), "memory");
        Sample sample;
        sample.id = "a";
        QVERIFY(builder.beginSample(sample, {Token{5, false, 0, "x"}}));
        const RunPointer before = builder.snapshot();
        QVERIFY(builder.append(makeBlock(builder.snapshot()->header(), 2, 10.0F)));
        const RunPointer two = builder.snapshot();
        QVERIFY(builder.append(makeBlock(two->header(), 3, 20.0F)));
        QVERIFY(builder.addTokens(SampleIndex{0}, {Token{6, true, 1, "y"}}));
        QVERIFY(builder.endSample(SampleIndex{0}, "length", ""));
        Environment closing;
        closing.set(env::wallSeconds, 1.5);
        QVERIFY(builder.finish(closing));
        const RunPointer all = builder.snapshot();

        QCOMPARE(before->rowCount(), RowIndex{0});
        QCOMPARE(two->rowCount(), RowIndex{2});
        QCOMPARE(all->rowCount(), RowIndex{5});
        QVERIFY(!two->complete() && all->complete());
        QVERIFY(before->generation() < two->generation() && two->generation() < all->generation());
        QCOMPARE(two->tokens(SampleIndex{0}).size(), std::size_t{1});
        QCOMPARE(all->tokens(SampleIndex{0}).size(), std::size_t{2});
        QCOMPARE(all->samples()[0].stopReason, std::string("length"));
        QVERIFY(all->missingRows() == 0 && !two->missingRows());
        QVERIFY(all->findTap("lm_head.out") == TapIndex{1} && !all->findTap("x"));
        QVERIFY(all->findSample("a") == SampleIndex{0} && !all->findSample("b"));
    }

    void valuesComeInPieces()
    {
        RunBuilder builder(smallHeader(), "memory");
        QVERIFY(builder.beginSample({}, {}));
        QVERIFY(builder.append(makeBlock(smallHeader(), 2, 10.0F)));
        QVERIFY(builder.append(makeBlock(smallHeader(), 3, 20.0F)));
        const RunPointer run = builder.snapshot();
        const auto first = run->values(TapIndex{0}, 1, 5);
        QVERIFY(first);
        QCOMPARE(first->rowEnd, RowIndex{2}); // the block ends here
        double row[3];
        widenRow(*first, 1, row);
        QCOMPARE(row[0], 11.0);
        const auto second = run->values(TapIndex{0}, first->rowEnd, 5);
        QCOMPARE(second->rowEnd, RowIndex{5});
        widenRow(*second, 4, row);
        QCOMPARE(row[0], 22.0);
        QVERIFY(!run->values(TapIndex{0}, 3, 3) && !run->values(TapIndex{0}, 0, 6));
        QVERIFY(!run->values(TapIndex{2}, 0, 1));
        const auto routing = run->routing(0, 4);
        QVERIFY(routing && routing->ids[0] == 3 && routing->ids[1] == 2);
        QVERIFY(!run->routing(1, 0) && !run->routing(0, 5));
        QCOMPARE(run->topK(3)->ids[0], 1);
        QVERIFY(!run->topK(5));
        QCOMPARE(run->row(4).position, 2U);
        QCOMPARE(run->digests(4).size(), std::size_t{2});
    }

    void levelsLeaveOutWhatTheySay()
    {
        for (const Level level : {Level::Digest, Level::TopK}) {
            const RunHeader header = smallHeader(level);
            RunBuilder builder(header, "memory");
            QVERIFY(builder.beginSample({}, {}));
            QVERIFY(builder.append(makeBlock(header, 1, 1.0F)));
            const RunPointer run = builder.snapshot();
            const auto values = run->values(TapIndex{0}, 0, 1);
            QVERIFY(!values && values.error().code == Errc::NotFound);
            QCOMPARE(run->statistics(0).empty(), level == Level::Digest);
        }
    }

    void blocksOfTheWrongSizeAreNamed()
    {
        const RunHeader header = smallHeader();
        const auto refused = [&](auto spoil, const char* word) {
            RowBlock block = makeBlock(header, 2, 1.0F);
            QVERIFY(checkBlock(header, block));
            spoil(block);
            const auto checked = checkBlock(header, block);
            QVERIFY2(!checked, word);
            QVERIFY(checked.error().code == Errc::Invalid);
            QVERIFY2(checked.error().sentence.find(word) != std::string::npos, word);
        };
        refused([](RowBlock& b) { b.values.pop_back(); }, "tap list");
        refused([](RowBlock& b) { b.values[1].pop_back(); }, "lm_head.out");
        refused([](RowBlock& b) { b.digests.push_back(0); }, "digests");
        refused([](RowBlock& b) { b.counts.pop_back(); }, "counts");
        refused([](RowBlock& b) { b.statistics.clear(); }, "statistics");
        refused([](RowBlock& b) { b.routing.clear(); }, "router list");
        refused([](RowBlock& b) { b.routing[0].ids.pop_back(); }, "mlp.gate");
        refused([](RowBlock& b) { b.routing[0].scores.push_back(0); }, "mlp.gate");
        refused([](RowBlock& b) { b.topK.ids.pop_back(); }, "top-K");
        refused([](RowBlock& b) { b.topK.askedIds.pop_back(); }, "top-K");
        refused([](RowBlock& b) { b.rows.pop_back(); }, "model.norm.out");
    }

    void rowsNeedTheirSample()
    {
        RunBuilder builder(smallHeader(), "memory");
        const auto appended = builder.append(makeBlock(smallHeader(), 1, 1.0F));
        QVERIFY(!appended && appended.error().code == Errc::Invalid);
        QVERIFY(!builder.addTokens(SampleIndex{0}, {}));
        QVERIFY(!builder.endSample(SampleIndex{0}, "", ""));
    }

    void rollUpIsTheDigestOfTheDigests()
    {
        const RunHeader header = smallHeader();
        const RowBlock block = makeBlock(header, 2, 1.0F);
        for (std::size_t r = 0; r < 2; ++r) {
            std::uint64_t expected = 0;
            for (std::uint64_t t = 0; t < 2; ++t)
                expected += numeric::digestTerm(block.digests[r * 2 + t], t);
            QCOMPARE(block.rows[r].rollUp, expected);
        }
    }

    void numbersOfTheFormat()
    {
        QVERIFY(tapKindFromNumber(14) == TapKind::RotaryTable && !tapKindFromNumber(15));
        QVERIFY(phaseFromNumber(3) == Phase::Prefix && !phaseFromNumber(4));
        QVERIFY(constructionFromNumber(1) == Construction::Steps && !constructionFromNumber(2));
        QVERIFY(levelFromNumber(2) == Level::Full && !levelFromNumber(3));
        QVERIFY(levelFromName("topk") == Level::TopK && !levelFromName("all"));
    }
};

QTEST_APPLESS_MAIN(TraceTest)
#include "trace_test.moc"
