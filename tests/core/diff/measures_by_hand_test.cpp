// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/compared.h"

#include <QtTest>

#include <cmath>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const std::string wrong = mismatch(__VA_ARGS__);                                           \
        QVERIFY2(wrong.empty(), wrong.c_str());                                                    \
    } while (false)

/// Measures of runs so small that their numbers can be worked out on paper.
class MeasuresByHandTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void byHand();
    void classes();
    void flips();
    void tasksAndCost();
    void responses();
    void selfConsistency();
    void answerLetters();
    void onePassAgainstSteps();
    void firstDifferingLayer();
};

// Two rows of three bf16 logits: every number below is from pencil and paper.
void MeasuresByHandTest::byHand()
{
    const char* head = "tap lm_head.out head -1 bf16 3\nlogits 3 3\nsample s : 1 | 2\n";
    const Report report =
        compared(textRun(head + std::string("row 0 : 1 2 4\nrow 1 : 0 0 3")),
                 textRun(head + std::string("row 0 : 1 2 4.03125\nrow 1 : 0 5 3")));
    const auto& m = report.measures;
    EXPECT(measureOf(m, "A1"), 100.0L * 4 / 6);
    EXPECT(measureOf(m, "A3"), 1e6L * 2 / 6);
    // 4 → 4.03125 is one bf16 place; 0 → 5 is the key of 5, 0x40a0.
    EXPECT(measureOf(m, "A4"), 0x40a0);
    QCOMPARE(measureOf(m, "A4").at, std::string("s/1/lm_head.out"));
    QCOMPARE(measureOf(m, "A4").parameters.at("mean"), (1.0 + 0x40a0) / 6);
    EXPECT(measureOf(m, "A5"), 100.0L / 6);
    QCOMPARE(measureOf(m, "A5").parameters.at("mantissa"), 1.0 / 5);
    EXPECT(measureOf(m, "A6"), 0);
    EXPECT(measureOf(m, "A7"), 1); // the zero that became a number
    EXPECT(measureOf(m, "B1"), (0.03125L * 0.03125L + 25) / 6);
    EXPECT(measureOf(m, "B2"), 5);
    QCOMPARE(measureOf(m, "B2").at, std::string("s/1/lm_head.out"));
    EXPECT(measureOf(m, "B3"), 5 / 1e-8L);
    EXPECT(measureOf(m, "B4"), std::sqrt((0.03125L * 0.03125L + 25) / 30));
    EXPECT(measureOf(m, "E1"), 50);
    EXPECT(measureOf(m, "E6"), 0.5L);
    EXPECT(measureOf(m, "F1"), (2 + 3) / 2.0L);
    EXPECT(measureOf(m, "F4"), 1);
    QCOMPARE(measureOf(m, "F4").parameters.at("defect_suspect"), 1.0); // 3 nats, not near a tie
    QVERIFY(!measureOf(m, "E3").value); // five of three are not known
    QVERIFY(!measureOf(m, "H1").value);
    QCOMPARE(measureOf(m, "H1").whyNull, std::string("no MoE layers"));
    QCOMPARE(*measureOf(report.samples[0].measures, "E1").value, 50.0);
}

void MeasuresByHandTest::classes()
{
    const char* head = "tap a.out other 0 fp32 7\nsample s : 1\nrow 0 : ";
    const Report report = compared(textRun(head + std::string("1 1e-40 0 inf -inf NaN 2")),
                                   textRun(head + std::string("0 1e-40 1 inf NaN 5 2")));
    const Measure& m = measureOf(report.taps[0].measures, "A7");
    const std::vector<std::vector<std::uint64_t>> expected{{1, 0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 0},
                                                           {1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0},
                                                           {0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0}};
    QCOMPARE(m.matrix, expected);
    EXPECT(m, 4);
    QCOMPARE(m.n, std::uint64_t{7});
    QCOMPARE(measureOf(report.taps[0].measures, "B1").n, std::uint64_t{4}); // finite on both sides
}

void MeasuresByHandTest::flips()
{
    // Reference gaps of 0, one place, 0.5 and 3; the flips of the others agree or are near.
    const char* head = "tap lm_head.out head -1 bf16 2\nlogits 2 2\nsample s : 1 2 3 4 5\n";
    const Report report = compared(
        textRun(head
                + std::string("row 0 : 4 4\nrow 1 : 4.03125 4\nrow 2 : 1.5 1\nrow 3 : 3 0\n"
                              "row 4 : 9 0")),
        textRun(head
                + std::string("row 0 : 4 5\nrow 1 : 4 4.03125\nrow 2 : 1 1.5\nrow 3 : 0 3\n"
                              "row 4 : 9 0.0625")));
    const Measure& m = measureOf(report.measures, "F4");
    EXPECT(m, 4);
    QCOMPARE(m.parameters.at("near_tie_bound"), 0.0625); // the only row that agrees
    QCOMPARE(m.parameters.at("exact_tie"), 1.0);
    QCOMPARE(m.parameters.at("up_to_2_ulp"), 1.0);
    QCOMPARE(m.parameters.at("near_tie"), 0.0);
    QCOMPARE(m.parameters.at("moderate"), 1.0);
    QCOMPARE(m.parameters.at("defect_suspect"), 1.0);
}

