// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"
#include "widgets/dialogs/about_box.h"
#include "widgets/dialogs/keys_dialog.h"
#include "widgets/models/site_link.h"
#include "widgets/views/blink.h"
#include "widgets/views/comparison_view.h"

#include <QFileDialog>
#include <QTimer>

// Which action does what; the rest of the window is in main_window.cpp.
namespace moire::gui {

using namespace widgets;

namespace {

constexpr int blinkTime = 700; // ms that the menu's blink lasts

} // namespace

void MainWindow::wireActions()
{
    const auto on = [this](Command command, auto act) {
        connect(m_actions->at(command), &QAction::triggered, this, act);
    };
    on(Command::Open, [this] { askForFiles(); });
    on(Command::Live, [this] {
        m_live->setJudging(m_judging);
        m_live->ask();
    });
    on(Command::Reload, [this] { reopen(m_paths); });
    on(Command::Swap, [this] {
        m_judging.repeat.clear(); // it is one of the run that is no reference any more
        reopen({m_paths.target, m_paths.reference});
    });
    on(Command::FirstBeyond, [this] { goToTolerance(); });
    connect(m_actions, &WindowActions::profileChosen, this, [this](const QString& profile) {
        judgeBy({profile, m_judging.repeat});
        reopen(m_paths);
    });
    connect(m_actions, &WindowActions::profileFileWanted, this, &MainWindow::askForProfile);
    on(Command::ExportHtml, [this] { m_exports->askForReport(m_cursor.compared()); });
    on(Command::ExportPicture, [this] {
        m_exports->askForPicture(QStringLiteral("Export picture of the window"), drawingOf(*this));
    });
    on(Command::ExportHeatMap, [this] {
        m_exports->askForPicture(QStringLiteral("Export picture of the heat map"),
                                 drawingOf(m_comparison->heatPanel()));
    });
    on(Command::Quit, [this] { close(); });
    on(Command::GoTo, [this] { askForSite(); });
    on(Command::CopyLink, [this] { copyLink(); });
    on(Command::Environment, [this] { showEnvironment(); });
    on(Command::Recentre, [this] { m_comparison->recentre(); });
    on(Command::ZoomFit, [this] { m_comparison->heatCanvas().fit(); });
    on(Command::ZoomIn, [this] { m_comparison->heatCanvas().zoomBy(HeatCanvas::keyStep); });
    on(Command::ZoomOut, [this] { m_comparison->heatCanvas().zoomBy(1 / HeatCanvas::keyStep); });
    on(Command::NextTab, [this] { m_comparison->showNextTab(); });
    on(Command::ThemeLight, [this] { chooseTheme(ThemeKind::Light); });
    on(Command::ThemeDark, [this] { chooseTheme(ThemeKind::Dark); });
    on(Command::ThemeDesktop, [this] { chooseTheme(std::nullopt); });
    on(Command::Keys, [this] { openDialog(new KeysDialog(m_look, m_actions->all(), this)); });
    on(Command::About, [this] { showAboutBox(*this); });
    connect(m_exports, &Exports::noticed, this,
            [this](const QString& sentence) { tell(sentence); });
    connect(m_actions, &WindowActions::measureChosen, this,
            [this](HeatMeasure measure) { m_comparison->heatSource().setMeasure(measure); });
    connect(m_actions, &WindowActions::criterionChosen, this,
            [this](Criterion criterion) { m_criterion = criterion; });
    connect(&m_comparison->runBar(), &RunBar::environmentRequested, this,
            &MainWindow::showEnvironment);
    connect(&m_comparison->runBar(), &RunBar::swapRequested, m_actions->at(Command::Swap),
            &QAction::trigger);
    connect(&m_comparison->verdictBar(), &VerdictBar::copyLinkRequested, this,
            &MainWindow::copyLink);
}

void MainWindow::reopen(const RunPaths& paths)
{
    const auto& compared = m_cursor.compared();
    openRuns(paths, compared ? siteText(*compared, m_cursor.place()) : m_site);
}

void MainWindow::judgeBy(const Judging& judging)
{
    m_judging = judging;
    m_actions->showProfile(judging.tolerance);
    m_actions->showCriteria(judging.criteria.join(QStringLiteral(", ")));
}

void MainWindow::askForProfile()
{
    auto* dialog = new QFileDialog(this, QStringLiteral("Judge by a tolerance profile"), QString(),
                                   QStringLiteral("Profiles (*.toml *.json);;All files (*)"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, m_actions, &WindowActions::profileChosen);
    connect(dialog, &QDialog::rejected, this, [this] { judgeBy(Judging(m_judging)); });
    openDialog(dialog);
}

void MainWindow::goToTolerance()
{
    const auto& compared = m_cursor.compared();
    if (!compared || !compared->report.first.tolerance)
        return;
    const diff::Divergence& first = *compared->report.first.tolerance;
    const diff::Report& report = compared->report;
    for (std::size_t row = 0; row < report.rows.size(); ++row)
        for (std::size_t tap = 0;
             report.rows[row].reference == first.row && tap < report.taps.size(); ++tap)
            if (report.taps[tap].name == first.tap)
                m_cursor.moveTo(SitePlace{row, tap});
}

void MainWindow::wireViews()
{
    m_comparison->placeActions(m_actions->shownActions(), m_actions->at(Command::Lock));
    HeatSource& source = m_comparison->heatSource();
    const auto shows = [&](Command command, Shown shown) {
        connect(m_actions->at(command), &QAction::triggered, this,
                [&source, shown] { source.setShown(shown); });
    };
    shows(Command::ShowDifference, Shown::Difference);
    shows(Command::ShowReference, Shown::Reference);
    shows(Command::ShowTarget, Shown::Target);
    connect(m_actions->at(Command::Blink), &QAction::triggered, this, &MainWindow::blinkOnce);
    connect(new Blink(*this), &Blink::held, this, [this, &source](bool down) {
        if (m_cursor.compared())
            source.setBlinking(down);
    });
    connect(m_actions->at(Command::Overview), &QAction::toggled, m_comparison,
            &ComparisonView::showOverview);
    connect(m_actions->at(Command::Lock), &QAction::toggled, this,
            [this](bool locked) { m_comparison->inspector().setLocked(locked); });
}

void MainWindow::blinkOnce()
{
    HeatSource& source = m_comparison->heatSource();
    source.setBlinking(true);
    QTimer::singleShot(blinkTime, this, [&source] { source.setBlinking(false); });
}

void MainWindow::wireSteps()
{
    const auto step = [this](Command command, auto find, const QString& absent) {
        connect(m_actions->at(command), &QAction::triggered, this, [this, find, absent] {
            if (m_cursor.compared())
                goTo(find(m_cursor.compared()->divergences), absent);
        });
    };
    using Places = Divergences;
    step(
        Command::First, [this](const Places& all) { return all.first(m_criterion); },
        QStringLiteral("There is no divergence by this criterion."));
    step(
        Command::Last, [this](const Places& all) { return all.last(m_criterion); },
        QStringLiteral("There is no divergence by this criterion."));
    step(
        Command::Next,
        [this](const Places& all) { return all.next(m_criterion, m_cursor.sitePlace()); },
        QStringLiteral("No further divergence by this criterion."));
    step(
        Command::Previous,
        [this](const Places& all) { return all.previous(m_criterion, m_cursor.sitePlace()); },
        QStringLiteral("No earlier divergence by this criterion."));
}

} // namespace moire::gui
