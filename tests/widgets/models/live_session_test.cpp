// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/progress.h"
#include "core/diff/comparison.h"
#include "core/store/mapped_run.h"
#include "tests/core/live/fake_host.h"
#include "widgets/models/live_session.h"
#include "widgets/plot/look.h"
#include "widgets/views/comparison_view.h"
#include "widgets/views/live_view.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace moire;
using namespace moire::widgets;
using live::Which;
using live::test::FakeHost;
using live::test::Script;
using moire::test::MadeModel;

namespace {

MadeModel model(const std::string& arithmetic)
{
    MadeModel made;
    made.arithmetic = arithmetic;
    made.startTime = "2026-01-01T00:00:00Z";
    return made;
}

/// One element of the second layer is another from row 2 on.
double fromRowTwo(double value, std::size_t tap, std::uint64_t row, std::size_t element)
{
    return tap == 1 && row >= 2 && element == 7 ? value + 1 : value;
}

/// What the comparison of the two whole runs says.
diff::Report reportOf(const Script& reference, const Script& target)
{
    base::Progress progress;
    auto report =
        diff::compare(reference.run("reference"), target.run("target"), {}, {}, 1, {}, progress);
    if (!report)
        qFatal("%s", report.error().text().c_str());
    return std::move(*report);
}

bool anyLabelSays(const QWidget& widget, const QString& words)
{
    const auto labels = widget.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&words](const QLabel* label) { return label->text().contains(words); });
}

} // namespace

/// A live comparison as the window has it, between daemons without sockets.
class LiveSessionTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    Script m_ours{model("ordered"), live::test::twoSamples(), 3};
    Script m_theirs{model("native"), live::test::twoSamples(), 3, fromRowTwo};
    std::shared_ptr<FakeHost> m_reference, m_target;
    std::unique_ptr<LiveSession> m_session;
    Look m_look{ThemeKind::Light};

    live::SideOptions side(const std::shared_ptr<FakeHost>& host, bool scores) const
    {
        live::SideOptions options;
        options.host = host;
        options.folder = m_folder.path().toStdString();
        options.request.model = "imagined";
        if (!scores) {
            options.request.options["text"] = std::string("anything");
            options.request.options["max-new"] = std::int64_t{6};
        }
        return options;
    }

