// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"
#include "core/diff/run_matrix.h"
#include "tests/core/diff/compared.h"
#include "tests/core/diff/report_dump.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

/// A target with differences all over, a NaN, and a split in its last sample.
PlainRun perturbed(PlainRun run)
{
    std::mt19937_64 engine(7);
    for (PlainRun::Row& row : run.rows)
        for (auto& values : row.values)
            for (double& value : values)
                if (engine() % 5 == 0)
                    value *= 1 + 1e-2 * (static_cast<double>(engine() % 100) / 100 - 0.5);
    run.rows[3].values[2][1] = std::numeric_limits<double>::quiet_NaN();
    run.rows[4].values.back()[7] = std::numeric_limits<double>::infinity();
    run.tokens.back().back().id += 1;
    return run;
}

} // namespace

class ComparisonTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalRuns();
    void anyCutAnyMergeAnyThreads();
    void neverNaN();
    void cancelled();
    void nothingInCommon();
    void leftOverMakesOne();
    void incompleteIsSaidFirst();
    void weightsAreSaidFirst();
    void levelsBelowFull();
    void measuresOfAMatrixAlone();
    void firstOnlyReadsNoValue();
    void filterNarrows();
    void digestsThatLie();
    void differentDTypes();
    void partialFold();
};

void ComparisonTest::equalRuns()
{
    const PlainRun run = randomRun(1, 3, 9);
    const Report report = compared(run, run);
    QCOMPARE(report.exit, 0);
    QCOMPARE(report.verdict, std::string("Bitwise equal: 27 rows × 19 taps."));
    QVERIFY(!report.first.bitwise && !report.first.argmax && !report.first.experts);
    QCOMPARE(*report.findMeasure("A1")->value, 100.0);
    QCOMPARE(*report.findMeasure("C1")->value, 0.0);
    QCOMPARE(*report.findMeasure("H1")->value, 100.0);
    QCOMPARE(*report.findMeasure("B4")->value, 0.0);
    QCOMPARE(*report.findMeasure("E3[k=5]")->value, 100.0);
    QCOMPARE(report.sites.size(), std::size_t{27 * 19});
}

void ComparisonTest::anyCutAnyMergeAnyThreads()
{
    const PlainRun plain = randomRun(2, 4, 11);
    const auto reference = plain.build("reference");
    const auto target = perturbed(plain).build("target");
    base::Progress progress;
    auto whole = compare(reference, target, {}, {}, 1, {}, progress);
    QVERIFY(whole);
    const std::string expected = dump(*whole);
    QVERIFY(expected.find("First divergence") != std::string::npos);
    for (const unsigned threads : {2U, 3U, 64U}) {
        auto again = compare(reference, target, {}, {}, threads, {}, progress);
        QVERIFY(again);
        QCOMPARE(dump(*again), expected);
        QCOMPARE(progress.done.load(), progress.total.load());
    }
    auto aligned = align(*reference, *target, {});
    QVERIFY(aligned);
    const auto pairs = std::make_shared<const Alignment>(*aligned);
    std::mt19937_64 engine(3);
    for (int round = 0; round < 20; ++round) {
        std::vector<Comparison> parts;
        for (int i = 0; i < 4; ++i)
            parts.emplace_back(reference, target, pairs, ComparisonOptions{});
        for (std::size_t begin = 0; begin < pairs->rows.size();) {
            const std::size_t end = std::min(pairs->rows.size(), begin + 1 + engine() % 5);
            QVERIFY(parts[engine() % 4].add(begin, end));
            if (engine() % 4 == 0) // some pieces twice: they count once
                QVERIFY(parts[engine() % 4].add(begin, end));
            begin = end;
        }
        while (parts.size() > 1) {
            const std::size_t from = engine() % parts.size();
            Comparison other = std::move(parts[from]);
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
            parts[engine() % parts.size()].merge(std::move(other));
        }
        QCOMPARE(dump(parts[0].report()), expected);
    }
}

