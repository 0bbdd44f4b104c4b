// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"
#include "core/diff/first_divergence.h"
#include "core/diff/noise_floor.h"
#include "core/diff/origin.h"
#include "core/diff/tolerance.h"
#include "tests/core/diff/compared.h"
#include "tests/core/diff/report_dump.h"

#include <QtTest>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

/// The ids of a row of bf16 logits, best first, by a plain sort.
std::vector<int> ranking(const std::vector<double>& logits)
{
    std::vector<int> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto value = [&](int id) {
        return numeric::floatFromBf16(
            numeric::bf16FromFloat(static_cast<float>(logits[static_cast<std::size_t>(id)])));
    };
    std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return value(a) > value(b); });
    return ids;
}

/// Whether the best five ids are the same set.
bool sameFive(const std::vector<double>& a, const std::vector<double>& b)
{
    auto first = ranking(a);
    auto second = ranking(b);
    first.resize(5);
    second.resize(5);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    return first == second;
}

std::string siteOf(const std::optional<Divergence>& divergence)
{
    if (!divergence)
        return "none";
    return divergence->sample + '/' + std::to_string(divergence->position) + '/' + divergence->tap
           + (divergence->element ? '/' + std::to_string(*divergence->element) : std::string());
}

} // namespace

class FirstDivergenceTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneBit();
    void swappedExpert();
    void crossedLogits();
    void notANumber();
    void payloadOfNaN();
    void zeroesOfBothSigns();
    void worstElement();
    void originThroughKAndV();
    void originUnknown();
    void splitOfFreeRuns();
    void promptsThatDiffer();
    void slotsByExpert();
};

void FirstDivergenceTest::oneBit()
{
    std::mt19937_64 engine(11);
    const PlainRun run = randomRun(21, 3, 8);
    for (int round = 0; round < 300; ++round) {
        PlainRun target = run;
        const std::size_t at = engine() % target.rows.size();
        PlainRun::Row& row = target.rows[at];
        const std::size_t tap = engine() % row.values.size();
        const std::size_t element = engine() % row.values[tap].size();
        double& value = row.values[tap][element];
        if (run.header.taps[tap].dtype == numeric::DType::FP32)
            value = std::nextafter(static_cast<float>(value), 100.0F);
        else
            value = numeric::floatFromBf16(numeric::bf16FromFloat(static_cast<float>(value)) ^ 1U);
        const Report report = compared(run, target);
        const std::string site = run.samples[row.sample].id + '/' + std::to_string(row.position)
                                 + '/' + run.header.taps[tap].name;
        QCOMPARE(siteOf(report.first.bitwise), site + '/' + std::to_string(element));
        QCOMPARE(report.first.bitwise->row, static_cast<trace::RowIndex>(at));
        QCOMPARE(*report.first.bitwise->ulps, std::uint64_t{1});
        QVERIFY(report.first.bitwise->origin == Origin::Introduced);
        QVERIFY(!report.first.nonFinite && !report.first.experts && !report.first.token);
        QVERIFY(!report.first.tolerance && !report.first.floor);
        QCOMPARE(report.exit, 1);
        const auto& before = run.rows[at].values.back();
        const auto& after = row.values.back();
        QCOMPARE(report.first.argmax.has_value(), ranking(before)[0] != ranking(after)[0]);
        QCOMPARE(report.first.topK.has_value(), !sameFive(before, after));
        QCOMPARE(std::count_if(report.sites.begin(), report.sites.end(),
                               [](const Site& s) { return s.state == Site::State::Different; }),
                 std::ptrdiff_t{1});
    }
}