void MeasuresByHandTest::tasksAndCost()
{
    PlainRun reference = randomRun(42, 5, 2);
    reference.header.environment.set(trace::env::wallSeconds, 2.0);
    reference.header.environment.set(trace::env::peakBytes, std::int64_t{100});
    PlainRun target = reference;
    target.header.environment.set(trace::env::wallSeconds, 3.0);
    target.header.environment.set(trace::env::peakBytes, std::int64_t{150});
    const char* answers[5][3] = {// label, reference, target
                                 {"A", "A", "A"},
                                 {"A", "A", "B"},
                                 {"A", "B", "A"},
                                 {"A", "B", "C"},
                                 {"", "B", "C"}};
    for (std::size_t i = 0; i < 5; ++i) {
        reference.samples[i].label = answers[i][0];
        reference.samples[i].prediction = answers[i][1];
        target.samples[i].label = answers[i][0];
        target.samples[i].prediction = answers[i][2];
    }
    const Report report = compared(reference, target);
    const auto& m = report.measures;
    EXPECT(measureOf(m, "J1"), 50);
    QCOMPARE(measureOf(m, "J1").parameters.at("reference"), 50.0);
    QCOMPARE(measureOf(m, "J1").n, std::uint64_t{4});
    EXPECT(measureOf(m, "J2"), 25);
    EXPECT(measureOf(m, "J3"), 1);
    QCOMPARE(measureOf(m, "J3").parameters.at("wrong_to_correct"), 1.0);
    QCOMPARE(measureOf(m, "J3").parameters.at("wrong_to_other_wrong"), 1.0);
    QCOMPARE(measureOf(m, "J1").byGroup.at("even"), 100.0);
    QCOMPARE(measureOf(m, "J1").byGroup.at("odd"), 0.0);
    EXPECT(measureOf(m, "K1"), 1.5L);
    QCOMPARE(measureOf(m, "K1").parameters.at("memory"), 1.5);

    // Who only scores another's tokens was not asked; who generated freely and said no letter was.
    for (trace::Sample& sample : target.samples)
        sample.prediction.clear();
    target.header.environment.set(trace::env::replay, std::string("forced"));
    QVERIFY(!measureOf(compared(reference, target).measures, "J1").value);
    target.header.environment.set(trace::env::replay, std::string("free"));
    EXPECT(measureOf(compared(reference, target).measures, "J1"), 0);
}

void MeasuresByHandTest::responses()
{
    const char* head = "tap a.out other 0 fp32 1\n";
    const auto run = [&](const std::string& a, const std::string& b, const std::string& c) {
        return textRun(head
                       + ("sample x : 1 | " + a + "\nrow 0 : 1\nsample y : 1 | " + b
                          + "\nrow 0 : 1\nsample z : 1 | " + c + "\nrow 0 : 1\n"));
    };
    Report report = compared(run("5 6 7 8", "5 6", "9"), run("5 6 8 8", "5 6 7 8", "9"));
    const auto& m = report.measures;
    EXPECT(measureOf(m, "G1"), 100.0L / 3);
    EXPECT(measureOf(m, "G2"), 2); // both of those that differ
    QCOMPARE(measureOf(m, "G2").parameters.at("censored"), 1.0);
    EXPECT(measureOf(m, "G4"), (0.5L + 0.5L + 1) / 3);
    EXPECT(measureOf(m, "G5"), 2.0L / 3);
    PlainRun forced = run("5 6 7 8", "5 6", "9");
    forced.header.environment.set(trace::env::replay, "forced");
    report = compared(run("5 6 7 8", "5 6", "9"), forced);
    QVERIFY(!measureOf(report.measures, "G1").value);
    QCOMPARE(measureOf(report.measures, "G1").whyNull,
             std::string("the target scored given tokens; it did not choose its own"));
}

void MeasuresByHandTest::selfConsistency()
{
    PlainRun run = textRun("tap lm_head.out head -1 fp32 3\nlogits 3 3\n"
                           "env run.sampling greedy\nenv run.replay free\n"
                           "sample s : 0 | 2 1\nrow 0 : 1 2 4\nrow 1 : 1 2 4");
    const Report report = compared(run, run);
    EXPECT(measureOf(report.measures, "F8"), 50);
    QCOMPARE(measureOf(report.measures, "F8").n, std::uint64_t{2});
    QCOMPARE(measureOf(report.measures, "F8").parameters.at("target"), 50.0);
    run.header.environment.set(trace::env::sampling, "temperature");
    QVERIFY(!measureOf(compared(run, run).measures, "F8").value);
}

