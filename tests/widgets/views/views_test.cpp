// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_comparison.h"
#include "widgets/views/comparison_view.h"
#include "widgets/views/ladder.h"
#include "widgets/views/routing_view.h"
#include "widgets/views/token_strips.h"
#include "widgets/views/top_k_view.h"
#include "widgets/views/verdict_bar.h"

#include <QFontMetrics>
#include <QTest>

using namespace moire;
using namespace moire::widgets;

class ViewsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stripColumnsLieOverEachOther();
    void stripsFollowTheCursor();
    void stripsOfNothing();
    void verdictIsEscaped();
    void heatCanvasZoomsAndFits();
    void clickChoosesACell();
    void pageShowsEveryState();
    void pageSurvivesOddRuns_data();
    void pageSurvivesOddRuns();
    void ladderRungs();
};

namespace {

SampleEntry sampleOf(const QStringList& reference, const QStringList& target)
{
    SampleEntry entry;
    for (const QString& text : reference)
        entry.referenceTokens.push_back({text, 1, false, true});
    for (const QString& text : target)
        entry.targetTokens.push_back({text, 1, false, true});
    entry.rowOfColumn.assign(static_cast<std::size_t>(std::max(reference.size(), target.size())),
                             -1);
    return entry;
}

} // namespace

void ViewsTest::stripColumnsLieOverEachOther()
{
    const Look look(ThemeKind::Light);
    const QFontMetrics metrics(look.font(TextRole::Mono));
    const StripLayout layout(sampleOf({"a", "wide·token", "b"}, {"another", "w", "b", "more"}),
                             metrics);
    QCOMPARE(layout.columns(), std::size_t{4});
    for (std::size_t column = 0; column < layout.columns(); ++column)
        QVERIFY(layout.right(column) > layout.left(column));
    QVERIFY(layout.right(0) - layout.left(0) > metrics.horizontalAdvance("another"));
    QVERIFY(layout.right(1) - layout.left(1) > metrics.horizontalAdvance("wide·token"));
    for (int x = 0; x < layout.width(); ++x) {
        const std::size_t column = layout.columnAt(x);
        QVERIFY(column < layout.columns());
        QVERIFY(x >= layout.left(column) && x < layout.right(column));
    }
    QCOMPARE(layout.columnAt(-1), layout.columns());
    QCOMPARE(layout.columnAt(layout.width()), layout.columns());
}

void ViewsTest::stripsFollowTheCursor()
{
    const Look look(ThemeKind::Light);
    QStringList words;
    for (int i = 0; i < 200; ++i)
        words.append(QStringLiteral("word%1").arg(i));
    const StripLayout layout(sampleOf(words, words), QFontMetrics(look.font(TextRole::Mono)));
    constexpr int view = 400;
    int offset = 0;
    for (const std::size_t column : {0U, 5U, 199U, 100U, 101U, 3U}) {
        offset = layout.offsetShowing(column, offset, view);
        QVERIFY(layout.left(column) >= offset);
        QVERIFY(layout.right(column) <= offset + view);
        QVERIFY(offset >= 0 && offset <= layout.width() - view);
        QCOMPARE(layout.offsetShowing(column, offset, view), offset);
    }
}

void ViewsTest::stripsOfNothing()
{
    const Look look(ThemeKind::Light);
    const StripLayout layout(sampleOf({}, {}), QFontMetrics(look.font(TextRole::Mono)));
    QCOMPARE(layout.columns(), std::size_t{0});
    QCOMPARE(layout.width(), 0);
    QCOMPARE(layout.offsetShowing(0, 7, 100), 7);
    QCOMPARE(StripLayout().columns(), std::size_t{0});
}

void ViewsTest::verdictIsEscaped()
{
    const QString html = verdictMarkup(
        QStringLiteral(
            "First divergence: token 3 “<b>&”, layer 0, model.layers.0.self_attn.q_proj"),
        QStringLiteral("Mono"));
    QVERIFY(html.startsWith(QStringLiteral("<b>First divergence:</b>")));
    QVERIFY(html.contains(QStringLiteral("&lt;b&gt;&amp;")));
    QVERIFY(html.contains(QStringLiteral(">model.layers.0.self_attn.q_proj</span>")));
}

void ViewsTest::heatCanvasZoomsAndFits()
{
    const Look look(ThemeKind::Light);
    HeatCanvas canvas(look, 80);
    canvas.resize(700, 400);
    canvas.zoom(2, {300, 100}); // nothing to zoom
    canvas.pan(5, 5);
    HeatContent content;
    content.grid = std::make_shared<HeatGrid>(100, 50, std::vector<float>(5000, cell::equal));
    content.scale = ColourScale(look.theme(), {-3, 0});
    canvas.setContent(content);
    QCOMPARE(canvas.visibleCells().x(), 0.0);
    QVERIFY(canvas.visibleCells().width() >= 50 - 0.5);
    QVERIFY(canvas.visibleCells().height() >= 100 - 0.5);
    canvas.zoom(4, {300, 100});
    const QRectF zoomed = canvas.visibleCells();
    QVERIFY(zoomed.width() < 50 && zoomed.height() < 100);
    QVERIFY(zoomed.left() >= 0 && zoomed.right() <= 50.01);
    canvas.setCursorCell(99, 49);
    QVERIFY(canvas.visibleCells().right() >= 49.9);
    QVERIFY(canvas.visibleCells().bottom() >= 99.9);
    canvas.pan(-1e9, -1e9);
    QCOMPARE(canvas.visibleCells().topLeft(), QPointF(0, 0));
    canvas.fit();
    QVERIFY(canvas.visibleCells().height() >= 100 - 0.5);
    QVERIFY(!canvas.grab().isNull());
}

