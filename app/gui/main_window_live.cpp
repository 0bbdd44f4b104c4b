// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "app/gui/status_line.h"
#include "core/base/text.h"
#include "widgets/views/comparison_view.h"
#include "widgets/views/state_view.h"

#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>

#include <algorithm>

// The window while a live comparison fills it; the rest is in main_window.cpp.
namespace moire::gui {

using namespace widgets;

namespace {

QString namesOf(const LivePlan& plan)
{
    return QStringLiteral("%1 ⇄ %2").arg(plan.reference.name(), plan.target.name());
}

} // namespace

void MainWindow::wireLive()
{
    LiveView& view = m_comparison->liveView();
    view.addAction(m_actions->at(Command::Live));
    connect(&view, &LiveView::cancelRequested, m_live, &LiveControl::cancel);
    connect(&view, &LiveView::saveRequested, m_live, &LiveControl::askToSave);
    connect(m_live, &LiveControl::sessionChanged, this, &MainWindow::showLive);
    connect(m_live, &LiveControl::opened, this, &MainWindow::showLiveStart);
    connect(m_live, &LiveControl::grown, this, [this](const ComparedPointer& compared) {
        m_comparison->refine(compared);
        offerSteps(*compared);
        showLiveStatus();
    });
    connect(m_live, &LiveControl::failed, this, &MainWindow::showLiveTrouble);
    connect(m_live, &LiveControl::over, this, [this] {
        if (!m_cursor.compared() && !m_trouble)
            showLiveTrouble({Errc::Incomparable,
                             "no row of the two runs could be compared",
                             {},
                             "The states below say how far each run came"});
        showLiveStatus();
    });
    connect(m_live, &LiveControl::noticed, this, &MainWindow::tell);
}

void MainWindow::openLive(const LivePlan& plan)
{
    m_trouble.reset();
    m_live->start(plan, m_judging);
}

void MainWindow::showLive(LiveSession* session)
{
    m_comparison->setLive(session);
    if (session == nullptr)
        return;
    // Nothing of the comparison before is left in view: its rows are not this one's.
    m_paths = {};
    m_site.clear();
    m_trouble.reset();
    m_cursor.setCompared(nullptr);
    m_actions->setComparing(false);
    m_loading->setState(QStringLiteral("Capturing live"), namesOf(session->plan()),
                        QStringLiteral("Connecting…"));
    m_loading->setProgress(0);
    // Styled and laid out before rows come: for the first time it takes longer than they may wait.
    m_pages->setCurrentWidget(m_comparison);
    m_pages->setCurrentWidget(m_loading);
    setWindowTitle(namesOf(session->plan()) + QStringLiteral(" – Moire"));
    connect(session, &LiveSession::changed, this, &MainWindow::showLiveStatus);
}

void MainWindow::showLiveStart(const ComparedPointer& compared)
{
    m_actions->setComparing(true);
    // There are no two files to read again, to swap or to link to.
    for (const Command command : {Command::Reload, Command::Swap, Command::CopyLink})
        m_actions->at(command)->setEnabled(false);
    m_actions->setSized(true);
    offerSteps(*compared);
    m_comparison->setCompared(compared);
    m_pages->setCurrentWidget(m_comparison);
    m_comparison->heatCanvas().setFocus();
    showLiveStatus();
}

void MainWindow::showLiveTrouble(const Error& error)
{
    m_trouble = error;
    if (m_cursor.compared()) {
        statusBar()->showMessage(QString::fromStdString(base::visibleText(error.text())));
        return;
    }
    QString sentence = QString::fromStdString(base::visibleText(error.sentence));
    if (const LiveSession* session = m_live->session())
        sentence += QStringLiteral("\nreference: %1\ntarget: %2")
                        .arg(reasonedText(session->status(live::Which::Reference)),
                             reasonedText(session->status(live::Which::Target)));
    m_failed->setState(QStringLiteral("There is nothing to compare"), sentence,
                       QString::fromStdString(base::visibleText(error.hint)));
    m_pages->setCurrentWidget(m_failed);
}

double MainWindow::liveShare() const
{
    const LiveSession* session = m_live->session();
    if (session == nullptr)
        return 0;
    const auto planned = std::max(session->status(live::Which::Reference).planned,
                                  session->status(live::Which::Target).planned);
    return planned == 0
               ? 0
               : static_cast<double>(session->rowsCompared()) / static_cast<double>(planned);
}

std::optional<Error> MainWindow::liveUnreached() const
{
    const LiveSession* session = m_live->session();
    if (session == nullptr)
        return {};
    for (const live::Which which : {live::Which::Reference, live::Which::Target}) {
        const live::SideStatus status = session->status(which);
        if (status.state == live::SideState::Connecting && !status.trouble.sentence.empty())
            return status.trouble;
    }
    return {};
}

std::string MainWindow::liveVerdict() const
{
    return m_live->session() != nullptr && m_cursor.compared() ? m_cursor.compared()->report.verdict
                                                               : std::string();
}

void MainWindow::showLiveStatus()
{
    const LiveSession* session = m_live->session();
    if (session == nullptr)
        return;
    const live::SideStatus reference = session->status(live::Which::Reference);
    const live::SideStatus target = session->status(live::Which::Target);
    if (!m_cursor.compared()) {
        m_loading->setState(QStringLiteral("Capturing live"), namesOf(session->plan()),
                            QStringLiteral("reference: %1\ntarget: %2")
                                .arg(reasonedText(reference), reasonedText(target)));
        m_loading->setProgress(liveShare());
        return;
    }
    m_statusLeft->setText(liveWork(*session, reference, target));
    m_statusRight->setText(liveLosses(reference, target));
}

} // namespace moire::gui
