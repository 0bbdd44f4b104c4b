// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "app/gui/options.h"
#include "app/gui/session.h"
#include "core/store/writer.h"
#include "tests/widgets/made_runs.h"
#include "tests/widgets/painted_text.h"
#include "widgets/views/comparison_view.h"

#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace moire;
using namespace moire::gui;
using namespace moire::widgets;

/// The main window on real capture files.
class WindowTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void startState();
    void opensAtTheFirstDivergence();
    void measuresFillInBehind();
    void keysStepThroughDivergences();
    void criterionOfSteps();
    void goesToASite();
    void swapsSides();
    void copiesALink();
    void changesTheme();
    void badFiles_data();
    void badFiles();
    void recoversFromABadFile();
    void dropOpens();
    void exportsAReport();
    void exportsPictures();
    void holdingBBlinks();
    void leastSizeHoldsEverything_data();
    void leastSizeHoldsEverything();
    void tabsMoveWithTheRoom();
    void judgesByATolerance();
    void digestsHaveTwoColours();
    void resumesTheSession();
    void recentFiles();

private:
    RunPaths paths() const { return {m_reference, m_target}; }

    QTemporaryDir m_folder;
    QString m_reference, m_target;
};

namespace {

test::MadeModel model()
{
    test::MadeModel made;
    made.layers = 3;
    made.firstLayer = 1;
    made.samples = {{"first", 6, 8, std::nullopt, 4}, {"second", 6, 8, 9, 2}};
    return made;
}

void write(const QString& path, bool target, const test::MadeModel& made)
{
    auto writer = store::Writer::create(path.toStdString(), test::madeHeader(made, target));
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    test::fill(**writer, made, target);
}

/// What is cut off at the edge or stands over something else.
QString faultOfTexts(QWidget& widget)
{
    const auto texts = test::paintedTexts(widget);
    const QRectF inside(widget.rect());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].box.bottom() > inside.bottom())
            continue; // the site's list is scrolled to it
        if (!inside.contains(texts[i].box))
            return texts[i].text + QStringLiteral(" is cut off");
        for (std::size_t j = 0; j < i; ++j)
            if (texts[j].box.adjusted(1, 1, -1, -1).intersects(texts[i].box))
                return texts[i].text + QStringLiteral(" over ") + texts[j].text;
    }
    return {};
}

/// Keys reach an active window only; a window is active some turns of the event loop after show().
void showActive(MainWindow& window)
{
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
}

void press(MainWindow& window, Qt::Key key, Qt::KeyboardModifiers modifiers = {})
{
    QTest::keyClick(&window, key, modifiers);
}

} // namespace

void WindowTest::initTestCase()
{
    qputenv("XDG_CONFIG_HOME", m_folder.path().toUtf8());
    QCoreApplication::setOrganizationName(QStringLiteral("moire-test"));
    QCoreApplication::setApplicationName(QStringLiteral("window-test"));
    m_reference = m_folder.filePath(QStringLiteral("reference.moire"));
    m_target = m_folder.filePath(QStringLiteral("target.moire"));
    write(m_reference, false, model());
    write(m_target, true, model());
}

void WindowTest::startState()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    QVERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    press(window, Qt::Key_N); // does nothing
    QVERIFY(!window.grab().isNull());
}

void WindowTest::opensAtTheFirstDivergence()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QVERIFY(!window.isSettled());
    QTRY_VERIFY(window.isSettled());
    const auto& compared = window.cursor().compared();
    QVERIFY(compared);
    QCOMPARE(window.cursor().place().sample, std::size_t{0});
    QCOMPARE(window.cursor().place().column, std::size_t{4});
    QCOMPARE(compared->report.taps[window.cursor().place().tap].name,
             std::string("model.layers.1.self_attn.q_proj.out"));
    QVERIFY(window.windowTitle().contains(QStringLiteral("reference.moire")));
}

