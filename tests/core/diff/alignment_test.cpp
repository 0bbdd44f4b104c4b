// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment.h"
#include "tests/core/diff/plain_run.h"

#include <QtTest>

#include <numeric>

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
    void samplesByPrompt();
    void samplePatterns();
    void otherTokenizer();
    void tokenisedAgain();
    void points();
    void badPoints();
};

void AlignmentTest::samplesByIdAndRepeat()
{
    PlainRun reference = textRun(std::string(head)
                                 + "sample x : 7\nrow 0 : 1 ; 1 1\n"
                                   "sample y : 1\nrow 0 : 2 ; 2 2\n"
                                   "sample y : 1\nrow 0 : 3 ; 3 3\n"
                                   "sample z : 1\nrow 0 : 4 ; 4 4\n");
    reference.samples[2].repeat = 1;
    PlainRun target = reference;
    std::swap(target.samples[1], target.samples[2]);
    target.samples[0].id = "w";
    target.tokens[0][0] = {8, false, -1, "t8"};
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

void AlignmentTest::samplesByPrompt()
{
    // Ids that only number the samples, in two orders.
    const PlainRun reference = textRun(std::string(head)
                                       + "sample 0 : 1 2 | 3\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n"
                                         "sample 1 : 4 5 | 6\nrow 0 : 2 ; 2 2\nrow 1 : 2 ; 2 2\n"
                                         "sample 2 : 7 | 8\nrow 0 : 3 ; 3 3\n");
    const PlainRun target = textRun(std::string(head)
                                    + "sample 0 : 4 5 | 6\nrow 0 : 2 ; 2 2\nrow 1 : 2 ; 2 2\n"
                                      "sample 1 : 1 2 | 3\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\n"
                                      "sample 2 : 7 | 9\nrow 0 : 3 ; 3 3\n");
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(rowsOf(alignment), std::string("0-2@0 1-3@1 2-0@0 3-1@1 4-4@0 "));
    QCOMPARE(alignment.summary.remarks,
             (std::vector<std::string>{"2 samples were matched by the prompt, not by the id (0 of "
                                       "the reference is 1 of the target)"}));
    QCOMPARE(*alignment.samples[2].split, 1U);
}

void AlignmentTest::samplePatterns()
{
    const PlainRun run = textRun(std::string(head)
                                 + "sample a/1 : 1\nrow 0 : 1 ; 1 1\nsample b/1 : 2\n"
                                   "row 0 : 1 ; 1 1\n");
    PlainRun target = run;
    target.samples[1].id = "c/1";
    target.tokens[1][0].id = 3;
    AlignmentOptions options;
    options.samplePatterns = {"a/*"};
    const Alignment alignment = aligned(run, target, options);
    QCOMPARE(rowsOf(alignment), std::string("0-0@0 "));
    QVERIFY(alignment.summary.samplesOnlyReference.empty());
    QVERIFY(alignment.summary.samplesOnlyTarget.empty());
    QCOMPARE(alignment.summary.rowsOnlyReference, std::uint64_t{0});
    options.samplePatterns = {"a/*", "d*"};
    const auto refused = align(*run.build(), *target.build(), options);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, Errc::Invalid);
    QCOMPARE(refused.error().place, std::string("d*"));
}

namespace {

/// A sample whose tokens stand for these bytes, a row at each.
PlainRun textOf(const std::vector<std::string>& words, const char* tokenizer,
                std::size_t promptLength)
{
    std::string text =
        std::string(head) + "env model.tokenizer_digest " + tokenizer + "\nsample x :";
    for (const std::string& word : words) // each tokenizer has a number of its own for a word
        text +=
            " " + std::to_string(std::accumulate(word.begin(), word.end(), 1000 * tokenizer[2]));
    for (std::size_t i = 0; i < words.size(); ++i)
        text += "\nrow " + std::to_string(i) + " : 1 ; 1 1";
    PlainRun run = textRun(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
        run.tokens[0][i].bytes = words[i];
        run.tokens[0][i].response = i >= promptLength;
    }
    return run;
}

} // namespace