void FirstDivergenceTest::swappedExpert()
{
    std::mt19937_64 engine(12);
    const PlainRun run = randomRun(22, 2, 6);
    for (int round = 0; round < 50; ++round) {
        PlainRun target = run;
        const std::size_t at = engine() % target.rows.size();
        const std::size_t router = engine() % 2;
        auto& ids = target.rows[at].routing[router].ids;
        const std::size_t slot = engine() % ids.size();
        const std::int32_t gone = ids[slot];
        while (ids[slot] == gone || ids[slot] == ids[1 - slot])
            ids[slot] = static_cast<std::int32_t>(engine() % 8);
        const Report report = compared(run, target);
        const PlainRun::Row& row = run.rows[at];
        QCOMPARE(siteOf(report.first.experts), run.samples[row.sample].id + '/'
                                                   + std::to_string(row.position) + "/model.layers."
                                                   + std::to_string(router) + ".mlp.gate.out");
        QCOMPARE(report.first.experts->note, "expert " + std::to_string(ids[slot]) + " for expert "
                                                 + std::to_string(gone)
                                                 + ", chosen from equal router logits");
        QVERIFY(report.first.experts->origin == Origin::Introduced);
        QCOMPARE(*report.first.experts->referenceValue, double(gone));
        QCOMPARE(*report.first.experts->targetValue, double(ids[slot]));
        QCOMPARE(report.first.experts->layer, static_cast<std::int32_t>(router));
        QVERIFY(!report.first.bitwise && !report.first.argmax && !report.first.topK);
        QCOMPARE(report.exit, 1);
        QVERIFY(report.verdict.find("Every tensor compared is equal. Routing changes at position ")
                == 0);
    }
}

void FirstDivergenceTest::crossedLogits()
{
    std::mt19937_64 engine(13);
    const PlainRun run = randomRun(23, 2, 6);
    for (int round = 0; round < 50; ++round) {
        PlainRun target = run;
        const std::size_t at = engine() % target.rows.size();
        auto& logits = target.rows[at].values.back();
        const auto ids = ranking(logits);
        const bool five = round % 2 == 0;
        const auto a = static_cast<std::size_t>(ids[five ? 4 : 0]);
        const auto b = static_cast<std::size_t>(ids[five ? 5 : 1]);
        if (numeric::bf16FromFloat(static_cast<float>(logits[a]))
            == numeric::bf16FromFloat(static_cast<float>(logits[b])))
            continue;
        std::swap(logits[a], logits[b]);
        const Report report = compared(run, target);
        const std::string site = run.samples[run.rows[at].sample].id + '/'
                                 + std::to_string(run.rows[at].position) + "/lm_head.out";
        QCOMPARE(siteOf(report.first.bitwise), site + '/' + std::to_string(std::min(a, b)));
        QCOMPARE(siteOf(five ? report.first.topK : report.first.argmax), site);
        QVERIFY(!(five ? report.first.argmax : report.first.topK));
        const Divergence& seen = five ? *report.first.topK : *report.first.argmax;
        QCOMPARE(*seen.referenceValue, static_cast<double>(a));
        QCOMPARE(*seen.targetValue, static_cast<double>(b));
        QVERIFY(!report.first.nonFinite && !report.first.experts);
    }
}

void FirstDivergenceTest::notANumber()
{
    std::mt19937_64 engine(14);
    const PlainRun run = randomRun(24, 2, 6);
    const double infinity = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 60; ++round) {
        PlainRun target = run;
        const std::size_t at = engine() % target.rows.size();
        const std::size_t tap = engine() % (target.rows[at].values.size() - 1);
        const std::size_t element = engine() % target.rows[at].values[tap].size();
        const double bad = round % 3 == 0   ? std::numeric_limits<double>::quiet_NaN()
                           : round % 3 == 1 ? infinity
                                            : -infinity;
        target.rows[at].values[tap][element] = bad;
        const Report report = compared(run, target);
        QCOMPARE(siteOf(report.first.nonFinite), siteOf(report.first.bitwise));
        QCOMPARE(*report.first.nonFinite->element, static_cast<std::uint32_t>(element));
        QCOMPARE(report.first.nonFinite->tap, run.header.taps[tap].name);
        QVERIFY(!report.first.experts && !report.first.argmax && !report.first.topK);
        QCOMPARE(report.first.bitwise->ulps.has_value(), round % 3 != 0);
    }
}

void FirstDivergenceTest::payloadOfNaN()
{
    PlainRun reference = textRun("tap a.out other 0 fp32 3\nsample s : 1 2\nrow 0 : 1 NaN NaN");
    PlainRun target = reference;
    target.rows[0].values[0][2] = -std::numeric_limits<double>::quiet_NaN(); // sign bit only
    const Report report = compared(reference, target);
    QCOMPARE(*report.first.bitwise->element, std::uint32_t{2});
    QVERIFY(!report.first.bitwise->ulps);
    QVERIFY(!report.first.nonFinite);
    QCOMPARE(report.exit, 1);
}