void WindowTest::measuresFillInBehind()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    bool wasUnmeasured = false;
    auto* opener = window.findChild<Opener*>();
    connect(opener, &Opener::opened, this, [&](const ComparedPointer& compared) {
        wasUnmeasured = !compared->measured;
        QVERIFY(window.cursor().compared() == compared);
        window.findChild<WindowActions*>()->at(Command::Next)->trigger(); // already usable
        QVERIFY(!window.grab().isNull());
    });
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    QVERIFY(wasUnmeasured);
    QVERIFY(window.isUsable());
    const auto& compared = window.cursor().compared();
    QVERIFY(compared->measured);
    // The step taken before the measures came was not undone by them.
    QVERIFY(window.cursor().sitePlace() > *compared->divergences.first(Criterion::Bits));
}

void WindowTest::keysStepThroughDivergences()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    const Cursor& cursor = window.cursor();
    const Place first = cursor.place();
    press(window, Qt::Key_N);
    const Place second = cursor.place();
    QVERIFY(first < second);
    press(window, Qt::Key_F8);
    QVERIFY(second < cursor.place());
    press(window, Qt::Key_Up, Qt::AltModifier);
    QVERIFY(cursor.place() == second);
    press(window, Qt::Key_P);
    QVERIFY(cursor.place() == first);
    press(window, Qt::Key_P); // nothing before the first
    QVERIFY(cursor.place() == first);
    press(window, Qt::Key_End, Qt::AltModifier);
    const Place last = cursor.place();
    QCOMPARE(last.sample, std::size_t{1});
    press(window, Qt::Key_Down, Qt::AltModifier); // nothing behind the last
    QVERIFY(cursor.place() == last);
    press(window, Qt::Key_F8, Qt::ShiftModifier);
    QVERIFY(cursor.place() < last);
    press(window, Qt::Key_Home, Qt::AltModifier);
    QVERIFY(cursor.place() == first);
}

void WindowTest::criterionOfSteps()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    auto* actions = window.findChild<WindowActions*>();
    Q_EMIT actions->criterionChosen(Criterion::Experts); // a dense model has none
    const Place before = window.cursor().place();
    press(window, Qt::Key_Home, Qt::AltModifier);
    QVERIFY(window.cursor().place() == before);
    Q_EMIT actions->criterionChosen(Criterion::TopFive);
    press(window, Qt::Key_Home, Qt::AltModifier);
    const auto first = window.cursor().compared()->divergences.first(Criterion::TopFive);
    if (first)
        QVERIFY(window.cursor().sitePlace() == *first);
}

void WindowTest::goesToASite()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths(), QStringLiteral("second/3/model.layers.2.out"));
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(window.cursor().place().sample, std::size_t{1});
    QCOMPARE(window.cursor().place().column, std::size_t{3});
    QVERIFY(!window.trouble());
    window.openRuns(paths(), QStringLiteral("second/3/no.such.tap"));
    QTRY_VERIFY(window.isSettled());
    QVERIFY(window.trouble().has_value());
    QCOMPARE(window.trouble()->code, Errc::NotFound);
    // Two whole parts: what is not there, and one that is.
    QVERIFY(window.trouble()->sentence.find("no tap 'no.such.tap'") != std::string::npos);
    QVERIFY(window.trouble()->hint.find("first/0/") != std::string::npos);
}

void WindowTest::swapsSides()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths(), QStringLiteral("second/3/model.layers.2.out"));
    QTRY_VERIFY(window.isSettled());
    press(window, Qt::Key_Backslash, Qt::AltModifier);
    QVERIFY(!window.isSettled());
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(window.cursor().compared()->referencePath, m_target);
    QCOMPARE(window.cursor().place().column, std::size_t{3}); // the cursor stays
    press(window, Qt::Key_F5);
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(window.cursor().compared()->referencePath, m_target);
    QCOMPARE(window.cursor().place().column, std::size_t{3});
}

void WindowTest::copiesALink()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    press(window, Qt::Key_L, Qt::ControlModifier);
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("moire://compare")));
}

void WindowTest::changesTheme()
{
    MainWindow window(ThemeKind::Light);
    window.resize(1280, 800);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    const QColor light = window.grab().toImage().pixelColor(4, 400);
    auto* actions = window.findChild<WindowActions*>();
    actions->at(Command::ThemeDark)->trigger();
    const QColor dark = window.grab().toImage().pixelColor(4, 400);
    QCOMPARE(light, Theme::load(ThemeKind::Light).ground);
    QCOMPARE(dark, Theme::load(ThemeKind::Dark).ground);
}

