// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/through_file.h"

#include <QtTest>

#include <algorithm>
#include <bit>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

// Captures that are not made alike are compared as far as they can: each pair here is equal but for
// one planted difference, which has to be found where it is.

namespace {

ComparisonOptions plain()
{
    ComparisonOptions options;
    options.resamples = 0;
    return options;
}

std::string siteOf(const std::optional<Divergence>& divergence)
{
    if (!divergence)
        return "none";
    return divergence->sample + '/' + std::to_string(divergence->position) + '/' + divergence->tap
           + (divergence->element ? '/' + std::to_string(*divergence->element) : std::string());
}

/// The samples of a run from the last to the first, rows with them.
PlainRun reversed(const PlainRun& run)
{
    PlainRun other = run;
    std::reverse(other.samples.begin(), other.samples.end());
    std::reverse(other.tokens.begin(), other.tokens.end());
    other.rows.clear();
    for (std::size_t i = run.samples.size(); i-- > 0;)
        for (PlainRun::Row row : run.rows)
            if (row.sample == i) {
                row.sample = run.samples.size() - 1 - i;
                other.rows.push_back(row);
            }
    return other;
}

/// Every value rounded to bf16, but kept in the tap's own dtype.
void roundToBf16(PlainRun& run)
{
    for (PlainRun::Row& row : run.rows)
        for (auto& values : row.values)
            for (double& value : values)
                value = static_cast<double>(
                    numeric::floatFromBf16(numeric::bf16FromFloat(static_cast<float>(value))));
}

constexpr const char* values = "model.layers.1.self_attn.v_proj.out";

} // namespace

class UnlikeRunsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void anotherOrder();
    void anotherOrderAndOtherIds();
    void anotherTokenizer();
    void anotherPrecision();
    void otherRoutes();
    void otherLevels();
    void fewerTapsAndRows();
    void fusedProjections();
};

void UnlikeRunsTest::anotherOrder()
{
    const PlainRun reference = randomRun(11, 4, 6);
    PlainRun target = reversed(reference);
    Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(report.exit, 0);
    QCOMPARE(report.alignment.rows, std::uint64_t{24});
    target.rowAt(3 - 2, 4).values[target.tapAt(values)][5] += 1; // sample s2
    report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("s2/4/") + values + "/5");
    QVERIFY(!report.first.argmax && !report.first.experts && !report.first.token);
}

void UnlikeRunsTest::anotherOrderAndOtherIds()
{
    const PlainRun reference = randomRun(11, 4, 6);
    PlainRun target = reversed(reference);
    for (std::size_t i = 0; i < target.samples.size(); ++i)
        target.samples[i].id = "s" + std::to_string(i);      // numbered in their own order
    target.rowAt(3, 1).values[target.tapAt(values)][0] += 1; // the reference's s0
    const Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(report.alignment.samples, std::uint64_t{4});
    QCOMPARE(siteOf(report.first.bitwise), std::string("s0/1/") + values + "/0");
    QVERIFY(report.verdict.starts_with("4 samples were matched by the prompt, not by the id"));
}

void UnlikeRunsTest::anotherTokenizer()
{
    // The target's tokenizer cuts the third token of every sample in two.
    PlainRun reference = randomRun(12, 2, 6);
    reference.header.environment.set(trace::env::tokenizerDigest, std::string("0x1"));
    PlainRun target = reference;
    target.header.environment.set(trace::env::tokenizerDigest, std::string("0x2"));
    for (std::size_t sample = 0; sample < 2; ++sample) {
        auto& tokens = target.tokens[sample];
        for (trace::Token& token : tokens)
            token.id = (token.id + 1) % 80; // ids of its own
        trace::Token tail = tokens[2];
        tail.bytes = tokens[2].bytes.substr(1);
        tokens[2].bytes.resize(1);
        tokens.insert(tokens.begin() + 3, tail);
        PlainRun::Row extra = target.rowAt(sample, 2);
        for (PlainRun::Row& row : target.rows)
            if (row.sample == sample && row.position > 2)
                ++row.position;
        extra.position = 3;
        extra.values[0][0] += 9; // never a numeric difference
        target.rows.push_back(extra);
    }
    Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("none"));
    QCOMPARE(report.alignment.tokenisedDifferently, std::uint64_t{2});
    QCOMPARE(report.alignment.rows, std::uint64_t{2 * 5});
    QCOMPARE(report.samples[0].notComparable, std::uint64_t{1 + 2});
    target.rowAt(1, 5).values[target.tapAt(values)][3] += 1; // position 4 of the reference
    report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("s1/4/") + values + "/3");
    QCOMPARE(report.causeFindings[0].rule, std::string("inputs"));
}

