// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/widgets/made_comparison.h"
#include "widgets/views/absence.h"
#include "widgets/views/comparison_view.h"
#include "widgets/views/ladder.h"
#include "widgets/views/routing_view.h"
#include "widgets/views/token_strips.h"
#include "widgets/views/top_k_view.h"
#include "widgets/views/verdict_bar.h"

#include <QFontMetrics>
#include <QTabWidget>
#include <QTest>

#include <cmath>

using namespace moire;
using namespace moire::widgets;

class ViewsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void opensWhereValuesDiffer();
    void stripColumnsLieOverEachOther();
    void stripsStandOverTheirColumns();
    void stripsAreRealigned();
    void stripsFollowTheCursor();
    void stripsOfNothing();
    void verdictIsEscaped();
    void heatCanvasZoomsAndFits();
    void clickChoosesACell();
    void pageShowsEveryState();
    void pageSurvivesOddRuns_data();
    void pageSurvivesOddRuns();
    void ladderRungs();
    void routingTabOfADenseModel();
    void mapShowsEitherRun();
    void lockedInspectorStays();
    void overviewGoesAnywhere();
    void routesInWords();
    void causeInWords();
    void absenceInWords();
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
    QCOMPARE(layout.size(), std::size_t{4});
    for (std::size_t slot = 0; slot < layout.size(); ++slot) {
        QVERIFY(layout.right(slot) > layout.left(slot));
        QCOMPARE(layout.columnOf(slot), slot);
        QCOMPARE(layout.slotOf(slot), slot);
    }
    QVERIFY(layout.right(0) - layout.left(0) > metrics.horizontalAdvance("another"));
    QVERIFY(layout.right(1) - layout.left(1) > metrics.horizontalAdvance("wide·token"));
    for (int x = 0; x < layout.width(); ++x) {
        const std::size_t slot = layout.slotAt(x);
        QVERIFY(slot < layout.size());
        QVERIFY(x >= layout.left(slot) && x < layout.right(slot));
    }
    QCOMPARE(layout.slotAt(-1), layout.size());
    QCOMPARE(layout.slotAt(layout.width()), layout.size());
}

void ViewsTest::stripsStandOverTheirColumns()
{
    const Look look(ThemeKind::Light);
    const QFontMetrics metrics(look.font(TextRole::Mono));
    QStringList words;
    for (int i = 0; i < 40; ++i)
        words.append(QStringLiteral("w%1").arg(i));
    StripLayout layout(sampleOf(words, words), metrics);
    // Columns wider than every token: each stands exactly over its own.
    layout.setLeastWidth(61.5);
    for (std::size_t slot = 0; slot < layout.size(); ++slot)
        QCOMPARE(layout.left(slot),
                 static_cast<int>(std::lround(61.5 * static_cast<double>(slot))));
    // Narrower ones: the cursor's token can always be brought over its column.
    layout.setLeastWidth(3);
    constexpr int view = 400;
    const double column = static_cast<double>(view) / 40;
    for (std::size_t slot = 0; slot < layout.size(); ++slot) {
        const double x = (static_cast<double>(slot) + 0.5) * column;
        const int offset = layout.offsetAligning(slot, x, view);
        const double middle = (layout.left(slot) + layout.right(slot)) / 2.0 - offset;
        QVERIFY(std::abs(middle - x) <= (layout.right(slot) - layout.left(slot)) / 2.0);
        QVERIFY(offset >= 0 && offset <= layout.width() - view);
    }
}