void WindowTest::badFiles_data()
{
    QTest::addColumn<QString>("reference");
    const QString text = m_folder.filePath(QStringLiteral("text.moire"));
    QFile file(text);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("not a capture");
    file.close();
    QTest::newRow("missing") << m_folder.filePath(QStringLiteral("missing.moire"));
    QTest::newRow("not a capture") << text;
    QTest::newRow("a folder") << m_folder.path();
}

void WindowTest::badFiles()
{
    QFETCH(QString, reference);
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns({reference, m_target});
    QTRY_VERIFY(window.isSettled());
    QVERIFY(window.trouble().has_value());
    QVERIFY(!window.trouble()->sentence.empty());
    QVERIFY(!window.cursor().compared());
    QVERIFY(!window.grab().isNull());
}

void WindowTest::recoversFromABadFile()
{
    MainWindow window(ThemeKind::Dark);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    window.openRuns({m_folder.path(), m_target});
    QTRY_VERIFY(window.trouble().has_value());
    window.openRuns(paths());
    window.openRuns({m_target, m_reference}); // the newest wins
    QTRY_VERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    QCOMPARE(window.cursor().compared()->referencePath, m_target);
}

void WindowTest::dropOpens()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(m_reference), QUrl::fromLocalFile(m_target)});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(&window, &drop);
    QTRY_VERIFY(window.isSettled());
    QVERIFY(window.cursor().compared());
}

void WindowTest::exportsAReport()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    auto* exports = window.findChild<Exports*>();
    const QString file = m_folder.filePath(QStringLiteral("report.html"));
    exports->writeReport(window.cursor().compared(), file);
    QTRY_VERIFY(window.isSettled());
    QFile html(file);
    QVERIFY(html.open(QIODevice::ReadOnly));
    QVERIFY(html.readAll().contains("</html>"));
    QFile json(m_folder.filePath(QStringLiteral("report.json")));
    exports->writeReport(window.cursor().compared(), json.fileName());
    QTRY_VERIFY(window.isSettled());
    QVERIFY(json.open(QIODevice::ReadOnly));
    QVERIFY(json.readAll().startsWith("{"));
    QString said;
    connect(exports, &Exports::noticed, this, [&said](const QString& text) { said = text; });
    exports->writeReport(window.cursor().compared(), m_folder.filePath("report.foo"));
    QVERIFY2(said.contains(QStringLiteral("'.foo'")), qPrintable(said));
    exports->writePicture(drawingOf(window),
                          m_folder.filePath(QStringLiteral("no/such/folder.png")));
    QTRY_VERIFY(window.isSettled());
    QVERIFY2(said.contains(QStringLiteral("folder")), qPrintable(said));
}

void WindowTest::exportsPictures()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    auto* exports = window.findChild<Exports*>();
    QString said;
    connect(exports, &Exports::noticed, this, [&said](const QString& text) { said = text; });
    const auto begins = [this, exports, &window](const QString& name) {
        const QString file = m_folder.filePath(name);
        exports->writePicture(drawingOf(window), file);
        [&] { QTRY_VERIFY(window.isSettled()); }();
        QFile written(file);
        return written.open(QIODevice::ReadOnly) ? written.read(200) : QByteArray();
    };
    QVERIFY(begins(QStringLiteral("view.png")).startsWith("\x89PNG"));
    QVERIFY(begins(QStringLiteral("view.pdf")).startsWith("%PDF"));
    QVERIFY(begins(QStringLiteral("view.svg")).contains("<svg"));
    QVERIFY(begins(QStringLiteral("view.txt")).isEmpty());
    QVERIFY2(said.contains(QStringLiteral(".png, .pdf or .svg")), qPrintable(said));
    // Never over a capture, by whatever way it is named.
    const auto bytesOf = [](const QString& name) {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const QByteArray before = bytesOf(m_target);
    begins(QStringLiteral("./target.moire"));
    QVERIFY(!before.isEmpty() && bytesOf(m_target) == before);
    QVERIFY2(said.contains(QStringLiteral("one of the captures")), qPrintable(said));
    exports->writeReport(window.cursor().compared(), m_reference);
    QVERIFY2(said.contains(QStringLiteral("one of the captures")), qPrintable(said));
}