void FirstDivergenceTest::zeroesOfBothSigns()
{
    const PlainRun reference = textRun("tap a.out other 0 fp32 2\nsample s : 1\nrow 0 : 1 0");
    PlainRun target = reference;
    target.rows[0].values[0][1] = -0.0;
    const Report report = compared(reference, target);
    QCOMPARE(line(report.first.bitwise),
             std::string("s/0/a.out/1 0 (0x0) -0 (0x80000000) 0 ulp unknown"));
    QCOMPARE(*report.taps[0].measures[2].value, 0.0); // A4
    QCOMPARE(report.exit, 1);
}

void FirstDivergenceTest::worstElement()
{
    const char* head = "tap a.out other 0 fp32 5\nsample s : 1\n";
    const auto first = [&](const std::string& a, const std::string& b) {
        return *compared(textRun(head + ("row 0 : " + a)), textRun(head + ("row 0 : " + b)))
                    .first.bitwise->element;
    };
    QCOMPARE(first("1 2 3 4 5", "1 2.5 3.5 4.25 5"), 1U);    // largest, lowest index
    QCOMPARE(first("1 2 3 4 5", "1 9 3 4 NaN"), 4U);         // class before size
    QCOMPARE(first("1 2 3 4 5", "1 inf 3 0 5"), 1U);         // first of the class differences
    QCOMPARE(first("inf 2 3 4 NaN", "inf 2 3 4.5 NaN"), 3U); // equal Inf, NaN do not count
}

void FirstDivergenceTest::originThroughKAndV()
{
    const char* text = R"(
tap x.out norm 0 fp32 1 complete
tap self_attn.q_proj.out projection 0 fp32 1 in x.out complete
tap self_attn.k_proj.out projection 0 fp32 1 in x.out complete
tap self_attn.v_proj.out projection 0 fp32 1 in x.out complete
tap self_attn.out attention_output 0 fp32 1 in self_attn.q_proj.out self_attn.k_proj.out self_attn.v_proj.out complete earlier
sample s : 1 2 3
row 0 : 1 ; 1 ; 1 ; 1 ; 1
row 1 : 2 ; 2 ; 2 ; 2 ; 2
row 2 : 3 ; 3 ; 3 ; 3 ; 3)";
    const PlainRun run = textRun(text);
    const auto firstWith = [&](std::size_t tap, std::uint32_t position) {
        PlainRun target = run;
        target.rowAt(0, position).values[tap][0] += 1;
        return compared(run, target).first.bitwise;
    };
    QVERIFY(firstWith(4, 2)->origin == Origin::Introduced);
    QVERIFY(firstWith(2, 0)->origin == Origin::Introduced);

    // The last row's attention, with a difference at an earlier row in q (not read there) or in K.
    const auto originOfAttention = [&](std::size_t tap) {
        PlainRun target = run;
        target.rowAt(0, 0).values[tap][0] += 1;
        target.rowAt(0, 2).values[4][0] += 1;
        const auto reference = run.build();
        const auto other = target.build();
        base::Progress progress;
        const auto report = compare(reference, other, {}, {}, 1, {}, progress);
        const OriginContext context{
            reference->header(), other->header(), report->rows, report->tapPairs,
            [&](std::size_t row, std::size_t t) { return report->site(row, t).state; }};
        return originOf(context, 2, 4);
    };
    QVERIFY(originOfAttention(1) == Origin::Introduced);
    QVERIFY(originOfAttention(2) == Origin::Carried);
    QVERIFY(originOfAttention(3) == Origin::Carried);

    // A position that was not recorded may hold another K.
    PlainRun reference = run;
    reference.rows.erase(reference.rows.begin());
    PlainRun target = reference;
    target.rowAt(0, 2).values[4][0] += 1;
    QVERIFY(compared(reference, target).first.bitwise->origin == Origin::Unknown);
}

void FirstDivergenceTest::originUnknown()
{
    const char* text = R"(
tap x.out norm 0 fp32 1 complete
tap y.out norm 0 fp32 1 in x.out
sample s : 1
row 0 : 1 ; 1)";
    const PlainRun run = textRun(text);
    PlainRun target = run;
    target.rows[0].values[1][0] = 2;
    QVERIFY(compared(run, target).first.bitwise->origin == Origin::Unknown);
    QVERIFY(compared(run, target).verdict.find("its inputs are not all recorded")
            != std::string::npos);
}