void ViewsTest::clickChoosesACell()
{
    const Look look(ThemeKind::Light);
    HeatCanvas canvas(look, 80);
    canvas.resize(700, 400);
    HeatContent content;
    content.grid = std::make_shared<HeatGrid>(10, 10, std::vector<float>(100, cell::equal));
    content.scale = ColourScale(look.theme(), {-3, 0});
    canvas.setContent(content);
    std::pair<std::size_t, std::size_t> chosen{99, 99};
    connect(&canvas, &HeatCanvas::cellChosen, this, [&chosen](std::size_t row, std::size_t column) {
        chosen = {row, column};
    });
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, {81, 1});
    QVERIFY((chosen == std::pair<std::size_t, std::size_t>{0, 0}));
    chosen = {99, 99};
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, {10, 1}); // the names beside the cells
    QVERIFY((chosen == std::pair<std::size_t, std::size_t>{99, 99}));
}

void ViewsTest::pageShowsEveryState()
{
    test::MadeModel model;
    model.samples = {{"splits", 5, 8, 7, 2}, {"whole", 5, 8, std::nullopt, 0}};
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) {
        Look look(kind);
        Cursor cursor;
        ComparisonView page(look, cursor);
        page.resize(1280, 760);
        page.show();
        page.setCompared(test::madeComparison(model));
        QCOMPARE(cursor.place().column, std::size_t{2});
        QTRY_VERIFY(page.isSettled());
        for (const QString& tab : ComparisonView::tabNames())
            QVERIFY(page.showTab(tab));
        QVERIFY(!page.showTab(QStringLiteral("timeline")));
        cursor.moveColumn(10); // behind the split: no row
        QTRY_VERIFY(page.isSettled());
        QVERIFY(!page.grab().isNull());
        cursor.moveSample(1);
        QTRY_VERIFY(page.isSettled());
        for (const HeatMeasure measure : allHeatMeasures) {
            page.heatSource().setMeasure(measure);
            QTRY_VERIFY(page.isSettled());
            QVERIFY(!page.grab().isNull());
        }
        look.setTheme(kind == ThemeKind::Light ? ThemeKind::Dark : ThemeKind::Light);
        QVERIFY(!page.grab().isNull());
        page.setCompared(test::madeComparison({})); // replaced
        QTRY_VERIFY(page.isSettled());
        QCOMPARE(cursor.place().sample, std::size_t{0});
    }
}

void ViewsTest::pageSurvivesOddRuns_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("mixture of experts") << 0;
    QTest::newRow("NaN in the target") << 1;
    QTest::newRow("bitwise equal") << 2;
    QTest::newRow("one token") << 3;
    QTest::newRow("parts at once") << 4;
}

void ViewsTest::pageSurvivesOddRuns()
{
    QFETCH(int, kind);
    test::MadeModel model;
    if (kind == 0) {
        model.experts = 8;
        model.layers = 6;
    } else if (kind == 1) {
        model.nanPosition = 3;
    } else if (kind == 2) {
        model.samples[0].firstDifference = 1000;
    } else if (kind == 3) {
        model.samples = {{"one", 2, 0, std::nullopt, 0}};
    } else {
        model.samples = {{"parts", 2, 6, 1, 0}, {"", 2, 2, std::nullopt, 0}};
    }
    Look look(ThemeKind::Dark);
    Cursor cursor;
    ComparisonView page(look, cursor);
    page.resize(960, 600);
    page.show();
    const auto compared = test::madeComparison(model);
    QVERIFY(compared);
    page.setCompared(compared);
    for (std::size_t sample = 0; sample < compared->samples.size(); ++sample)
        for (std::size_t column = 0; column < compared->samples[sample].columns(); ++column) {
            cursor.moveTo(Place{sample, column, column});
            QTRY_VERIFY(page.isSettled());
        }
    for (const QString& tab : ComparisonView::tabNames()) {
        page.showTab(tab);
        QVERIFY(!page.grab().isNull());
    }
}

void ViewsTest::ladderRungs()
{
    diff::RoutingDetail detail;
    detail.experts = {{5, 1.0, 1.0, 0.6, 0.6, 0, 0},
                      {2, 0.9, 0.8, 0.4, 0.0, 1, -1},
                      {7, 0.5, 0.9, 0.0, 0.4, -1, 1},
                      {1, 0.1, 0.1, 0.0, 0.0, -1, -1}};
    const auto rungs = expertLadder(detail);
    QCOMPARE(rungs.size(), std::size_t{3}); // expert 1 was chosen by neither
    QCOMPARE(rungs[1].label, QStringLiteral("expert 2"));
    QCOMPARE(rungs[1].targetRank, -1);
    diff::LogitsDetail logits;
    logits.row.referenceMargin = 0.125;
    logits.row.targetMargin = 0.25;
    QCOMPARE(marginText(logits), QStringLiteral("0.125, 0.25"));
    logits.referenceMarginUlps = 1;
    logits.targetMarginUlps = 1234;
    QCOMPARE(marginText(logits), QStringLiteral("1, 1,234 ulp"));
    const Look look(ThemeKind::Light);
    Ladder ladder(look);
    ladder.resize(600, 200);
    QVERIFY(!ladder.grab().isNull()); // nothing to show
    ladder.setEntries(rungs, 2, 4);
    QVERIFY(!ladder.grab().isNull());
    ladder.resize(60, 20);
    QVERIFY(!ladder.grab().isNull()); // no room
}

QTEST_MAIN(ViewsTest)
#include "views_test.moc"