void ViewsTest::stripsAreRealigned()
{
    // Hand-made: "a b | x y c d" against "a b | z c d e": the texts part at 2, "c d" is found
    // again.
    SampleEntry sample = sampleOf({"a", "b", "x", "y", "c", "d"}, {"a", "b", "z", "c", "d", "e"});
    sample.split = 2;
    const auto text = [&sample] {
        QStringList slots;
        for (const StripSlot& slot : stripSlots(sample))
            slots.append(QString::number(slot.reference) + QLatin1Char(slot.realigned ? '=' : '/')
                         + QString::number(slot.target));
        return slots.join(' ');
    };
    QCOMPARE(text(), QStringLiteral("0/0 1/1 2/2 3/3 4/4 5/5")); // the report holds no blocks
    sample.blocks = {{0, 0, 2, 2}, {4, 3, 2, 2}};
    QCOMPARE(text(), QStringLiteral("0/0 1/1 2/2 3/-1 4=3 5=4 -1/5"));
    const Look look(ThemeKind::Light);
    const StripLayout layout(sample, QFontMetrics(look.font(TextRole::Mono)));
    QCOMPARE(layout.slotOf(3), std::size_t{3});
    QCOMPARE(layout.slotOf(5), std::size_t{5}); // the reference's token 5
    QCOMPARE(layout.columnOf(6), std::size_t{5});
    sample.blocks = {{0, 0, 2, 2}, {4, 3, 200, 200}}; // never beyond the tokens there are
    QCOMPARE(stripSlots(sample).size(), std::size_t{7});
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
        QVERIFY(layout.left(column) >= offset); // slots are columns here
        QVERIFY(layout.right(column) <= offset + view);
        QVERIFY(offset >= 0 && offset <= layout.width() - view);
        QCOMPARE(layout.offsetShowing(column, offset, view), offset);
    }
}

void ViewsTest::stripsOfNothing()
{
    const Look look(ThemeKind::Light);
    const StripLayout layout(sampleOf({}, {}), QFontMetrics(look.font(TextRole::Mono)));
    QCOMPARE(layout.size(), std::size_t{0});
    QCOMPARE(layout.width(), 0);
    QCOMPARE(layout.offsetShowing(0, 7, 100), 7);
    QCOMPARE(StripLayout().size(), std::size_t{0});
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
    // A long one is cut between words, and only as far as it has to be.
    const Look look(ThemeKind::Light);
    const QFont font = look.font(TextRole::Verdict);
    const QString longer = QStringLiteral("First divergence: <b> & ")
                           + QStringList(200, QStringLiteral("word")).join(' ');
    const QString two = fittedVerdict(longer, font, QStringLiteral("Mono"), 900, 2);
    const QString three = fittedVerdict(longer, font, QStringLiteral("Mono"), 900, 3);
    QVERIFY(two.endsWith(QStringLiteral("word …")) && two.size() < three.size());
    QVERIFY(longer.startsWith(two.chopped(2)) && longer.startsWith(three.chopped(2)));
    QCOMPARE(fittedVerdict(longer, font, QStringLiteral("Mono"), 900, 99), longer);
    QCOMPARE(fittedVerdict(two, font, QStringLiteral("Mono"), 900, 2), two);
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
    QCOMPARE(marginText(logits), QStringLiteral("0.125 (1 ulp), 0.25 (1,234 ulp)"));
    const Look look(ThemeKind::Light);
    Ladder ladder(look);
    ladder.resize(600, 200);
    QVERIFY(!ladder.grab().isNull()); // nothing to show
    ladder.setEntries(rungs, 2, 4);
    QVERIFY(!ladder.grab().isNull());
    ladder.resize(60, 20);
    QVERIFY(!ladder.grab().isNull()); // no room
}

void ViewsTest::routingTabOfADenseModel()
{
    Look look(ThemeKind::Light);
    Cursor cursor;
    ComparisonView page(look, cursor);
    auto* tabs = page.findChild<QTabWidget*>();
    page.setCompared(test::madeComparison({}));
    QVERIFY(!tabs->isTabEnabled(2));
    QVERIFY(tabs->tabToolTip(2).contains(QStringLiteral("dense model")));
    page.showTab(QStringLiteral("top-k"));
    page.showNextTab();
    QCOMPARE(tabs->currentIndex(), 0);       // past the one that has nothing to show
    page.showTab(QStringLiteral("routing")); // asked for: it says why it is empty
    QCOMPARE(tabs->currentIndex(), 2);
    test::MadeModel experts;
    experts.experts = 8;
    page.setCompared(test::madeComparison(experts));
    QVERIFY(tabs->isTabEnabled(2));
    QVERIFY(tabs->tabToolTip(2).isEmpty());
}

