// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "core/store/writer.h"
#include "tests/widgets/made_runs.h"
#include "widgets/views/comparison_view.h"

#include <QClipboard>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QGuiApplication>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>

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

void write(const QString& path, bool target)
{
    auto writer = store::Writer::create(path.toStdString(), test::madeHeader(model(), target));
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    test::fill(**writer, model(), target);
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
    write(m_reference, false);
    write(m_target, true);
}

void WindowTest::startState()
{
    MainWindow window(ThemeKind::Light);
    window.show();
    QVERIFY(window.isSettled());
    QVERIFY(!window.trouble());
    press(window, Qt::Key_N); // does nothing
    QVERIFY(!window.grab().isNull());
}

void WindowTest::opensAtTheFirstDivergence()
{
    MainWindow window(ThemeKind::Light);
    window.show();
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
    window.show();
    bool wasUnmeasured = false;
    auto* opener = window.findChild<Opener*>();
    connect(opener, &Opener::opened, this, [&](const ComparedPointer& compared) {
        wasUnmeasured = !compared->measured;
        QVERIFY(window.cursor().compared() == compared);
        press(window, Qt::Key_N); // already usable
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
    window.show();
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
    window.show();
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
    window.show();
    window.openRuns(paths(), QStringLiteral("second/3/model.layers.2.out"));
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(window.cursor().place().sample, std::size_t{1});
    QCOMPARE(window.cursor().place().column, std::size_t{3});
    QVERIFY(!window.trouble());
    window.openRuns(paths(), QStringLiteral("second/3/no.such.tap"));
    QTRY_VERIFY(window.isSettled());
    QVERIFY(window.trouble().has_value());
    QCOMPARE(window.trouble()->code, Errc::NotFound);
}

void WindowTest::swapsSides()
{
    MainWindow window(ThemeKind::Light);
    window.show();
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
    window.show();
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    press(window, Qt::Key_L, Qt::ControlModifier);
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("moire://compare")));
}

void WindowTest::changesTheme()
{
    MainWindow window(ThemeKind::Light);
    window.resize(1280, 800);
    window.show();
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
    window.show();
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
    window.show();
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
    window.show();
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
    window.show();
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    auto* exports = window.findChild<Exports*>();
    const QString file = m_folder.filePath(QStringLiteral("report.html"));
    exports->writeReport(window.cursor().compared(), file);
    QTRY_VERIFY(window.isSettled());
    QFile html(file);
    QVERIFY(html.open(QIODevice::ReadOnly));
    QVERIFY(html.readAll().contains("</html>"));
    QString said;
    connect(exports, &Exports::noticed, this, [&said](const QString& text) { said = text; });
    exports->writePicture(window.grab().toImage(),
                          m_folder.filePath(QStringLiteral("no/such/folder.png")));
    QTRY_VERIFY(window.isSettled());
    QVERIFY(said.contains(QStringLiteral("could not be written")));
}

void WindowTest::recentFiles()
{
    {
        MainWindow window(ThemeKind::Light);
        window.rememberSettings();
        window.show();
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
