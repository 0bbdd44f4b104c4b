// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment.h"
#include "tests/core/diff/plain_run.h"

#include <QtTest>

using namespace moire;
using namespace moire::diff;
using moire::diff::test::PlainRun;
using moire::diff::test::textRun;

namespace {

const char* head = "tap a.out other 0 fp32 1\ntap b.out other 1 fp32 2\n";

std::string rowsOf(const Alignment& alignment)
{
    std::string text;
    for (const RowPair& pair : alignment.rows)
        text += std::to_string(pair.reference) + '-' + std::to_string(pair.target) + '@'
                + std::to_string(pair.position) + ' ';
    return text;
}

Alignment aligned(const PlainRun& reference, const PlainRun& target,
                  const AlignmentOptions& options = {})
{
    auto result = align(*reference.build(), *target.build(), options);
    if (!result)
        qFatal("%s", result.error().text().c_str());
    return *result;
}

} // namespace

class AlignmentTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void samplesByIdAndRepeat();
    void rowsInAnyOrder();
    void upToTheSplit();
    void prefixesAndGaps();
    void tapsByNameAndWidth();
    void routersByModule();
    void remarks();
};

void AlignmentTest::samplesByIdAndRepeat()
{
    PlainRun reference = textRun(std::string(head)
                                 + "sample x : 1\nrow 0 : 1 ; 1 1\n"
                                   "sample y : 1\nrow 0 : 2 ; 2 2\n"
                                   "sample y : 1\nrow 0 : 3 ; 3 3\n"
                                   "sample z : 1\nrow 0 : 4 ; 4 4\n");
    reference.samples[2].repeat = 1;
    PlainRun target = reference;
    std::swap(target.samples[1], target.samples[2]);
    target.samples[0].id = "w";
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(rowsOf(alignment), std::string("1-2@0 2-1@0 3-3@0 "));
    QCOMPARE(alignment.summary.samplesOnlyReference, std::vector<std::string>{"x"});
    QCOMPARE(alignment.summary.samplesOnlyTarget, std::vector<std::string>{"w"});
    QCOMPARE(alignment.summary.rowsOnlyReference, std::uint64_t{1});
    QCOMPARE(alignment.summary.rowsOnlyTarget, std::uint64_t{1});
    QCOMPARE(alignment.summary.samples, std::uint64_t{3});
}

void AlignmentTest::rowsInAnyOrder()
{
    const PlainRun reference = textRun(std::string(head)
                                       + "sample x : 1 2 3\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n"
                                         "row 2 : 1 ; 1 1\n");
    PlainRun target = reference;
    std::swap(target.rows[0], target.rows[2]);
    QCOMPARE(rowsOf(aligned(reference, target)), std::string("0-2@0 1-1@1 2-0@2 "));
}

void AlignmentTest::upToTheSplit()
{
    // The row that predicts the differing token is comparable, the row of that token is not.
    const PlainRun reference =
        textRun(std::string(head)
                + "sample x : 1 2 | 3 4 5\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n"
                  "row 2 : 1 ; 1 1\nrow 3 : 1 ; 1 1\n");
    PlainRun target = reference;
    target.tokens[0][3].id = 9;
    target.tokens[0].pop_back();
    target.rows.pop_back();
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(rowsOf(alignment), std::string("0-0@0 1-1@1 2-2@2 "));
    QCOMPARE(*alignment.samples[0].split, 3U);
    QCOMPARE(alignment.summary.rowsNotComparableReference, std::uint64_t{1});
    QCOMPARE(alignment.summary.rowsNotComparableTarget, std::uint64_t{0});
    QCOMPARE(alignment.summary.rowsOnlyReference, std::uint64_t{0});
    QVERIFY(alignment.summary.remarks.empty());
}

