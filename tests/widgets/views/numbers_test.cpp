// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_comparison.h"
#include "tests/widgets/painted_text.h"
#include "widgets/views/element_table.h"
#include "widgets/views/family_bar.h"
#include "widgets/views/heat_canvas.h"
#include "widgets/views/inspector.h"
#include "widgets/views/ladder.h"
#include "widgets/views/ulp_histogram.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace moire;
using namespace moire::widgets;

/// A number without its last digits is another number: nothing elides, cuts or covers one.
class NumbersTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theDeviceSeesWhatIsPainted();
    void factTables_data();
    void factTables();
    void elementTables();
    void histograms();
    void ladders();
    void familyDetails();
    void heatMapFoot();
};

namespace {

diff::SiteDetail hardDetail(numeric::DType dtype)
{
    diff::SiteDetail detail;
    detail.referenceType = dtype;
    detail.targetType = dtype;
    detail.origin = diff::Origin::Carried;
    detail.amplification = 12345.678;
    detail.worst.push_back({1048575, 0xbdf5a7c3U, 0xbdf5a7c4U, -0.123456789012345e-30,
                            -1.23456789012345e+17, -1.23456789012345e+17,
                            std::uint64_t{4294967295U}});
    constexpr double infinity = std::numeric_limits<double>::infinity();
    detail.worst.push_back({7, 1, 2, infinity, -0.0, -infinity, std::nullopt});
    return detail;
}

diff::Site hardSite()
{
    diff::Site site;
    site.state = diff::Site::State::Different;
    site.valuesCompared = true;
    site.elements = 1234567;
    site.unequal = 1234566;
    site.maxUlp = 4294967295U;
    site.maxAbs = 1.23456789e-30;
    site.sumSquares = 1.234e-30;
    site.referenceSquares = 5.6789e+12;
    site.classChanges = 1234;
    return site;
}

} // namespace

void NumbersTest::theDeviceSeesWhatIsPainted()
{
    const Look look(ThemeKind::Light);
    FactTable table(look);
    table.setFacts({{"max ulp", "12,345", {}, false, false, false, false}});
    table.resize(300, table.sizeHint().height());
    const auto texts = test::paintedTexts(table);
    QCOMPARE(texts.size(), std::size_t{2});
    QCOMPARE(texts[1].text, QStringLiteral("12,345"));
    QVERIFY(texts[1].box.left() > texts[0].box.right());
    // Label and number share a baseline though their fonts differ.
    QVERIFY(std::abs(texts[0].box.bottom() - texts[1].box.bottom()) < 0.5);
}

void NumbersTest::factTables_data()
{
    QTest::addColumn<int>("width");
    for (const int width : {FactTable::leastWidth, 296, 316, 400, 700})
        QTest::addRow("%d", width) << width;
}

void NumbersTest::factTables()
{
    QFETCH(int, width);
    const Look look(ThemeKind::Dark);
    for (const auto dtype : {numeric::DType::BF16, numeric::DType::FP32}) {
        const diff::SiteDetail detail = hardDetail(dtype);
        for (const auto& facts : {siteFacts(hardSite(), &detail, true), elementFacts(detail)}) {
            FactTable table(look);
            table.setFacts(facts);
            table.resize(width, table.sizeHint().height());
            QCOMPARE(test::faultOfNumbers(table), QString());
        }
    }
}

void NumbersTest::elementTables()
{
    const Look look(ThemeKind::Light);
    for (const int width : {FactTable::leastWidth, 316, 500}) {
        ElementTable table(look);
        table.resize(width, 200);
        table.show();
        const auto detail = hardDetail(numeric::DType::FP32);
        table.setElements(detail.worst, detail.referenceType, detail.targetType);
        table.resize(width, table.height());
        QCoreApplication::processEvents();
        QCOMPARE(test::faultOfNumbers(table), QString());
    }
}