void FirstDivergenceTest::splitOfFreeRuns()
{
    const PlainRun run = randomRun(25, 2, 8); // tokens 5 … 8 are the response
    PlainRun target = run;
    target.tokens[1][6].id += 1;
    for (PlainRun::Row& row : target.rows)
        if (row.sample == 1 && row.position >= 6)
            for (auto& values : row.values)
                values[0] += 1;
    const Report report = compared(run, target);
    QCOMPARE(report.alignment.rows, std::uint64_t{8 + 6});
    QCOMPARE(report.alignment.rowsNotComparableReference, std::uint64_t{2});
    QCOMPARE(report.alignment.rowsNotComparableTarget, std::uint64_t{2});
    QCOMPARE(report.samples[1].notComparable, std::uint64_t{4});
    QCOMPARE(*report.samples[1].split, 6U);
    QVERIFY(!report.samples[0].split);
    QVERIFY(!report.first.bitwise); // what follows the split is not compared
    QCOMPARE(siteOf(report.first.token), std::string("s1/5/lm_head.out"));
    QCOMPARE(*report.first.token->referenceValue, double(run.tokens[1][6].id));
    QCOMPARE(report.exit, 1);
    QCOMPARE(*report.findMeasure("G1")->value, 50.0);
    QCOMPARE(*report.findMeasure("G2")->value, 1.0);
    QCOMPARE(*report.findMeasure("G4")->value, (1 + 0.25) / 2);
}

void FirstDivergenceTest::promptsThatDiffer()
{
    const PlainRun run = randomRun(26, 2, 8);
    PlainRun target = run;
    target.tokens[0][2] = {79, false, -1, "other"};
    const Report report = compared(run, target);
    QVERIFY(!report.first.token);
    QCOMPARE(report.exit, 1);
    QVERIFY(report.verdict.find("The prompts of sample s0 differ at token 2. ") == 0);
    QCOMPARE(report.alignment.rows, std::uint64_t{2 + 8});
}

void FirstDivergenceTest::slotsByExpert()
{
    const char* text = R"(
tap mlp.gate.out router 0 fp32 3
tap mlp.experts.down.slots expert_slots 0 fp32 4 slots 2
router mlp.gate 0 3 2
sample s : 1
row 0 : 1 2 3 ; 10 11 20 21 @ 2 1 : 0.5 0.5 : 1 2 3)";
    const PlainRun run = textRun(text);
    PlainRun target = run;
    target.rows[0].values[1] = {20, 21, 10, 11};
    target.rows[0].routing[0].ids = {1, 2};
    Report report = compared(run, target); // the same experts in another order
    QVERIFY(report.site(0, 1).state == Site::State::Equal);
    QCOMPARE(report.exit, 0);
    report = compared(run, target, 1, {.firstOnly = true}); // whose digests differ
    QVERIFY(report.site(0, 1).state == Site::State::Equal);
    QCOMPARE(line(report.first.bitwise), std::string("none"));
    target.rows[0].values[1] = {20, 21.5, 10, 11};
    report = compared(run, target);
    QCOMPARE(
        line(report.first.bitwise),
        std::string("s/0/mlp.experts.down.slots/3 21 (0x41a80000) 21.5 (0x41ac0000) 262144 ulp "
                    "unknown"));
    target.rows[0].values[1] = {20, 21, 5, 6};
    target.rows[0].routing[0].ids = {1, 0};
    report = compared(run, target); // expert 2 has no counterpart
    QCOMPARE(report.site(0, 1).unequal, 2U);
    QCOMPARE(*report.first.bitwise->element, 0U);
    QVERIFY(!report.first.bitwise->targetBits);
    QCOMPARE(report.first.bitwise->note, std::string("the target did not choose that expert"));
    QCOMPARE(report.taps[1].measures[4].parameters.at("without_counterpart"), 2.0); // A7

    // As far from the reference as its repeat is: within the floor, whatever the experts.
    ComparisonOptions options;
    options.tolerance =
        std::make_shared<const Tolerance>(Tolerance::everywhere({*parseCriterion("floor(1)")}));
    options.floor = std::make_shared<const NoiseFloor>(NoiseFloor::of(report));
    QVERIFY(!compared(run, target, 1, options).first.tolerance);
    QVERIFY(!compared(run, target, 1, options).first.floor);
}

QTEST_APPLESS_MAIN(FirstDivergenceTest)
#include "first_divergence_test.moc"