void ViewsTest::mapShowsEitherRun()
{
    Look look(ThemeKind::Light);
    Cursor cursor;
    ComparisonView page(look, cursor);
    page.resize(1280, 760);
    page.show();
    const auto compared = test::madeComparison({});
    page.setCompared(compared);
    QTRY_VERIFY(page.isSettled());
    HeatSource& source = page.heatSource();
    QVERIFY(source.shown() == Shown::Difference);
    const auto difference = source.grid();
    source.setShown(Shown::Reference);
    QTRY_VERIFY(page.isSettled());
    QVERIFY(source.shown() == Shown::Reference);
    // Root mean square of what the capture holds, computed again from the values themselves.
    const auto row = *compared->samples[0].rowAt(3);
    const auto view = compared->reference->values(compared->report.tapPairs[1].reference,
                                                  compared->report.rows[row].reference,
                                                  compared->report.rows[row].reference + 1);
    QVERIFY(view);
    std::vector<double> values(view->width);
    trace::widenRow(*view, compared->report.rows[row].reference, values);
    double squares = 0;
    for (const double value : values)
        squares += value * value;
    const double expected = std::sqrt(squares / static_cast<double>(values.size()));
    QVERIFY(std::abs(static_cast<double>(source.grid()->at(1, 3)) - expected) <= 1e-5 * expected);
    source.setBlinking(true);
    QVERIFY(source.shown() == Shown::Target);
    source.setBlinking(false);
    QVERIFY(source.shown() == Shown::Reference);
    QVERIFY(!page.grab().isNull());
    source.setShown(Shown::Difference);
    QVERIFY(source.grid() == difference);
}

void ViewsTest::lockedInspectorStays()
{
    Look look(ThemeKind::Light);
    Cursor cursor;
    ComparisonView page(look, cursor);
    page.setCompared(test::madeComparison({}));
    QTRY_VERIFY(page.isSettled());
    QString title;
    connect(&page.inspector(), &Inspector::titleChanged, this,
            [&title](const QString& text) { title = text; });
    cursor.moveColumn(3);
    QTRY_VERIFY(page.isSettled());
    QVERIFY(title.contains(QStringLiteral("/ 3 /")));
    page.inspector().setLocked(true);
    cursor.moveColumn(5);
    QTRY_VERIFY(page.isSettled());
    QVERIFY(title.contains(QStringLiteral("/ 3 /")));
    page.inspector().setLocked(false);
    QVERIFY(title.contains(QStringLiteral("/ 5 /")));
}

/// What differs first can be known once values are compared; a cursor that was moved stays.
void ViewsTest::opensWhereValuesDiffer()
{
    test::MadeModel later;
    later.firstLayer = 2;
    const auto opened = test::madeComparison(later);
    const auto measured = test::madeComparison({});
    QVERIFY(firstPlace(*opened) != firstPlace(*measured));
    Look look(ThemeKind::Light);
    Cursor cursor;
    ComparisonView page(look, cursor);
    page.setCompared(opened);
    QVERIFY(cursor.sitePlace() == firstPlace(*opened));
    page.refine(measured);
    QVERIFY(cursor.sitePlace() == firstPlace(*measured));
    page.setCompared(opened);
    const SitePlace chosen{1, 0};
    cursor.moveTo(chosen);
    page.refine(measured);
    QVERIFY(cursor.sitePlace() == chosen);
    QTRY_VERIFY(page.isSettled());
}