void WindowTest::holdingBBlinks()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    const HeatSource& source = window.findChild<ComparisonView*>()->heatSource();
    QVERIFY(source.shown() == Shown::Difference);
    QTest::keyPress(QApplication::focusWidget(), Qt::Key_B);
    QTRY_VERIFY(source.shown() == Shown::Target);
    QTest::keyRelease(QApplication::focusWidget(), Qt::Key_B);
    QVERIFY(source.shown() == Shown::Difference);
    press(window, Qt::Key_2);
    QTRY_VERIFY(source.shown() == Shown::Reference);
    press(window, Qt::Key_1);
    QVERIFY(source.shown() == Shown::Difference);
}

void WindowTest::leastSizeHoldsEverything_data()
{
    QTest::addColumn<QString>("tab");
    for (const QString& tab : ComparisonView::tabNames())
        QTest::newRow(qPrintable(tab)) << tab;
    QTest::newRow("site") << QString();
}

/// At the smallest size nothing is cut off and nothing stands over something else.
void WindowTest::leastSizeHoldsEverything()
{
    QFETCH(QString, tab);
    MainWindow window(ThemeKind::Light);
    window.resize(1, 1);
    if (!tab.isEmpty())
        window.showTab(tab);
    showActive(window);
    QCOMPARE(window.size(), leastWindow);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    for (QToolButton* button : window.findChildren<QToolButton*>())
        if (button->isVisibleTo(&window) && !button->text().isEmpty()) {
            QVERIFY2(button->width() >= button->minimumSizeHint().width(),
                     qPrintable(button->text()));
            // What a tool bar has no room for goes behind such a button.
            QVERIFY(button->objectName() != QStringLiteral("qt_toolbar_ext_button"));
        }
    QTRY_COMPARE(faultOfTexts(*window.centralWidget()), QString());
    constexpr int usefulHeight = 80;
    const HeatCanvas& map = window.findChild<ComparisonView*>()->heatCanvas();
    QVERIFY2(map.height() > usefulHeight + 60, qPrintable(QString::number(map.height())));
}

void WindowTest::tabsMoveWithTheRoom()
{
    MainWindow window(ThemeKind::Light);
    window.resize(1280, 900);
    showActive(window);
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    const auto* tabs = window.findChild<QTabWidget*>();
    const auto* inspector = window.findChild<Inspector*>();
    const auto names = [tabs] {
        QStringList all;
        for (int i = 0; i < tabs->count(); ++i)
            all.append(tabs->isTabVisible(i) ? tabs->tabText(i) : QString());
        return all.join(' ').trimmed();
    };
    QCOMPARE(names(), QStringLiteral("Logits Top-K Routing"));
    QVERIFY(inspector->isVisible());
    window.resize(leastWindow);
    QTRY_COMPARE(names(), QStringLiteral("Site Logits Top-K Routing"));
    QVERIFY(inspector->isVisible()); // the site comes first
    QVERIFY(window.showTab(QStringLiteral("logits")));
    QCOMPARE(tabs->tabText(tabs->currentIndex()), QStringLiteral("Logits"));
    window.resize(1280, 900);
    QTRY_COMPARE(names(), QStringLiteral("Logits Top-K Routing"));
    QCOMPARE(tabs->tabText(tabs->currentIndex()), QStringLiteral("Logits"));
    QTRY_VERIFY(inspector->isVisible());
}

void WindowTest::judgesByATolerance()
{
    MainWindow window(ThemeKind::Light);
    showActive(window);
    window.judgeBy({QStringLiteral("strict"), {}});
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    const auto first = window.cursor().compared()->report.first.tolerance;
    QVERIFY(first);
    press(window, Qt::Key_End, Qt::AltModifier);
    press(window, Qt::Key_T);
    QCOMPARE(window.cursor().place().column, std::size_t{first->position});
    auto* actions = window.findChild<WindowActions*>();
    Q_EMIT actions->profileChosen({});
    QTRY_VERIFY(window.isSettled());
    QVERIFY(!window.cursor().compared()->report.first.tolerance);
    QVERIFY(!actions->at(Command::FirstBeyond)->isEnabled());
    window.judgeBy({QStringLiteral("noise"), {}}); // needs a repeat
    window.openRuns(paths());
    QTRY_VERIFY(window.trouble().has_value());
    QTRY_VERIFY(window.isSettled());
    QVERIFY(window.cursor().compared()->measured); // the comparison itself stays
    // A repeat of the reference: the reference once more, in a file of its own.
    const QString repeat = m_folder.filePath("repeat.moire");
    QVERIFY(QFile::copy(m_reference, repeat));
    window.judgeBy({{}, repeat});
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    QVERIFY(window.cursor().compared()->report.first.floor);
}

