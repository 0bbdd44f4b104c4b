// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/compared.h"
#include "tests/core/diff/report_dump.h"

#include <QtTest>

#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

/// A dense run: randomRun with its routers left out.
PlainRun denseRun(std::uint64_t seed)
{
    PlainRun run = randomRun(seed, 3, 7);
    run.header.routers.clear();
    for (PlainRun::Row& row : run.rows)
        row.routing.clear();
    return run;
}

/// Changes one element.
void plant(PlainRun& run, std::mt19937_64& g)
{
    auto& row = run.rows[g() % run.rows.size()];
    auto& values = row.values[g() % row.values.size()];
    values[g() % values.size()] += 0.5;
}

/// The report without what only a grid fills.
std::string withoutGrid(Report report)
{
    report.sites.clear();
    report.rows.clear();
    report.tapPairs.clear();
    report.logits.clear();
    report.routes.clear();
    report.routerPairs.clear();
    return dump(report);
}

std::vector<std::string> kindsOf(const FirstDivergences& first)
{
    return {line(first.bitwise), line(first.topK),  line(first.experts),
            line(first.argmax),  line(first.token), line(first.nonFinite)};
}

} // namespace

class GridTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void leavingItOutChangesNothingElse();
    void passingOverEqualRowsFindsTheSame();
    void movedAndCopiedAreTheSame();
};

void GridTest::leavingItOutChangesNothingElse()
{
    std::mt19937_64 g(3);
    const PlainRun run = randomRun(11, 2, 6);
    PlainRun target = run;
    for (int i = 0; i < 5; ++i)
        plant(target, g);
    ComparisonOptions options;
    const std::string with = withoutGrid(compared(run, target, 1, options));
    options.grid = false;
    for (const unsigned threads : {1U, 2U, 5U}) {
        const Report report = compared(run, target, threads, options);
        QVERIFY(report.sites.empty());
        QVERIFY(dump(report) == with);
    }
}

void GridTest::passingOverEqualRowsFindsTheSame()
{
    std::mt19937_64 g(4);
    for (int round = 0; round < 40; ++round) {
        const PlainRun run = denseRun(20 + static_cast<std::uint64_t>(round));
        PlainRun target = run;
        for (int i = 0; i < round % 3; ++i)
            plant(target, g);
        ComparisonOptions options;
        options.firstOnly = true;
        const Report all = compared(run, target, 1, options);
        options.grid = false;
        const Report fast = compared(run, target, 2, options);
        QCOMPARE(fast.exit, all.exit);
        QVERIFY(kindsOf(fast.first) == kindsOf(all.first));
        QCOMPARE(fast.alignment.rows, all.alignment.rows);
        QCOMPARE(fast.samples.size(), all.samples.size());
        for (std::size_t i = 0; i < all.samples.size(); ++i) {
            QCOMPARE(fast.samples[i].firstBitwise, all.samples[i].firstBitwise);
            QCOMPARE(fast.samples[i].firstArgmax, all.samples[i].firstArgmax);
        }
        for (const Measure& measure : fast.measures)
            QVERIFY(!measure.value);
    }
}

void GridTest::movedAndCopiedAreTheSame()
{
    std::mt19937_64 g(5);
    const PlainRun run = randomRun(12, 2, 6);
    PlainRun target = run;
    plant(target, g);
    const auto reference = run.build();
    const auto other = target.build("target");
    auto aligned = align(*reference, *other, {});
    QVERIFY(aligned);
    const auto pairs = std::make_shared<const Alignment>(std::move(*aligned));
    Comparison comparison(reference, other, pairs, {});
    Comparison sibling = comparison.sibling();
    Comparison stranger(reference, other, pairs, {});
    QVERIFY(comparison.add(0, 4));
    QVERIFY(sibling.add(4, 8));
    QVERIFY(stranger.add(7, pairs->rows.size()));
    comparison.merge(std::move(sibling));
    comparison.merge(std::move(stranger));
    const std::string copied = dump(comparison.report());
    QVERIFY(dump(comparison.report()) == copied);
    Comparison whole(reference, other, pairs, {});
    QVERIFY(whole.add(0, pairs->rows.size()));
    QVERIFY(dump(whole.report()) == copied);
    QVERIFY(dump(std::move(comparison).report()) == copied);
}

QTEST_APPLESS_MAIN(GridTest)
#include "grid_test.moc"