void ComparisonTest::neverNaN()
{
    PlainRun run = randomRun(4, 2, 6);
    PlainRun target = perturbed(run);
    for (double& value : target.rows[1].values.back())
        value = std::numeric_limits<double>::quiet_NaN();
    for (double& value : run.rows[2].values[0])
        value = 0;
    const Report report = compared(run, target);
    const auto check = [](const Measure& m) {
        QVERIFY2(!m.value || std::isfinite(*m.value), m.id.c_str());
        QVERIFY2(m.value || !m.whyNull.empty(), m.id.c_str());
        for (const auto& [key, value] : m.parameters)
            QVERIFY2(std::isfinite(value), (m.id + key).c_str());
        for (const auto& [key, value] : m.percentiles)
            QVERIFY2(std::isfinite(value), (m.id + key).c_str());
        for (const auto& value : m.byPosition)
            QVERIFY2(!value || std::isfinite(*value), m.id.c_str());
        for (const auto& [layer, value] : m.byLayer)
            QVERIFY2(std::isfinite(value), m.id.c_str());
    };
    for (const Measure& measure : report.measures)
        check(measure);
    for (const TapReport& tap : report.taps)
        for (const Measure& measure : tap.measures)
            check(measure);
    for (const SampleReport& sample : report.samples)
        for (const Measure& measure : sample.measures)
            check(measure);
    QCOMPARE(report.findMeasure("C1")->parameters.at("rows_not_finite"), 1.0);
    QCOMPARE(report.exit, 1);
}

void ComparisonTest::cancelled()
{
    const auto run = randomRun(1, 2, 5).build();
    base::Progress progress;
    std::stop_source stop;
    stop.request_stop();
    const auto report = compare(run, run, {}, {}, 2, stop.get_token(), progress);
    QVERIFY(!report);
    QCOMPARE(report.error().code, Errc::Cancelled);
}

void ComparisonTest::nothingInCommon()
{
    const PlainRun run = randomRun(1, 1, 4);
    const auto expectIncomparable = [&](const PlainRun& target) {
        base::Progress progress;
        const auto report = compare(run.build(), target.build(), {}, {}, 1, {}, progress);
        QVERIFY(!report);
        QCOMPARE(report.error().code, Errc::Incomparable);
        QVERIFY(!report.error().hint.empty());
    };
    PlainRun target = run;
    target.samples[0].id = "another";
    target.tokens[0][0] = {79, false, -1, "other"}; // nor the same prompt
    expectIncomparable(target);
    target = run;
    for (trace::Tap& tap : target.header.taps)
        if (tap.name != trace::headTapName)
            tap.name += "x";
    target.header.taps.back().name = "head";
    target.header.logits = {};
    expectIncomparable(target);
    target = run;
    target.tokens[0][0] = {79, false, -1, "other"};
    expectIncomparable(target);
    target = run;
    target.rows.clear();
    expectIncomparable(target);
}

void ComparisonTest::leftOverMakesOne()
{
    const PlainRun run = randomRun(1, 2, 4);
    PlainRun target = run;
    target.header.taps[1].name = "elsewhere.out";
    Report report = compared(run, target);
    QCOMPARE(report.exit, 1);
    QVERIFY(report.verdict.find("Equal in what was compared (8 rows × 18 taps)") == 0);
    QVERIFY(
        report.verdict.find("1 tap of the reference and 1 tap of the target have no counterpart")
        != std::string::npos);
    QCOMPARE(compared(run, target, 1, {.allowMissing = true}).exit, 0);

    target = run;
    target.rows.pop_back();
    report = compared(run, target);
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.alignment.rowsOnlyReference, std::uint64_t{1});
    QVERIFY(report.verdict.find("1 row of the reference has no counterpart") != std::string::npos);

    target = run;
    target.samples.pop_back();
    target.tokens.pop_back();
    std::erase_if(target.rows, [](const PlainRun::Row& row) { return row.sample == 1; });
    report = compared(run, target);
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.alignment.samplesOnlyReference, std::vector<std::string>{"s1"});
    QCOMPARE(report.alignment.rowsOnlyReference, std::uint64_t{4});
}

void ComparisonTest::incompleteIsSaidFirst()
{
    const PlainRun run = randomRun(1, 1, 4);
    PlainRun target = run;
    target.complete = false;
    Report report = compared(run, target);
    QCOMPARE(report.exit, 1);
    QVERIFY(report.verdict.find("The target capture is incomplete; it is compared as far as its 4 "
                                "committed rows go.")
            == 0);
    QVERIFY(report.alignment.incompleteTarget);
    QCOMPARE(compared(run, target, 1, {.allowMissing = true}).exit, 0);
}

