// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_comparison.h"
#include "widgets/models/cursor.h"
#include "widgets/models/heat_grid.h"
#include "widgets/models/site_link.h"

#include <QSignalSpy>
#include <QTest>

using namespace moire;
using namespace moire::widgets;

class ComparedTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void indexesSamplesAndTokens();
    void firstDivergenceIsWhereItWasMade();
    void stepsThroughDivergences();
    void tapCellsFollowTheSites();
    void cursorIsClamped();
    void stepsFromBehindASplit();
    void findsPlacesByName_data();
    void findsPlacesByName();
    void linksReadBack();
    void refusesForeignLinks();
};

namespace {

test::MadeModel splitModel()
{
    test::MadeModel model;
    model.layers = 2;
    model.firstLayer = 1;
    model.samples = {{"a/b", 4, 8, 6, 3}, {"second", 5, 4, std::nullopt, 2}};
    return model;
}

} // namespace

void ComparedTest::indexesSamplesAndTokens()
{
    const auto compared = test::madeComparison(splitModel());
    QVERIFY(compared);
    QCOMPARE(compared->samples.size(), std::size_t{2});
    const SampleEntry& first = compared->samples[0];
    QCOMPARE(first.columns(), std::size_t{12});
    QCOMPARE(first.split, std::optional<std::uint32_t>(6));
    QVERIFY(first.rowAt(5).has_value());
    QVERIFY(!first.rowAt(6).has_value());
    QCOMPARE(first.emptyCell(6), cell::notComparable);
    QVERIFY(first.referenceTokens[6].comparable);
    QVERIFY(!first.referenceTokens[7].comparable);
    // 9 tokens make 8 rows: the last token was never fed.
    const SampleEntry& second = compared->samples[1];
    QCOMPARE(second.columns(), std::size_t{9});
    QVERIFY(second.rowAt(7).has_value());
    QVERIFY(!second.rowAt(8).has_value());
    QCOMPARE(second.emptyCell(8), cell::notRecorded);
    QCOMPARE(compared->sampleOfRow(second.rowBegin), std::size_t{1});
    QCOMPARE(first.referenceTokens[1].text, QStringLiteral("·capital"));
    QCOMPARE(tokenText(*compared, 63), QStringLiteral("<63>"));
    QCOMPARE(tokenText("a\n", 1), QStringLiteral("a\\n"));
    QCOMPARE(tokenText("", 5), QStringLiteral("<5>"));
}

void ComparedTest::firstDivergenceIsWhereItWasMade()
{
    const auto compared = test::madeComparison(splitModel());
    const auto first = compared->divergences.first(Criterion::Bits);
    QVERIFY(first.has_value());
    QCOMPARE(compared->report.rows[first->row].position, 3U);
    QCOMPARE(compared->report.taps[first->tap].name,
             std::string("model.layers.1.self_attn.q_proj.out"));
    QVERIFY(compared->report.first.bitwise.has_value());
    QCOMPARE(compared->report.first.bitwise->tap, compared->report.taps[first->tap].name);
}

void ComparedTest::stepsThroughDivergences()
{
    const auto compared = test::madeComparison(splitModel());
    // The slow form: a step begins where a tap differs and the one before it does not.
    std::vector<SitePlace> expected;
    for (std::size_t row = 0; row < compared->report.rows.size(); ++row)
        for (std::size_t tap = 0; tap < compared->report.tapPairs.size(); ++tap)
            if (compared->report.site(row, tap).state == diff::Site::State::Different
                && (tap == 0
                    || compared->report.site(row, tap - 1).state != diff::Site::State::Different))
                expected.push_back({row, tap});
    std::vector<SitePlace> forward;
    auto place = compared->divergences.first(Criterion::Bits);
    while (place) {
        forward.push_back(*place);
        place = compared->divergences.next(Criterion::Bits, *place);
    }
    QVERIFY(forward == expected);
    std::vector<SitePlace> backward;
    place = compared->divergences.last(Criterion::Bits);
    while (place) {
        backward.insert(backward.begin(), *place);
        place = compared->divergences.previous(Criterion::Bits, *place);
    }
    QVERIFY(backward == expected);
    // Beyond a tolerance: what the report lists.
    diff::Report report;
    report.beyondTolerance = {{0, 2}, {3, 1}};
    const Divergences beyond(report);
    QVERIFY(beyond.next(Criterion::Tolerance, {0, 2}) == std::optional(SitePlace{3, 1}));
    QVERIFY(beyond.previous(Criterion::Tolerance, {3, 1}) == std::optional(SitePlace{0, 2}));
    QVERIFY(!beyond.next(Criterion::Tolerance, {3, 1}));
}

