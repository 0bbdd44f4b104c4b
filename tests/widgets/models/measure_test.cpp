// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/measure.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace moire;
using namespace moire::widgets;

class MeasureTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aDifferenceIsAlwaysPositive_data();
    void aDifferenceIsAlwaysPositive();
    void statesWithoutANumber();
    void kl();
    void ranges();
    void percentNeverRoundsToTheEnds();
    void numbers();
};

namespace {

diff::Site differing()
{
    diff::Site site;
    site.state = diff::Site::State::Different;
    site.valuesCompared = true;
    site.elements = 100;
    site.unequal = 25;
    site.maxUlp = 3;
    site.maxAbs = 0.5;
    site.sumSquares = 4;
    site.referenceSquares = 16;
    site.finite = 100;
    return site;
}

} // namespace

void MeasureTest::aDifferenceIsAlwaysPositive_data()
{
    QTest::addColumn<int>("which");
    for (std::size_t i = 0; i < allHeatMeasures.size(); ++i)
        QTest::addRow("measure %zu", i) << static_cast<int>(i);
}

void MeasureTest::aDifferenceIsAlwaysPositive()
{
    QFETCH(int, which);
    const HeatMeasure measure = allHeatMeasures[static_cast<std::size_t>(which)];
    // −0 against +0: bits differ, every size is zero.
    diff::Site zero = differing();
    zero.maxUlp = 0;
    zero.maxAbs = 0;
    zero.sumSquares = 0;
    zero.unequal = 0;
    QVERIFY(cellOf(zero, measure) > cell::equal);
    diff::Site digests = differing();
    digests.valuesCompared = false;
    QCOMPARE(cellOf(digests, measure), cell::unsized);
    QVERIFY(cell::equal < cell::unsized && cell::unsized < cellOf(zero, measure)); // known wins
    diff::Site nothing = differing(); // NaN of another payload throughout
    nothing.finite = 0;
    if (measure != HeatMeasure::UnequalShare) {
        QCOMPARE(cellOf(nothing, measure), cell::notFinite);
        QCOMPARE(textOfCell(cell::notFinite, measure),
                 QStringLiteral("bits differ, nothing finite"));
        QVERIFY(cell::unsized < cell::notFinite && cell::notFinite < cellOf(zero, measure));
    }
    diff::Site tiny = differing();
    tiny.maxAbs = 1e-300;
    tiny.sumSquares = 1e-300;
    tiny.referenceSquares = 1e300;
    QVERIFY(cellOf(tiny, measure) > cell::equal);
    diff::Site nan = differing();
    nan.classChanges = 1;
    nan.finite = nan.elements - 1;
    if (measure != HeatMeasure::UnequalShare)
        QVERIFY(std::isinf(cellOf(nan, measure)));
    diff::Site fromZero = differing(); // 0 in one run, a small number in the other
    fromZero.classChanges = 1;
    fromZero.finite = fromZero.elements;
    QCOMPARE(cellOf(fromZero, measure), cellOf(differing(), measure));
    QCOMPARE(cellOf(differing(), HeatMeasure::RelativeL2), 0.5F);
    QCOMPARE(cellOf(differing(), HeatMeasure::UnequalShare), 0.25F);
    QCOMPARE(cellOf(differing(), HeatMeasure::MaxUlp), 3.0F);
}

void MeasureTest::statesWithoutANumber()
{
    diff::Site site;
    QCOMPARE(cellOf(site, HeatMeasure::MaxAbs), cell::notRecorded);
    site.state = diff::Site::State::Equal;
    QCOMPARE(cellOf(site, HeatMeasure::MaxAbs), cell::equal);
    QVERIFY(cell::notComparable < cell::notRecorded && cell::notRecorded < cell::equal);
}

void MeasureTest::kl()
{
    diff::LogitsRow row;
    QCOMPARE(klCellOf(row, nullptr), cell::notRecorded);
    diff::Site head;
    head.state = diff::Site::State::Equal;
    QCOMPARE(klCellOf(row, &head), cell::equal);
    head.state = diff::Site::State::Different;
    QCOMPARE(klCellOf(row, &head), cell::unsized);
    row.compared = true;
    QVERIFY(klCellOf(row, &head) > cell::unsized); // bits differ though KL is 0
    row.forwardKl = 0.125;
    QCOMPARE(klCellOf(row, &head), 0.125F);
}

void MeasureTest::ranges()
{
    RangeFinder finder;
    QVERIFY((finder.range() == DecadeRange{-7, -1}));
    finder.add(3e-4F);
    QVERIFY((finder.range() == DecadeRange{-4, -3}));
    finder.add(2.0F);
    finder.add(std::numeric_limits<float>::infinity());
    finder.add(cell::notRecorded);
    finder.add(std::numeric_limits<float>::denorm_min());
    QVERIFY((finder.range() == DecadeRange{-4, 1}));
    finder.add(1e-30F);
    QCOMPARE(finder.range().high - finder.range().low, 12);
    // The rarest small ones do not press all others into one colour; the largest stand out.
    RangeFinder many;
    for (int i = 0; i < 1000; ++i)
        many.add(2e-3F);
    many.add(1e-11F);
    many.add(0.5F);
    QVERIFY((many.range() == DecadeRange{-3, 0}));
}

void MeasureTest::percentNeverRoundsToTheEnds()
{
    QCOMPARE(percentText(100), QStringLiteral("100 %"));
    QCOMPARE(percentText(99.999), QStringLiteral("> 99.9 %"));
    QCOMPARE(percentText(0.0001), QStringLiteral("< 0.1 %"));
    QCOMPARE(percentText(0), QStringLiteral("0 %"));
    QCOMPARE(percentText(41.23), QStringLiteral("41.2 %"));
}

void MeasureTest::numbers()
{
    QCOMPARE(textOfNumber(std::nullopt), QStringLiteral("–"));
    QCOMPARE(textOfNumber(std::nan("")), QStringLiteral("NaN"));
    QCOMPARE(textOfNumber(-std::numeric_limits<double>::infinity()), QStringLiteral("−∞"));
    QCOMPARE(textOfNumber(0.00012345), QStringLiteral("0.000123"));
    QCOMPARE(textOfNumber(1.2345e-7), QStringLiteral("1.23e-7"));
    QCOMPARE(textOfNumber(-2.5), QStringLiteral("−2.5"));
}

QTEST_GUILESS_MAIN(MeasureTest)
#include "measure_test.moc"