void UnlikeRunsTest::anotherPrecision()
{
    PlainRun reference = randomRun(13, 2, 6, numeric::DType::FP32);
    PlainRun target = randomRun(13, 2, 6, numeric::DType::BF16);
    roundToBf16(reference);
    roundToBf16(target); // also the routers' logits, which stay fp32
    Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("none"));
    reference.rowAt(1, 3).values[reference.tapAt(values)][2] *= 1 + 0x1p-20; // below bf16's steps
    report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("s1/3/") + values + "/2");
    QVERIFY(!report.first.bitwise->ulps);
    QCOMPARE(report.causeFindings[0].rule, std::string("precision"));
    QVERIFY(report.verdict.find("recorded in different dtypes") != std::string::npos);
}

void UnlikeRunsTest::otherRoutes()
{
    const PlainRun reference = randomRun(14, 3, 6);
    PlainRun target = reference;
    std::vector<std::int32_t>& ids = target.rowAt(2, 1).routing[1].ids;
    std::int32_t other = 0;
    while (std::find(ids.begin(), ids.end(), other) != ids.end())
        ++other;
    const std::int32_t gone = ids[1];
    ids[1] = other;
    const Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.experts), std::string("s2/1/model.layers.1.mlp.gate.out"));
    QCOMPARE(*report.first.experts->referenceValue, double(gone));
    QCOMPARE(*report.first.experts->targetValue, double(other));
    QCOMPARE(siteOf(report.first.bitwise), std::string("none"));
}

void UnlikeRunsTest::otherLevels()
{
    const PlainRun reference = randomRun(15, 2, 6);
    PlainRun target = reference;
    target.rowAt(1, 2).values[target.tapAt(values)][4] += 1;
    target.header.level = trace::Level::TopK;
    const Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("s1/2/") + values); // by digest
    QVERIFY(report.verdict.starts_with("Levels differ: full in the reference, topk in the target; "
                                       "tensors are compared by what both hold. "));
}

void UnlikeRunsTest::fewerTapsAndRows()
{
    const PlainRun reference = randomRun(16, 2, 6);
    PlainRun target = reference;
    target.rows.erase(target.rows.begin() + 3);
    target.header.taps[3].name = "elsewhere.out";
    target.rowAt(1, 2).values[target.tapAt(values)][4] += 1;
    const Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), std::string("s1/2/") + values + "/4");
    QCOMPARE(report.alignment.rowsOnlyReference, std::uint64_t{1});
    QCOMPARE(report.alignment.tapsOnlyReference.size(), std::size_t{1});
}

void UnlikeRunsTest::fusedProjections()
{
    const std::string at = "model.layers.0.self_attn.";
    const PlainRun reference =
        textRun("tap " + at + "q_proj.out projection 0 bf16 4\ntap " + at
                + "k_proj.out projection 0 bf16 2\ntap " + at
                + "v_proj.out projection 0 bf16 2\nsample s : 1 2\n"
                  "row 0 : 1 2 3 4 ; 5 6 ; 7 8\nrow 1 : 1 2 3 4 ; 5 6 ; 7 8\n");
    PlainRun target = textRun("tap " + at
                              + "qkv_proj.out projection 0 bf16 8\nsample s : 1 2\n"
                                "row 0 : 1 2 3 4 5 6 7 8\nrow 1 : 1 2 3 4 5 6 7 8\n");
    QCOMPARE(comparedThroughFiles(reference, target, plain()).exit, 0);
    target.rowAt(0, 1).values[0][7] = 8.0625;
    const Report report = comparedThroughFiles(reference, target, plain());
    QCOMPARE(siteOf(report.first.bitwise), "s/1/" + at + "v_proj.out/1");
    QCOMPARE(report.first.bitwise->ulps.value_or(0), std::uint64_t{1});
}

QTEST_APPLESS_MAIN(UnlikeRunsTest)
#include "unlike_runs_test.moc"