void ViewsTest::overviewGoesAnywhere()
{
    test::MadeModel model;
    model.samples = {{"one", 5, 5, std::nullopt, 2}, {"two", 5, 5, std::nullopt, 0}};
    Look look(ThemeKind::Light);
    Cursor cursor;
    ComparisonView page(look, cursor);
    page.resize(1280, 760);
    page.show();
    page.setCompared(test::madeComparison(model));
    QTRY_VERIFY(page.isSettled());
    QCOMPARE(page.heatSource().overview().size(), std::size_t{20});
    auto* bar = page.findChild<OverviewBar*>();
    QTest::mouseClick(bar, Qt::LeftButton, {}, {bar->width() - Look::inset - 2, 12});
    QCOMPARE(cursor.place().sample, std::size_t{1});
    QCOMPARE(cursor.place().column, std::size_t{9});
    page.showOverview(false);
    QVERIFY(!bar->isVisible());
}

void ViewsTest::routesInWords()
{
    diff::RoutingDetail detail;
    QVERIFY(routeFacts(detail).empty());
    detail.cell.chosen = 2;
    detail.cell.replaced = 1;
    detail.cell.referenceMargin = 0;
    detail.cell.targetMargin = 0.25F;
    detail.experts = {{5, 1.0, 1.0, 0.6, 0.6, 0, 0},
                      {2, 0.9, 0.9, 0.4, 0.0, 1, -1},
                      {7, 0.9, 0.9, 0.0, 0.4, -1, 1}};
    const auto facts = routeFacts(detail);
    QCOMPARE(facts[0].reference, QStringLiteral("1 of 2 replaced"));
    QCOMPARE(facts[1].reference, QStringLiteral("2"));
    QCOMPARE(facts[1].target, QStringLiteral("7"));
    QCOMPARE(facts.back().reference, QStringLiteral("chosen from equal router logits"));
    detail.cell.referenceMargin = 0.5F;
    QCOMPARE(routeFacts(detail).back().label, QStringLiteral("margin"));
}

void ViewsTest::causeInWords()
{
    diff::Report report;
    QCOMPARE(causeText(report), QString());
    report.cause = "accumulation order differs";
    QCOMPARE(causeText(report), QStringLiteral("Cause: accumulation order differs"));
    report.cause.clear();
    report.toleranceProfile = "bf16";
    diff::CriterionOutcome outcome;
    outcome.pattern = "*";
    outcome.criterion = "ulp<=2";
    outcome.checked = 10;
    report.tolerance = {outcome};
    QCOMPARE(causeText(report), QStringLiteral("Within the tolerance of bf16."));
    report.tolerance[0].undecided = 4;
    QVERIFY(causeText(report).contains(QStringLiteral("undecided at 4 sites")));
    outcome.pattern = "lm_head.out";
    outcome.criterion = "kl<=1e-4";
    outcome.failed = 3;
    report.tolerance.push_back(outcome);
    QCOMPARE(causeText(report),
             QStringLiteral("Beyond the tolerance of bf16: 1 of 2 criteria not met, most often "
                            "kl<=1e-4 for lm_head.out (3 of 10)."));
    report.verdict = "Beyond tolerance (bf16) in 3 of 10 checks."; // has said it
    QCOMPARE(causeText(report), QString());
}

void ViewsTest::absenceInWords()
{
    test::MadeModel model;
    model.samples = {{"parts", 4, 6, 6, 0}, {"whole", 4, 6, std::nullopt, 0}};
    Cursor cursor;
    QVERIFY(!absenceOfRow(cursor)); // nothing is compared
    cursor.setCompared(test::madeComparison(model));
    QVERIFY(cursor.compared());
    cursor.moveTo(Place{0, 2, 0});
    QVERIFY(!absenceOfRow(cursor));
    cursor.moveColumn(8); // behind the split
    QCOMPARE(absenceOfRow(cursor)->title, QStringLiteral("Not comparable"));
    QVERIFY(absenceOfRow(cursor)->sentence.contains(QStringLiteral("token 6")));
    cursor.moveTo(Place{1, 9, 0}); // the last token is predicted, not passed
    QCOMPARE(absenceOfRow(cursor)->title, QStringLiteral("Not recorded"));
}

QTEST_MAIN(ViewsTest)
#include "views_test.moc"