void NumbersTest::histograms()
{
    const Look look(ThemeKind::Light);
    for (const int bins : {1, 2, 3, 9, 17, 33}) {
        std::vector<std::pair<std::int64_t, std::uint64_t>> counts;
        for (int i = 0; i < bins; ++i)
            counts.emplace_back(i - bins / 2, i % 3 == 0 ? 123456U : 9876U);
        for (const int width : {160, 280, 316, 600}) {
            UlpHistogram histogram(look);
            histogram.setCounts(counts);
            histogram.resize(width, histogram.sizeHint().height());
            const QString fault = test::faultOfNumbers(histogram);
            QVERIFY2(fault.isEmpty(),
                     qPrintable(QStringLiteral("%1 bins, %2: %3").arg(bins).arg(width).arg(fault)));
        }
    }
}

void NumbersTest::ladders()
{
    const Look look(ThemeKind::Light);
    std::vector<LadderEntry> entries;
    for (int i = 0; i < 10; ++i)
        entries.push_back({QStringLiteral("·averylongtoken%1").arg(QChar('a' + i)),
                           -1234.5678 - i / 3, -1234.5679 - i / 2, i, 9 - i});
    for (const int width : {300, 400, 480, 640, 1400}) {
        Ladder ladder(look);
        ladder.setEntries(entries, 10, 7);
        ladder.setHeads(QStringLiteral("rank"),
                        {QStringLiteral("after position 1234 · margin 12,345, 67,890 ulp"),
                         QStringLiteral("margin 12,345, 67,890 ulp")});
        ladder.resize(width, ladder.sizeHint().height());
        const QString fault = test::faultOfNumbers(ladder);
        QVERIFY2(fault.isEmpty(), qPrintable(QStringLiteral("%1: %2").arg(width).arg(fault)));
    }
}

void NumbersTest::familyDetails()
{
    const Look look(ThemeKind::Light);
    const QFont font = look.font(TextRole::Small);
    const QString detail = QStringLiteral("[0.00131, 0.00312] · max |Δ| 1.328 logit");
    QCOMPARE(detailThatFits(detail, font, 10000), detail);
    QCOMPARE(detailThatFits(detail, font, 160), QStringLiteral("[0.00131, 0.00312]"));
    QCOMPARE(detailThatFits(detail, font, 1), QStringLiteral("[0.00131, 0.00312]"));
    test::MadeModel model;
    model.experts = 8;
    for (const int width : {900, 1264, 1904}) {
        FamilyBar bar(look);
        bar.setCompared(*test::madeComparison(model));
        bar.resize(width, bar.sizeHint().height());
        QCOMPARE(test::faultOfNumbers(bar), QString());
    }
}

void NumbersTest::heatMapFoot()
{
    const Look look(ThemeKind::Light);
    HeatContent content;
    std::vector<float> cells(600, 0.5F);
    cells[0] = cell::notComparable;
    cells[1] = cell::notRecorded;
    content.grid = std::make_shared<HeatGrid>(10, 60, cells);
    content.scale = ColourScale(look.theme(), {-3, 0});
    content.flips = {3};
    content.routeChanges = {4};
    content.contour = true;
    content.lowText = QStringLiteral("≤ 1e-12");
    content.highText = QStringLiteral("≥ 1e-3");
    for (const int width : {260, 400, 640, 1200}) {
        HeatCanvas canvas(look, 80);
        canvas.resize(width, 300);
        canvas.setContent(content);
        QCOMPARE(test::faultOfNumbers(canvas), QString());
        // Every shape that can be seen is explained, whatever the width.
        QString words; // a change of font within a text paints it in parts
        for (const auto& painted : test::paintedTexts(canvas))
            words += painted.text;
        for (const char* word : {"equal", "first difference", "top-1 flips", "experts change",
                                 "not comparable", "not recorded", "≤ 1e-12", "≥ 1e-3"})
            QVERIFY2(words.contains(QString::fromUtf8(word)), word);
    }
}

QTEST_MAIN(NumbersTest)
#include "numbers_test.moc"