void ComparedTest::tapCellsFollowTheSites()
{
    const auto compared = test::madeComparison(splitModel());
    const HeatGrid grid = HeatGrid::ofTaps(*compared, 0, HeatMeasure::MaxUlp, {});
    const SampleEntry& sample = compared->samples[0];
    QCOMPARE(grid.columns(), sample.columns());
    for (std::size_t tap = 0; tap < grid.rows(); ++tap)
        for (std::size_t column = 0; column < grid.columns(); ++column) {
            const auto row = sample.rowAt(column);
            const float expected = row ? static_cast<float>(compared->report.site(*row, tap).maxUlp)
                                       : cell::notComparable;
            QCOMPARE(grid.at(tap, column), expected);
        }
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(HeatGrid::ofTaps(*compared, 0, HeatMeasure::MaxUlp, stop.get_token()).isEmpty());
}

void ComparedTest::cursorIsClamped()
{
    Cursor cursor;
    QSignalSpy moved(&cursor, &Cursor::moved);
    cursor.moveTo(Place{9, 9, 9});
    QCOMPARE(moved.count(), 0);
    QVERIFY(!cursor.rowPair().has_value());
    cursor.setCompared(test::madeComparison(splitModel()));
    cursor.moveTo(Place{9, 999, 9999});
    QCOMPARE(cursor.place().sample, std::size_t{1});
    QCOMPARE(cursor.place().column, std::size_t{8});
    QCOMPARE(cursor.place().tap, cursor.compared()->report.tapPairs.size() - 1);
    const auto before = moved.count();
    cursor.moveTo(cursor.place());
    QCOMPARE(moved.count(), before);
    cursor.setCompared(nullptr);
    QVERIFY(cursor.sample() == nullptr);
}

void ComparedTest::stepsFromBehindASplit()
{
    const auto compared = test::madeComparison(splitModel());
    Cursor cursor;
    cursor.setCompared(compared);
    cursor.moveTo(Place{0, 10, 0}); // not comparable, between the rows of both samples
    const SitePlace from = cursor.sitePlace();
    const auto next = compared->divergences.next(Criterion::Bits, from);
    QVERIFY(next.has_value());
    QCOMPARE(compared->sampleOfRow(next->row), std::size_t{1});
    const auto previous = compared->divergences.previous(Criterion::Bits, from);
    QVERIFY(previous.has_value());
    QCOMPARE(compared->sampleOfRow(previous->row), std::size_t{0});
}

void ComparedTest::findsPlacesByName_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("found");
    QTest::addColumn<int>("sample");
    QTest::addColumn<int>("column");
    QTest::newRow("site") << "a/b/5/model.layers.1.out" << true << 0 << 5;
    QTest::newRow("site of another sample") << "second/2/lm_head.out" << true << 1 << 2;
    QTest::newRow("token alone") << "7" << true << 0 << 7;
    QTest::newRow("end of a tap") << "1.mlp.down_proj.out" << true << 0 << 0;
    QTest::newRow("no such token") << "70" << false << 0 << 0;
    QTest::newRow("no such sample") << "third/2/lm_head.out" << false << 0 << 0;
    QTest::newRow("no such tap") << "second/2/lm_foot.out" << false << 0 << 0;
    QTest::newRow("position behind the end") << "second/99/lm_head.out" << false << 0 << 0;
    QTest::newRow("nothing") << "" << false << 0 << 0;
    QTest::newRow("garbage") << "///" << false << 0 << 0;
}

void ComparedTest::findsPlacesByName()
{
    QFETCH(QString, text);
    QFETCH(bool, found);
    QFETCH(int, sample);
    QFETCH(int, column);
    const auto compared = test::madeComparison(splitModel());
    const auto place = findPlace(*compared, text, {});
    QCOMPARE(static_cast<bool>(place), found);
    if (!found) {
        QVERIFY(!place.error().sentence.empty());
        return;
    }
    QCOMPARE(static_cast<int>(place->sample), sample);
    QCOMPARE(static_cast<int>(place->column), column);
    // A name made from the place leads back to it.
    const auto again = findPlace(*compared, siteText(*compared, *place), {});
    QVERIFY(again);
    QVERIFY(*again == *place);
}

void ComparedTest::linksReadBack()
{
    const SiteLink link{
        {QStringLiteral("/tmp/a b/ref&x.moire"), QStringLiteral("/tmp/täst#1.moire")},
        QStringLiteral("a/b/5/model.layers.1.out")};
    const QString text = textOf(link);
    QVERIFY(text.startsWith(QStringLiteral("moire://")));
    QVERIFY(!text.contains(' '));
    const auto read = parseLink(text);
    QVERIFY(read);
    QCOMPARE(read->paths.reference, link.paths.reference);
    QCOMPARE(read->paths.target, link.paths.target);
    QCOMPARE(read->site, link.site);
}

void ComparedTest::refusesForeignLinks()
{
    for (const char* text : {"", "moire://", "http://compare?reference=a&target=b",
                             "moire://compare?reference=a", "ref.moire"})
        QVERIFY(!parseLink(QString::fromLatin1(text)));
}

QTEST_GUILESS_MAIN(ComparedTest)
#include "compared_test.moc"