void ComparisonTest::weightsAreSaidFirst()
{
    PlainRun run = randomRun(1, 1, 4);
    run.header.environment.set(trace::env::weightDigest, "0x1");
    run.header.environment.set(trace::env::startTime, "now");
    PlainRun target = run;
    target.header.environment.set(trace::env::weightDigest, "0x2");
    target.header.environment.set(trace::env::startTime, "later");
    const Report report = compared(run, target);
    QVERIFY(report.verdict.find("Weights differ: 0x1 in the reference, 0x2 in the target. ") == 0);
    QCOMPARE(report.exit, 0);
    QCOMPARE(report.environmentDifferences.size(), std::size_t{1});
    QCOMPARE(report.environmentDifferences[0].key, std::string(trace::env::weightDigest));

    // What given tokens were drawn by says nothing of a run that only scores them.
    run.header.environment.set(trace::env::sampling, std::string("temperature 0.7"));
    target = run;
    target.header.environment.set(trace::env::sampling, std::string("greedy"));
    QCOMPARE(compared(run, target).environmentDifferences.size(), std::size_t{1});
    target.header.environment.set(trace::env::replay, std::string("forced"));
    const auto left = compared(run, target).environmentDifferences;
    QCOMPARE(left.size(), std::size_t{1});
    QCOMPARE(left[0].key, std::string(trace::env::replay));
}

void ComparisonTest::levelsBelowFull()
{
    const PlainRun run = randomRun(5, 2, 6);
    const PlainRun changed = perturbed(run);
    const Report full = compared(run, changed);
    for (const trace::Level level : {trace::Level::TopK, trace::Level::Digest}) {
        PlainRun a = run;
        PlainRun b = changed;
        a.header.level = level;
        b.header.level = level;
        const Report report = compared(a, b);
        QCOMPARE(report.exit, 1);
        QCOMPARE(report.first.bitwise->tap, full.first.bitwise->tap);
        QCOMPARE(report.first.bitwise->row, full.first.bitwise->row);
        QVERIFY(!report.first.bitwise->element);
        QCOMPARE(report.first.nonFinite->tap, full.first.nonFinite->tap);
        QCOMPARE(line(report.first.topK), line(full.first.topK));
        QCOMPARE(line(report.first.argmax), line(full.first.argmax));
        for (const char* id : {"E1", "E2", "E3", "E3[k=64]", "E4", "A6", "H1", "F1"})
            QCOMPARE(*report.findMeasure(id)->value, *full.findMeasure(id)->value);
        QVERIFY(!report.findMeasure("C1")->value);
        QVERIFY(!report.findMeasure("C1")->whyNull.empty());
        const Report same = compared(a, a);
        QCOMPARE(same.exit, 0);
        QCOMPARE(*same.findMeasure("A1")->value, 100.0);
    }
}

void ComparisonTest::measuresOfAMatrixAlone()
{
    const PlainRun run = randomRun(5, 2, 6);
    const PlainRun changed = perturbed(run);
    const Report full = compared(run, changed);
    ComparisonOptions options;
    options.everyMeasure = false;
    const Report report = compared(run, changed, 1, options);
    QCOMPARE(report.verdict, full.verdict);
    QCOMPARE(report.measures.size(), full.measures.size());
    for (const MatrixMeasure& measure : matrixMeasures())
        for (const std::string_view id : {measure.id, measure.swapped})
            QVERIFY2(report.findMeasure(id)->value == full.findMeasure(id)->value,
                     std::string(id).c_str());
    for (const char* id : {"A2", "B3", "B8", "C3", "C11", "D1", "E4", "F1", "G2"}) {
        QVERIFY2(!report.findMeasure(id)->value, id);
        QVERIFY2(!report.findMeasure(id)->whyNull.empty(), id);
    }
}

void ComparisonTest::firstOnlyReadsNoValue()
{
    const PlainRun run = randomRun(5, 2, 6);
    const PlainRun changed = perturbed(run);
    const Report full = compared(run, changed);
    const Report first = compared(run, changed, 1, {.firstOnly = true});
    QCOMPARE(first.first.bitwise->tap, full.first.bitwise->tap);
    QCOMPARE(first.first.bitwise->row, full.first.bitwise->row);
    QCOMPARE(line(first.first.argmax), line(full.first.argmax));
    QCOMPARE(first.findMeasure("B1")->whyNull,
             std::string("only the first divergences were asked for"));
    for (const Site& site : first.sites)
        QVERIFY(!site.valuesCompared);
}