/// Where only digests were recorded no size is made up.
void WindowTest::digestsHaveTwoColours()
{
    const auto digestsOf = [this](bool target) {
        const QString path = m_folder.filePath(target ? "digest-target.moire" : "digest.moire");
        test::MadeModel digests = model();
        digests.digestsOnly = true;
        write(path, target, digests);
        return path;
    };
    MainWindow window(ThemeKind::Light);
    window.resize(1280, 800);
    showActive(window);
    window.openRuns({digestsOf(false), digestsOf(true)});
    QTRY_VERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    const HeatSource& source = window.findChild<ComparisonView*>()->heatSource();
    QVERIFY(source.grid()->isOfBits());
    const Theme theme = Theme::load(ThemeKind::Light);
    const QImage map = window.findChild<ComparisonView*>()->heatCanvas().grab().toImage();
    bool unsized = false;
    for (int y = 0; y < map.height(); ++y)
        for (int x = 0; x < map.width(); ++x) {
            unsized = unsized || map.pixelColor(x, y) == theme.unsized;
            QVERIFY(map.pixelColor(x, y) != theme.scale.front());
        }
    QVERIFY(unsized);
    QString words;
    for (const auto& painted : test::paintedTexts(window))
        words += painted.text + '\n';
    QVERIFY2(words.contains(QStringLiteral("bits differ, values not recorded")), qPrintable(words));
    QVERIFY(!words.contains(QStringLiteral("log scale")));
}

void WindowTest::resumesTheSession()
{
    Place place;
    {
        MainWindow window(ThemeKind::Light);
        window.rememberSettings();
        showActive(window);
        window.judgeBy({QStringLiteral("strict"), {}});
        window.openRuns(paths(), QStringLiteral("second/3/model.layers.2.out"));
        QTRY_VERIFY(window.isSettled());
        place = window.cursor().place();
        window.showTab(QStringLiteral("logits"));
        window.findChild<WindowActions*>()->at(Command::Overview)->setChecked(false);
        window.close();
    }
    {
        MainWindow window(ThemeKind::Light);
        window.rememberSettings();
        showActive(window);
        window.resumeSession();
        QTRY_VERIFY(window.isSettled());
        QVERIFY(window.cursor().compared());
        QVERIFY(window.cursor().place() == place);
        QVERIFY(!window.cursor().compared()->report.toleranceProfile.empty());
        const auto* tabs = window.findChild<QTabWidget*>();
        QCOMPARE(tabs->tabText(tabs->currentIndex()), QStringLiteral("Logits"));
        QVERIFY(!window.findChild<OverviewBar*>()->isVisible());
    }
    Session gone = Session::load();
    QVERIFY(gone.canResume());
    gone.paths.target = m_folder.filePath(QStringLiteral("gone.moire"));
    QVERIFY(!gone.canResume());
}

void WindowTest::recentFiles()
{
    {
        MainWindow window(ThemeKind::Light);
        window.rememberSettings();
        showActive(window);
        window.openRuns(paths());
        QTRY_VERIFY(window.isSettled());
        window.close();
    }
    RecentRuns recent;
    QCOMPARE(recent.all().size(), 1);
    QVERIFY(recent.all().first() == paths());
    recent.add({m_target, m_reference});
    recent.add(paths());
    QCOMPARE(recent.all().size(), 2);
    QVERIFY(recent.all().first() == paths());
    recent.clear();
    QVERIFY(RecentRuns().all().isEmpty());
}

QTEST_MAIN(WindowTest)
#include "window_test.moc"