private Q_SLOTS:
    void init()
    {
        m_reference = std::make_shared<FakeHost>("tcp://one:7431", m_ours);
        m_target = std::make_shared<FakeHost>("tcp://two:7431", m_theirs);
        m_session = std::make_unique<LiveSession>(
            LivePlan(), live::PairOptions{side(m_reference, false), side(m_target, true)},
            diff::ComparisonOptions());
    }
    void cleanup() { m_session.reset(); }

    void endsAsTheFilesDo()
    {
        QSignalSpy compared(m_session.get(), &LiveSession::compared);
        QSignalSpy over(m_session.get(), &LiveSession::over);
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        std::uint64_t rows = 0;
        for (std::size_t call = 0; call < m_ours.size(); ++call) {
            m_reference->play(1);
            QTest::qWait(5);
            QVERIFY(m_session->rowsCompared() >= rows);
            rows = m_session->rowsCompared();
        }
        // It is seen while it grows, not at the end alone.
        QTRY_VERIFY(compared.size() > 1);
        QVERIFY(!m_session->isOver());
        // What is on its way is not missing.
        const std::string soFar = compared[0][0].value<ComparedPointer>()->report.verdict;
        QVERIFY2(soFar.starts_with("So far "), soFar.c_str());
        QVERIFY2(soFar.find("incomplete") == std::string::npos, soFar.c_str());
        QVERIFY2(soFar.find("counterpart") == std::string::npos, soFar.c_str());
        m_reference->playAll();
        QTRY_COMPARE(over.size(), 1);
        QVERIFY(m_session->isOver());

        const diff::Report whole = reportOf(m_ours, m_theirs);
        const auto last = compared.last()[0].value<ComparedPointer>();
        QCOMPARE(last->report.verdict, whole.verdict);
        QCOMPARE(last->report.rows.size(), whole.rows.size());
    }

    void savesWhatHasCome()
    {
        QSignalSpy saved(m_session.get(), &LiveSession::saved);
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        m_reference->play(m_ours.size() / 2);
        QTRY_VERIFY(m_session->rowsCompared() > 0);
        const QString file = m_folder.filePath(QStringLiteral("half.moire"));
        m_session->save(Which::Reference, file);
        QTRY_COMPARE(saved.size(), 1);
        QVERIFY(saved[0][1].value<Result<void>>());
        const auto half = store::MappedRun::open(file.toStdString());
        QVERIFY2(half, half ? "" : half.error().text().c_str());
        QVERIFY((*half)->rowCount() > 0);
        QVERIFY(!(*half)->complete());
        // What is no capture is not written over.
        m_session->save(Which::Reference, m_folder.path());
        QTRY_COMPARE(saved.size(), 2);
        QVERIFY(!saved[1][1].value<Result<void>>());
        m_reference->playAll();
        QTRY_VERIFY(m_session->isOver());
    }

    void cancelsBoth()
    {
        QSignalSpy over(m_session.get(), &LiveSession::over);
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        m_reference->play(4);
        QTRY_VERIFY(m_session->status(Which::Reference).rows > 0);
        m_session->cancel();
        QTRY_COMPARE(m_reference->cancelled().size(), std::size_t{1});
        QTRY_COMPARE(m_target->cancelled().size(), std::size_t{1});
        m_reference->breakOff("cancelled", "it was cancelled");
        m_target->breakOff("cancelled", "it was cancelled");
        QTRY_COMPARE(over.size(), 1);
        QVERIFY(m_session->status(Which::Reference).state == live::SideState::Cancelled);
    }

    void statesAreDrawn()
    {
        LiveView view(m_look);
        view.resize(900, 400);
        view.setSession(m_session.get());
        view.show();
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        m_reference->play(4);
        QTRY_VERIFY(m_session->rowsCompared() > 0);
        QTRY_VERIFY(anyLabelSays(view, QStringLiteral("unning")));
        // Losing the link and having it again are states, and the run goes on.
        m_target->linkState = wire::LinkState::Lost;
        QTRY_VERIFY(anyLabelSays(view, QStringLiteral("link lost")));
        m_target->linkState = wire::LinkState::Connected;
        QTRY_VERIFY(!anyLabelSays(view, QStringLiteral("link lost")));
        m_reference->playAll();
        QTRY_VERIFY(m_session->isOver());
        QTRY_VERIFY(anyLabelSays(view, QStringLiteral("inished")));
        view.setSession(nullptr); // the view outlives it
    }

    void nothingIsLinkedOrSwapped()
    {
        Cursor cursor;
        ComparisonView page(m_look, cursor);
        const auto buttonSaying = [&page](const QString& words) -> QToolButton* {
            for (auto* button : page.findChildren<QToolButton*>())
                if (button->text() == words || button->accessibleName() == words)
                    return button;
            return nullptr;
        };
        for (const QString& words : {QStringLiteral("Copy link"), QStringLiteral("Swap sides")}) {
            page.setLive(m_session.get()); // there are no two files
            QVERIFY2(!buttonSaying(words)->isEnabled(), qPrintable(words));
            page.setLive(nullptr);
            QVERIFY2(buttonSaying(words)->isEnabled(), qPrintable(words));
        }
    }

    void aRunThatIsRefusedIsOver()
    {
        m_reference->refusesRuns = "there is no model 'imagined'";
        QSignalSpy over(m_session.get(), &LiveSession::over);
        QSignalSpy failed(m_session.get(), &LiveSession::failed);
        m_session->start();
        QTRY_COMPARE(over.size(), 1);
        QCOMPARE(failed.size(), 1);
        QCOMPARE(failed[0][0].value<Error>().sentence, std::string("there is no model 'imagined'"));
        const live::SideStatus status = m_session->status(Which::Reference);
        QVERIFY(status.state == live::SideState::Failed);
        QCOMPARE(status.trouble.sentence, std::string("there is no model 'imagined'"));
    }

    void rowsThatAreLostAreSaid()
    {
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        m_reference->play(4);
        QTRY_VERIFY(m_session->rowsCompared() > 0);
        m_reference->loseRows(2);
        QTRY_COMPARE(m_session->status(Which::Reference).lostRows, std::uint64_t{2});
        m_reference->breakOff("failed", "out of memory");
        m_target->breakOff("cancelled", "the reference ended");
        QTRY_VERIFY(m_session->isOver());
        QVERIFY(
            trafficText(m_session->status(Which::Reference)).contains(QStringLiteral("2 rows")));
    }

    void isGoneInTheMiddle()
    {
        m_session->start();
        QTRY_COMPARE(m_target->requests().size(), std::size_t{1});
        m_reference->play(m_ours.size() / 2);
        m_session.reset(); // its threads end with it
        QTest::qWait(50);
    }
};

QTEST_MAIN(LiveSessionTest)
#include "live_session_test.moc"