void AlignmentTest::otherTokenizer()
{
    const PlainRun reference = textOf({"the", " ca", "t", " sat", " on"}, "0x1", 3);
    const PlainRun target = textOf({"the", " cat", " sat", " up"}, "0x2", 2);
    const Alignment alignment = aligned(reference, target);
    QCOMPARE(rowsOf(alignment), std::string("0-0@0 3-2@3 "));
    QCOMPARE(alignment.summary.tokenisedDifferently, std::uint64_t{1});
    QCOMPARE(alignment.summary.rowsNotComparableReference, std::uint64_t{3});
    QCOMPARE(alignment.summary.rowsNotComparableTarget, std::uint64_t{2});
    QCOMPARE(alignment.samples[0].notComparable, std::uint64_t{5});
    QCOMPARE(*alignment.samples[0].split, 4U);
    QCOMPARE(*alignment.samples[0].targetSplit, 3U);
    QCOMPARE(alignment.samples[0].blocks.size(), std::size_t{3});
    QVERIFY(!alignment.samples[0].blocks[1].sameTokens);
    QCOMPARE(alignment.summary.remarks.back(),
             std::string("1 sample is tokenised differently and compared where tokens stand for "
                         "the same bytes"));
}

void AlignmentTest::tokenisedAgain()
{
    // The same tokenizer, but the prompt was cut otherwise: by its text too.
    PlainRun reference = textOf({"the", " ca", "t", " sat"}, "0x1", 4);
    PlainRun target = textOf({"the", " cat", " sat"}, "0x1", 3);
    QCOMPARE(rowsOf(aligned(reference, target)), std::string("0-0@0 3-2@3 "));
    // In a response other ids are another choice, whatever they stand for.
    reference.tokens[0][1].response = target.tokens[0][1].response = true;
    QCOMPARE(rowsOf(aligned(reference, target)), std::string("0-0@0 "));
}

void AlignmentTest::points()
{
    const PlainRun reference =
        textRun(std::string(head)
                + "sample x : 1 2 3 4 5 6\nrow 0 : 1 ; 1 1\nrow 1 : 1 ; 1 1\nrow 2 : 1 ; 1 1\n"
                  "row 3 : 1 ; 1 1\nrow 4 : 1 ; 1 1\nrow 5 : 1 ; 1 1\n");
    PlainRun target = reference;
    target.tokens[0][2] = {9, false, -1, "t9"}; // 1 2 9 9 4 5 6, of which six have rows
    target.tokens[0].insert(target.tokens[0].begin() + 2, target.tokens[0][2]);
    QCOMPARE(rowsOf(aligned(reference, target)), std::string("0-0@0 1-1@1 "));
    AlignmentOptions options;
    options.points = {{"x", 3, 4}};
    const Alignment alignment = aligned(reference, target, options);
    QCOMPARE(rowsOf(alignment), std::string("0-0@0 1-1@1 3-4@3 4-5@4 "));
    QCOMPARE(alignment.summary.rowsOnlyReference, std::uint64_t{1});
    QCOMPARE(alignment.summary.rowsNotComparableReference, std::uint64_t{1});
    QCOMPARE(alignment.summary.remarks.back(), std::string("1 position was aligned by hand"));
}

void AlignmentTest::badPoints()
{
    const PlainRun run = textRun(std::string(head) + "sample x : 1 2\nrow 0 : 1 ; 1 1\n");
    const auto refuses = [&](const std::vector<AlignmentPoint>& points, const char* sentence) {
        AlignmentOptions options;
        options.points = points;
        const auto refused = align(*run.build(), *run.build(), options);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Errc::Invalid);
        QCOMPARE(refused.error().sentence, std::string(sentence));
    };
    refuses({{"y", 0, 0}}, "an alignment point names a sample that is not compared");
    refuses({{"x", 2, 0}}, "the alignment point lies behind the sample's last token");
    refuses({{"x", 0, 1}, {"x", 1, 0}}, "the alignment point crosses another");
}

QTEST_APPLESS_MAIN(AlignmentTest)
#include "alignment_test.moc"
