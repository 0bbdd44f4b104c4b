// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/edit_distance.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const std::string wrong = mismatch(__VA_ARGS__);                                           \
        QVERIFY2(wrong.empty(), wrong.c_str());                                                    \
    } while (false)

namespace {

using Ids = std::vector<std::int32_t>;

/// Wagner and Fischer's table.
std::uint64_t plainDistance(const Ids& a, const Ids& b)
{
    std::vector<std::uint64_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::uint64_t corner = row[0]++;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::uint64_t replaced = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
            corner = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

const char* const head = "tap lm_head.out head -1 fp32 8\nlogits 8 8\n";

} // namespace

/// Tokens, answers and their statistics on runs that fit on paper.
class ResponsesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void editDistances();
    void longEditDistance();
    void freeRuns();
    void foundAgain();
    void texts();
    void answers();
    void containment();
};

void ResponsesTest::editDistances()
{
    std::mt19937 engine(3);
    for (int round = 0; round < 400; ++round) {
        Ids a(engine() % 200);
        Ids b(engine() % 200);
        const std::uint32_t letters = 1 + static_cast<std::uint32_t>(engine() % 30);
        for (Ids* ids : {&a, &b})
            for (std::int32_t& id : *ids)
                id = static_cast<std::int32_t>(engine() % letters) - 3;
        if (round % 3 == 0) { // one a changed copy of the other
            b = a;
            for (std::size_t i = 0; i < b.size(); i += 1 + engine() % 9)
                b[i] = -100;
            if (!b.empty())
                b.erase(b.begin() + static_cast<std::ptrdiff_t>(engine() % b.size()));
        }
        QCOMPARE(editDistance(a, b), plainDistance(a, b));
        QCOMPARE(editDistance(b, a), plainDistance(a, b));
    }
    QCOMPARE(editDistance({}, {}), std::uint64_t{0});
    QCOMPARE(editDistance({}, Ids{1, 2}), std::uint64_t{2});
}