void ComparisonTest::filterNarrows()
{
    const PlainRun run = randomRun(6, 1, 5);
    PlainRun target = run;
    target.rowAt(0, 2).values[target.tapAt("model.norm.out")][0] += 1;
    target.header.taps[1].name = "elsewhere.out";
    AlignmentOptions only{{"*q_proj*"}};
    const Report report = compared(run, target, 1, {}, only);
    QCOMPARE(report.exit, 0);
    QCOMPARE(report.alignment.taps, std::uint64_t{2});
    QVERIFY(report.alignment.tapsOnlyReference.empty());
    QCOMPARE(report.findMeasure("A1")->whyNull,
             std::string("lm_head.out is not among the taps compared"));
    QCOMPARE(compared(run, target, 1, {}, {{"model.norm.*"}}).exit, 1);
    const auto nothing = align(*run.build(), *target.build(), {{"*q_proj*", "nosuch*"}});
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().code, Errc::Invalid);
    QCOMPARE(nothing.error().place, std::string("nosuch*"));
}

void ComparisonTest::digestsThatLie()
{
    const PlainRun plain = randomRun(6, 1, 3);
    trace::RunBuilder builder(plain.header, "liar");
    QVERIFY(builder.beginSample(plain.samples[0], plain.tokens[0]));
    // Every row of the honest run, one digest of one row changed.
    const auto honest = plain.build();
    for (trace::RowIndex r = 0; r < honest->rowCount(); ++r) {
        trace::RowBlock block;
        block.rows = {honest->row(r)};
        for (std::size_t t = 0; t < plain.header.taps.size(); ++t) {
            const auto view = honest->values(static_cast<trace::TapIndex>(t), r, r + 1);
            QVERIFY(view);
            block.values.emplace_back(view->row(r), view->row(r) + plain.header.taps[t].rowBytes());
        }
        for (const auto& routing : plain.rows[r].routing) {
            const std::vector<double> weights(routing.weights.begin(), routing.weights.end());
            const std::vector<double> logits(routing.logits.begin(), routing.logits.end());
            block.routing.push_back({routing.ids,
                                     packed(weights, numeric::DType::FP32),
                                     packed(logits, numeric::DType::FP32),
                                     {}});
        }
        trace::appendTopK(plain.header.logits, block.values.back().data(), -1, block.topK);
        trace::summariseBlock(plain.header, block);
        if (r == 1)
            block.digests[2] ^= 1U;
        QVERIFY(builder.append(std::move(block)));
    }
    QVERIFY(builder.finish({}));
    base::Progress progress;
    const auto report = compare(honest, builder.snapshot(), {}, {}, 1, {}, progress);
    QVERIFY(!report);
    QCOMPARE(report.error().code, Errc::Damaged);
    QVERIFY(report.error().place.find("s0/1/") == 0);
}

void ComparisonTest::differentDTypes()
{
    const PlainRun half = randomRun(8, 1, 4, numeric::DType::BF16);
    PlainRun whole = half;
    for (trace::Tap& tap : whole.header.taps)
        tap.dtype = numeric::DType::FP32;
    whole.header.logits.dtype = numeric::DType::FP32;
    const Report report = compared(half, whole); // fp32 keeps what bf16 rounded away
    QCOMPARE(report.exit, 1);
    QVERIFY(report.verdict.find("17 taps were recorded in different dtypes and compared by value")
            == 0);
    QVERIFY(!report.first.bitwise->ulps);
    QVERIFY(!report.findMeasure("A1")->value);
    QCOMPARE(*report.findMeasure("A2")->value, 100.0);
    QVERIFY(*report.findMeasure("B4")->value > 0);
}

void ComparisonTest::partialFold()
{
    const PlainRun plain = randomRun(9, 2, 5);
    const auto reference = plain.build();
    const auto target = perturbed(plain).build();
    auto aligned = align(*reference, *target, {});
    QVERIFY(aligned);
    const auto pairs = std::make_shared<const Alignment>(*aligned);
    Comparison comparison(reference, target, pairs, {});
    QVERIFY(comparison.report().measures.size() > 0);
    QVERIFY(comparison.add(2, 4));
    QVERIFY(!comparison.add(3, pairs->rows.size() + 1));
    const Report report = comparison.report();
    QCOMPARE(report.alignment.rows, std::uint64_t{2});
    QCOMPARE(report.findMeasure("E1")->n, std::uint64_t{2});
    QVERIFY(report.site(0, 0).state == Site::State::NotRecorded);
    QVERIFY(report.site(2, 0).state != Site::State::NotRecorded);
}

QTEST_APPLESS_MAIN(ComparisonTest)
#include "comparison_test.moc"