// The letters are the ids 1, 2 and 3; sample b has no response, so that its last row answers.
void MeasuresByHandTest::answerLetters()
{
    const std::string head = "tap lm_head.out head -1 fp32 5\nlogits 5 2 asked 1 2 3\n";
    const Report report = compared(textRun(head
                                           + "sample a : 0 4 | 1 1\n"
                                             "row 0 : 0 9 0 0 0\nrow 1 : 9 3 1 2 0\n"
                                             "row 2 : 0 9 0 0 0\n"
                                             "sample b : 0 4\nrow 0 : 0 9 0 0 0\n"
                                             "row 1 : 0 1 5 1.5 0"),
                                   textRun(head
                                           + "sample a : 0 4 | 1 1\n"
                                             "row 0 : 0 0 9 0 0\nrow 1 : 9 2.5 3.5 2 0\n"
                                             "row 2 : 0 0 9 0 0\n"
                                             "sample b : 0 4\nrow 0 : 0 0 9 0 0\n"
                                             "row 1 : 0 1 4 1.5 0"));
    const Measure& margin = measureOf(report.measures, "J5");
    EXPECT(margin, (1 + 3.5L) / 2); // 3 − 2 and 5 − 1.5
    QCOMPARE(margin.n, std::uint64_t{2});
    QCOMPARE(margin.parameters.at("target"), (-1 + 2.5) / 2); // 2.5 − 3.5 and 4 − 1.5
    QCOMPARE(margin.parameters.at("change"), -1.5);
    QCOMPARE(margin.parameters.at("mean_abs_change"), 1.5);
    QCOMPARE(margin.parameters.at("letters_changed"), 1.0);
}

// The target computed rows 1 and 2 in steps, the reference in one pass. Row 0 was made alike.
void MeasuresByHandTest::onePassAgainstSteps()
{
    const std::string head = "tap lm_head.out head -1 fp32 2\nlogits 2 2\nsample s : 0 1 0\n";
    const Report report =
        compared(textRun(head + "row 0 : 0 5\nrow 1 : 3 4\nrow 2 : 6 8"),
                 textRun(head + "row 0 : 9 5\nrow 1 decode : 3 4.5\nrow 2 decode : 6 7"));
    const Measure& gap = measureOf(report.measures, "I7");
    EXPECT(gap, std::sqrt((0.25L + 1) / (25 + 100)));
    QCOMPARE(gap.n, std::uint64_t{2});
    // Two logits x apart give 1 / (1 + e⁻ˣ) to the better.
    const auto kl = [](long double ours, long double theirs) {
        const long double p = 1 / (1 + std::exp(-ours));
        const long double q = 1 / (1 + std::exp(-theirs));
        return p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
    };
    const auto mean = static_cast<double>((kl(1, 1.5L) + kl(2, 1)) / 2);
    QVERIFY(std::fabs(gap.parameters.at("forward_kl") - mean) <= 1e-9 * mean);
    const Report alike = compared(textRun(head + "row 0 : 0 5"), textRun(head + "row 0 : 9 5"));
    QVERIFY(!measureOf(alike.measures, "I7").value);
}

// Layers 1, 3, 3 and 5 are the first to differ, in four of five rows.
void MeasuresByHandTest::firstDifferingLayer()
{
    const auto run = [](const std::vector<int>& changed) {
        std::string text = "tap a.out other 0 fp32 1\n";
        for (int layer = 0; layer < 6; ++layer)
            text += "router m" + std::to_string(layer) + ' ' + std::to_string(layer) + " 4 1\n";
        for (std::size_t row = 0; row < changed.size(); ++row) {
            if (row == 0 || row == 3)
                text += "sample " + std::string(row == 0 ? "s" : "t") + " : 1 2 3\n";
            text += "row " + std::to_string(row % 3) + " : 0";
            for (int layer = 0; layer < 6; ++layer)
                text += changed[row] >= 0 && layer >= changed[row] ? " @ 1 : 1 : 0 1 0 0"
                                                                   : " @ 0 : 1 : 1 0 0 0";
            text += '\n';
        }
        return textRun(text);
    };
    const Report report = compared(run({-1, -1, -1, -1, -1}), run({3, -1, 1, 5, 3}));
    const Measure& first = measureOf(report.measures, "H5");
    EXPECT(first, 3);
    QCOMPARE(first.n, std::uint64_t{4});
    QCOMPARE(first.percentiles.at("max"), 5.0);
    QVERIFY(first.interval);
    // Sample s alone has the median 2, sample t 4.
    QCOMPARE(first.interval->low, 2.0);
    QCOMPARE(first.interval->high, 4.0);
    EXPECT(measureOf(report.measures, "H4"), (3 + 5 + 1 + 3) / 5.0L);
}

QTEST_APPLESS_MAIN(MeasuresByHandTest)
#include "measures_by_hand_test.moc"