void AlignmentTest::prefixesAndGaps()
{
    const PlainRun reference = textRun(std::string(head)
                                       + "sample x : 1 2 3\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n"
                                         "row 2 : 1 ; 1 1\n");
    PlainRun target = reference;
    target.tokens[0].pop_back(); // the target stopped earlier: no token differs
    target.rows.pop_back();
    target.rows.erase(target.rows.begin());
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(rowsOf(alignment), std::string("1-0@1 "));
    QVERIFY(!alignment.samples[0].split);
    QCOMPARE(alignment.summary.rowsOnlyReference, std::uint64_t{2});
}

void AlignmentTest::tapsByNameAndWidth()
{
    const PlainRun reference =
        textRun("tap a.out other 0 fp32 1\ntap b.out other 0 fp32 2\ntap c.out other 0 fp32 1\n"
                "sample x : 1\nrow 0 : 1 ; 1 1 ; 1");
    const PlainRun target =
        textRun("tap c.out other 0 bf16 1\ntap b.out other 0 fp32 3\ntap d.out other 0 fp32 1\n"
                "sample x : 1\nrow 0 : 1 ; 1 1 1 ; 1");
    Alignment alignment = aligned(reference, target);
    QCOMPARE(alignment.taps.size(), std::size_t{1});
    QCOMPARE(indexOf(alignment.taps[0].reference), std::size_t{2});
    QCOMPARE(indexOf(alignment.taps[0].target), std::size_t{0});
    QCOMPARE(alignment.summary.tapsOnlyReference, (std::vector<std::string>{"a.out", "b.out"}));
    QCOMPARE(alignment.summary.tapsOnlyTarget, (std::vector<std::string>{"b.out", "d.out"}));
    QCOMPARE(alignment.summary.remarks.size(), std::size_t{2});
    QCOMPARE(alignment.summary.remarks[0],
             std::string("Tap b.out is 2 wide in the reference and 3 in the target: not compared"));
    alignment = aligned(reference, target, {{"c*"}});
    QVERIFY(alignment.summary.tapsOnlyReference.empty());
    QVERIFY(alignment.summary.tapsOnlyTarget.empty());
}

void AlignmentTest::routersByModule()
{
    const char* text = "tap a.out other 0 fp32 1\nrouter g 0 4 1\nrouter h 1 4 1\n"
                       "sample x : 1\nrow 0 : 1 @ 0 : 1 : 1 2 3 4 @ 0 : 1 : 1 2 3 4";
    const PlainRun reference = textRun(text);
    PlainRun target = reference;
    std::swap(target.header.routers[0], target.header.routers[1]);
    QCOMPARE(aligned(reference, target).routers,
             (std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 0}}));
    target = reference;
    target.header.routers[0].experts = 5;
    target.rows[0].routing[0].logits.push_back(1);
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(alignment.routers.size(), std::size_t{1});
    QCOMPARE(
        alignment.summary.remarks[0],
        std::string("Router g chooses 1 of 4 experts in the reference and 1 of 5 in the target: "
                    "its routing is not compared"));
}

void AlignmentTest::remarks()
{
    PlainRun reference = textRun(std::string(head)
                                 + "env model.architecture llama\nenv model.tokenizer_digest 0x1\n"
                                   "sample x : 1 2\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n");
    PlainRun target = reference;
    target.header.environment.set(trace::env::architecture, "olmoe");
    target.header.environment.set(trace::env::tokenizerDigest, "0x2");
    target.rows[1].construction = trace::Construction::Steps;
    target.complete = false;
    QCOMPARE(
        aligned(reference, target).summary.remarks,
        (std::vector<std::string>{
            "The target capture is incomplete; it is compared as far as its 2 committed rows go",
            "Architectures differ: llama in the reference, olmoe in the target",
            "Tokenizers differ: 0x1 in the reference, 0x2 in the target",
            "Construction differs on 1 of 2 rows: computed in one pass in the reference, step "
            "by step in the target"}));
}

QTEST_APPLESS_MAIN(AlignmentTest)
#include "alignment_test.moc"