void ResponsesTest::longEditDistance()
{
    Ids a(20'000);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<std::int32_t>(i);
    Ids b = a;
    std::reverse(b.begin() + 5000, b.begin() + 6000);
    b.insert(b.begin() + 100, 7, -1);
    QCOMPARE(editDistance(a, b), std::uint64_t{7 + 1000}); // nothing in a reversal of 1000 moves
    QCOMPARE(editDistance(a, Ids{}), std::uint64_t{20'000});
}

void ResponsesTest::freeRuns()
{
    const auto run = [](const std::string& responses) {
        return textRun(head + responses + "row 0 : 0 1 2 3 4 5 6 7");
    };
    const Report report =
        compared(run("sample a : 1 | 2 3 4 5\nsample b : 1 | 2 3 4 5\nsample c : 1 | 2 3 4 5\n"
                     "sample d : 1 | 2 3\n"),
                 run("sample a : 1 | 2 3 4 5\nsample b : 1 | 2 9 4 8\nsample c : 1 | 9 9 4 5\n"
                     "sample d : 1 | 2 3 4\n"));
    const auto& m = report.measures;
    EXPECT(measureOf(m, "G1"), 25);
    // Wilson's interval for 1 of 4 is published as 4.6 % to 69.9 %.
    QVERIFY(std::fabs(measureOf(m, "G1").interval->low - 4.56) < 0.01);
    QVERIFY(std::fabs(measureOf(m, "G1").interval->high - 69.94) < 0.01);
    QCOMPARE(measureOf(m, "G1").parameters.at("bootstrap_low"), 0.0);
    EXPECT(measureOf(m, "G2"), 1); // of 1, 0, 2
    QCOMPARE(measureOf(m, "G2").parameters.at("kaplan_meier_median"), 1.0);
    const std::vector<std::optional<double>> curve{0.75, 0.5, 0.25, 0.25};
    QCOMPARE(measureOf(m, "G2").byPosition.size(), curve.size());
    for (std::size_t i = 0; i < curve.size(); ++i)
        QVERIFY(std::fabs(*measureOf(m, "G2").byPosition[i] - *curve[i]) < 1e-12);
    EXPECT(measureOf(m, "G3"), 1.5); // 3 − 1 and 1 − 0
    QCOMPARE(measureOf(m, "G3").n, std::uint64_t{2});
    QCOMPARE(measureOf(m, "G3").parameters.at("next_token_percent"), 50.0);
    EXPECT(measureOf(m, "G4"), (1 + 0.25L + 0 + 2.0L / 3) / 4);
    EXPECT(measureOf(m, "G5"), 0.25L);
    EXPECT(measureOf(m, "G6"), (0 + 0.5L + 0.5L + 1.0L / 3) / 4);
}

// a: behind the split the reference needs 1 token until eight equal ones, b 3; c has only seven.
void ResponsesTest::foundAgain()
{
    const auto run = [](const std::string& responses) {
        return textRun(head + responses + "row 0 : 0 1 2 3 4 5 6 7");
    };
    const std::string eight = "20 21 22 23 24 25 26 27";
    const Report report =
        compared(run("sample a : 1 | 2 3 " + eight + "\nsample b : 1 | 5 6 7 " + eight
                     + "\nsample c : 1 | 30 40 41 42 43 44 45 46\nsample d : 1 | 2\n"),
                 run("sample a : 1 | 2 9 9 " + eight + "\nsample b : 1 | 8 " + eight
                     + "\nsample c : 1 | 31 40 41 42 43 44 45 46\nsample d : 1 | 2\n"));
    const Measure& distance = measureOf(report.measures, "G6");
    EXPECT(distance, (2 / 11.0L + 3 / 11.0L + 1 / 8.0L + 0) / 4);
    QVERIFY(std::fabs(distance.parameters.at("found_again_percent") - 200.0 / 3) < 1e-9);
    QCOMPARE(distance.parameters.at("found_again_after"), 2.0);
}

void ResponsesTest::texts()
{
    PlainRun run = textRun(head
                           + std::string("sample a : 1 | 2 3\nsample b : 1 | 2 3\n"
                                         "row 0 : 0 1 2 3 4 5 6 7"));
    PlainRun other = run;
    other.tokens[0] = {{1, false, -1, "t1"}, {5, true, -1, "t2t"}, {6, true, -1, "3"}};
    other.tokens[1][2].id = 4;
    other.tokens[1][2].bytes = "x";
    const Report report = compared(run, other);
    EXPECT(measureOf(report.measures, "G11"), 50);
    QCOMPARE(measureOf(report.measures, "G11").parameters.at("same_text_other_ids"), 1.0);
    for (auto& tokens : run.tokens)
        for (trace::Token& token : tokens)
            token.bytes.clear();
    QVERIFY(!measureOf(compared(run, run).measures, "G11").value);
}

void ResponsesTest::answers()
{
    PlainRun run = textRun(head
                           + std::string("sample a x : 1\nsample b x : 1\nsample c y : 1\n"
                                         "sample d y : 1\nrow 0 : 0 1 2 3 4 5 6 7"));
    PlainRun other = run;
    const char* const labels = "AABC";
    const char* const ours = "AABB";
    const char* const theirs = "ABC";
    for (std::size_t i = 0; i < 4; ++i) {
        run.samples[i].label = other.samples[i].label = labels[i];
        run.samples[i].prediction = ours[i];
        other.samples[i].prediction = i < 3 ? std::string(1, theirs[i]) : std::string();
    }
    const auto& report = compared(run, other);
    const auto& m = report.measures;
    EXPECT(measureOf(m, "J1"), 25);
    EXPECT(measureOf(m, "J4"), 0.5L); // two turned wrong, none right
    QCOMPARE(measureOf(m, "J4").byGroup.at("x"), 1.0);
    EXPECT(measureOf(m, "J6"), 1);
    // Agreement 1/4; A: 2·1, B: 2·1, C: 0·1, unparsed: 0·1 of 16 by chance.
    EXPECT(measureOf(m, "J7"), (0.25L - 0.25L) / (1 - 0.25L));
    QVERIFY(!measureOf(m, "J5").value);
    QCOMPARE(measureOf(m, "K2").whyNull.empty(), false);
}

// Where the runs part, 5 is the reference's second and 7 the target's second.
void ResponsesTest::containment()
{
    const Report report =
        compared(textRun(head + std::string("sample a : 1 | 7\nrow 0 : 0 0 0 0 0 6 0 7")),
                 textRun(head + std::string("sample a : 1 | 5\nrow 0 : 0 0 0 0 0 7 0 6")));
    EXPECT(measureOf(report.measures, "E10"), 100);
    QCOMPARE(measureOf(report.measures, "E10").n, std::uint64_t{1});
    QCOMPARE(measureOf(report.measures, "E10").parameters.at("within_2"), 100.0);
    // Six tie behind the two: the best five agree as sets, however ties are broken only at times.
    const auto& ties = measureOf(report.measures, "E5");
    EXPECT(ties, 100);
    QCOMPARE(ties.parameters.at("set_lower"), 0.0);
    QCOMPARE(ties.parameters.at("order_upper"), 0.0); // 5 before 7 on one side only
    QCOMPARE(ties.parameters.at("tied"), 100.0);
    EXPECT(measureOf(report.measures, "E5[k=2]"), 100);
    QCOMPARE(measureOf(report.measures, "E5[k=2]").parameters.at("set_lower"), 100.0);
    EXPECT(measureOf(report.measures, "E5[k=1]"), 0);
}

QTEST_APPLESS_MAIN(ResponsesTest)
#include "responses_test.moc"
