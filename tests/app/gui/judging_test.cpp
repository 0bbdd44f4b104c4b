// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "app/gui/window_actions.h"
#include "core/store/writer.h"
#include "tests/widgets/made_runs.h"

#include <QComboBox>
#include <QTemporaryDir>
#include <QTest>

using namespace moire;
using namespace moire::gui;
using namespace moire::widgets;

/// What the window steps by when something other than bits is the criterion.
class JudgingTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void stepsByTheTolerance();
    void criteria();

private:
    RunPaths paths() const { return {m_reference, m_target}; }
    QTemporaryDir m_folder;
    QString m_reference, m_target;
};

namespace {

void write(const QString& path, bool target)
{
    test::MadeModel made;
    made.layers = 3;
    made.firstLayer = 1;
    made.samples = {{"first", 6, 8, std::nullopt, 4}, {"second", 6, 8, 9, 2}};
    auto writer = store::Writer::create(path.toStdString(), test::madeHeader(made, target));
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    test::fill(**writer, made, target);
}

QComboBox* chooserOf(MainWindow& window)
{
    for (auto* box : window.findChildren<QComboBox*>())
        if (box->accessibleName() == QStringLiteral("Criterion"))
            return box;
    return nullptr;
}

} // namespace

void JudgingTest::initTestCase()
{
    qputenv("XDG_CONFIG_HOME", m_folder.path().toUtf8());
    QCoreApplication::setOrganizationName(QStringLiteral("moire-test"));
    QCoreApplication::setApplicationName(QStringLiteral("judging-test"));
    m_reference = m_folder.filePath(QStringLiteral("reference.moire"));
    m_target = m_folder.filePath(QStringLiteral("target.moire"));
    write(m_reference, false);
    write(m_target, true);
}

void JudgingTest::stepsByTheTolerance()
{
    MainWindow window(ThemeKind::Light);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QComboBox* chooser = chooserOf(window);
    QVERIFY(chooser != nullptr);
    QCOMPARE(chooser->currentText(), QStringLiteral("bits"));
    window.judgeBy({{}, {}, {QStringLiteral("abs<=0")}}); // every size is beyond it
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(chooser->currentText(), QStringLiteral("tolerance"));
    const Divergences& all = window.cursor().compared()->divergences;
    const auto places = all.all(Criterion::Tolerance);
    QVERIFY(places.size() > 1);
    QVERIFY(window.cursor().sitePlace() == places[0]); // it opens where the verdict says
    QTest::keyClick(&window, Qt::Key_N);
    QVERIFY(window.cursor().sitePlace() == places[1]);
    QTest::keyClick(&window, Qt::Key_P);
    QVERIFY(window.cursor().sitePlace() == places[0]);
    // Within a tolerance there is nothing to step to, and bits can still be chosen.
    window.judgeBy({{}, {}, {QStringLiteral("abs<=1e6"), QStringLiteral("tokens>=0")}});
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    const SitePlace before = window.cursor().sitePlace();
    QTest::keyClick(&window, Qt::Key_N);
    QVERIFY(window.cursor().sitePlace() == before);
    chooser->setCurrentIndex(0);
    QTest::keyClick(&window, Qt::Key_N);
    QVERIFY(window.cursor().sitePlace() != before);
    // By bits alone again.
    window.judgeBy({});
    window.openRuns(paths());
    QTRY_VERIFY(window.isSettled());
    QCOMPARE(chooser->currentText(), QStringLiteral("bits"));
    QVERIFY(window.cursor().compared()->divergences.all(Criterion::Tolerance).empty());
}

void JudgingTest::criteria()
{
    const Judging wrong{{}, {}, {QStringLiteral("bits")}};
    const auto refused = toleranceOf(wrong);
    QVERIFY(!refused);
    QVERIFY(refused.error().text().find("bitwise, ulp<=2") != std::string::npos);
    QVERIFY(*toleranceOf({}) == nullptr);
}

QTEST_MAIN(JudgingTest)
#include "judging_test.moc"
