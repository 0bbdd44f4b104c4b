// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/main_window.h"

#include "app/gui/options.h"
#include "app/gui/session.h"
#include "app/gui/status_line.h"
#include "core/base/text.h"
#include "core/report/number.h"
#include "widgets/dialogs/environment_dialog.h"
#include "widgets/dialogs/go_to_dialog.h"
#include "widgets/dialogs/open_dialog.h"
#include "widgets/models/site_link.h"
#include "widgets/views/comparison_view.h"
#include "widgets/views/state_view.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QStackedWidget>
#include <QStatusBar>

#include <algorithm>

namespace moire::gui {

using namespace widgets;

namespace {

QString shown(const std::string& text)
{
    return QString::fromStdString(text);
}

QString filesText(const RunPaths& paths)
{
    return QStringLiteral("%1 ⇄ %2").arg(QFileInfo(paths.reference).fileName(),
                                         QFileInfo(paths.target).fileName());
}

bool hasDivergence(const Compared& compared)
{
    return std::any_of(allCriteria.begin(), allCriteria.end(), [&](Criterion criterion) {
        return !compared.divergences.all(criterion).empty();
    });
}

} // namespace

MainWindow::MainWindow(std::optional<ThemeKind> theme, QWidget* parent)
    : QMainWindow(parent)
    , m_desktop(Look::desktopTheme())
    , m_look(theme.value_or(m_desktop))
    , m_actions(new WindowActions(*this, m_look))
    , m_pages(new QStackedWidget)
    , m_start(new StateView(m_look))
    , m_loading(new StateView(m_look))
    , m_failed(new StateView(m_look))
    , m_comparison(new ComparisonView(m_look, m_cursor))
    , m_statusLeft(new QLabel)
    , m_statusRight(new QLabel)
    , m_exports(new Exports(*this))
    , m_opener(new Opener(this))
    , m_live(new LiveControl(m_look, *this))
{
    setWindowTitle(QStringLiteral("Moire"));
    setWindowIcon(m_look.icon(QStringLiteral("moire")));
    setAcceptDrops(true);
    setMinimumSize(leastWindow);
    makePages();
    statusBar()->addWidget(m_statusLeft, 1);
    statusBar()->addPermanentWidget(m_statusRight);
    statusBar()->setSizeGripEnabled(false);
    connect(m_opener, &Opener::progressed, this, &MainWindow::showProgress);
    connect(m_opener, &Opener::opened, this, &MainWindow::showCompared);
    connect(m_opener, &Opener::measured, this, &MainWindow::showMeasured);
    connect(m_opener, &Opener::failed, this, &MainWindow::showFailure);
    connect(&m_look, &Look::changed, this, &MainWindow::applyTheme);
    wireActions();
    wireSteps();
    wireViews();
    wireLive();
    applyTheme();
    m_actions
        ->at(theme ? (*theme == ThemeKind::Dark ? Command::ThemeDark : Command::ThemeLight)
                   : Command::ThemeDesktop)
        ->setChecked(true);
}

MainWindow::~MainWindow() = default;

void MainWindow::makePages()
{
    for (StateView* page : {m_start, m_loading, m_failed}) {
        page->setObjectName(QStringLiteral("ground"));
        m_pages->addWidget(page);
    }
    m_pages->addWidget(m_comparison);
    setCentralWidget(m_pages);
    m_start->setState(
        QStringLiteral("Lay two runs over each other"),
        QStringLiteral("Open two captures of the same model, or drop two .moire files here. The "
                       "first place where they part is shown first."),
        QStringLiteral("No capture yet? moire-capture run MODEL --text \"…\" -o ref.moire makes "
                       "one; ./moire.sh demo makes a pair."));
    m_start->setPicture(windowIcon().pixmap(64));
    m_start->addAction(m_actions->at(Command::Open), true);
    m_start->addAction(m_actions->at(Command::Live), false);
    m_failed->addAction(m_actions->at(Command::Open), true);
    m_failed->addAction(m_actions->at(Command::Reload), false);
}

void MainWindow::applyTheme()
{
    QPalette palette = QApplication::palette();
    const Theme& theme = m_look.theme();
    palette.setColor(QPalette::Window, theme.ground);
    palette.setColor(QPalette::Base, theme.panel);
    palette.setColor(QPalette::Button, theme.panel);
    palette.setColor(QPalette::PlaceholderText, theme.faint);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(role, theme.ink);
    QApplication::setPalette(palette);
    QApplication::setFont(m_look.font(TextRole::Base));
    qApp->setStyleSheet(m_look.styleSheet());
    m_statusLeft->setFont(m_look.font(TextRole::Small));
    m_statusRight->setFont(m_look.font(TextRole::Small));
}

void MainWindow::chooseTheme(std::optional<ThemeKind> theme)
{
    m_look.setTheme(theme.value_or(m_desktop));
}

void MainWindow::openDialog(QDialog* dialog)
{
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::tell(const QString& sentence)
{
    constexpr int time = 6000; // ms
    statusBar()->showMessage(sentence, time);
}

void MainWindow::goTo(std::optional<SitePlace> place, const QString& absent)
{
    if (place)
        m_cursor.moveTo(*place);
    else
        tell(absent);
}

void MainWindow::openRuns(const RunPaths& paths, const QString& site)
{
    m_paths = paths;
    m_site = site;
    m_exports->protect(paths);
    m_trouble.reset();
    m_live->close();
    showLoading();
    m_opener->start(paths, m_judging);
}

void MainWindow::showLoading()
{
    m_actions->setComparing(false);
    m_loading->setState(QStringLiteral("Comparing"), filesText(m_paths),
                        QStringLiteral("Opening both captures…"));
    m_loading->setProgress(0);
    // A comparison that is already there stays in view while it is read again.
    if (!m_cursor.compared())
        m_pages->setCurrentWidget(m_loading);
}

void MainWindow::showProgress(double share)
{
    if (m_opener->isOpening())
        m_loading->setProgress(share);
    else
        m_statusLeft->setText(QStringLiteral("Measuring… %1 %").arg(static_cast<int>(100 * share)));
}

void MainWindow::showFailure(const Error& error)
{
    const auto& shownNow = m_cursor.compared();
    if (shownNow && !shownNow->measured && !m_judging.isEmpty()) {
        // The files are fine; what they were to be judged by is not.
        judgeBy({});
        reopen(m_paths);
        m_trouble = error;
        statusBar()->showMessage(shown(base::visibleText(error.text())));
        return;
    }
    m_trouble = error;
    m_cursor.setCompared(nullptr);
    m_actions->setComparing(false);
    m_actions->at(Command::Reload)->setEnabled(true);
    QString sentence = shown(base::visibleText(error.sentence));
    if (!error.place.empty())
        sentence = shown(base::visibleText(error.place)) + QStringLiteral("\n") + sentence;
    m_failed->setState(error.code == Errc::Incomparable
                           ? QStringLiteral("These two runs have nothing in common")
                           : QStringLiteral("These captures could not be opened"),
                       sentence, shown(base::visibleText(error.hint)));
    m_pages->setCurrentWidget(m_failed);
    m_statusLeft->clear();
    m_statusRight->clear();
}

void MainWindow::showCompared(const ComparedPointer& compared)
{
    m_actions->setComparing(true);
    m_actions->setSized(true); // until it is known
    m_actions->setSteppable(hasDivergence(*compared));
    m_actions->at(Command::Lock)->setChecked(false); // a site of other runs
    m_comparison->setCompared(compared);
    m_pages->setCurrentWidget(m_comparison);
    m_comparison->heatCanvas().setFocus();
    setWindowTitle(filesText(m_paths) + QStringLiteral(" – Moire"));
    m_statusRight->setText(workLeft(*compared));
    m_statusLeft->setText(QStringLiteral("Measuring…"));
    if (m_recent)
        m_recent->add(m_paths);
    if (m_site.isEmpty())
        return;
    const auto place = findPlace(*compared, m_site, m_cursor.place());
    if (place) {
        m_cursor.moveTo(*place);
    } else {
        m_trouble = place.error();
        statusBar()->showMessage(shown(base::visibleText(place.error().text())));
    }
}

void MainWindow::showMeasured(const ComparedPointer& compared)
{
    m_comparison->refine(compared);
    m_actions->setSized(compared->bytes > 0);
    offerSteps(*compared);
    m_statusLeft->setText(workDone(*compared));
    m_statusRight->setText(workLeft(*compared));
}

void MainWindow::offerSteps(const Compared& compared)
{
    m_actions->setSteppable(hasDivergence(compared));
    m_actions->setTolerance(shown(base::visibleText(compared.report.toleranceProfile)));
    m_actions->at(Command::FirstBeyond)->setEnabled(compared.report.first.tolerance.has_value());
}

bool MainWindow::isUsable() const
{
    return m_cursor.compared() && !m_opener->isOpening() && m_comparison->isSettled();
}

bool MainWindow::showTab(const QString& name)
{
    return m_comparison->showTab(name);
}

bool MainWindow::isSettled() const
{
    return !m_opener->isPending() && !m_live->isRunning() && !m_exports->isPending()
           && m_comparison->isSettled();
}

void MainWindow::rememberSettings()
{
    const Session session = Session::load();
    restoreGeometry(session.geometry);
    m_comparison->restoreLayoutState(session.layout);
    m_actions->at(Command::Overview)->setChecked(session.overview);
    m_live->rememberPlan();
    m_recent = std::make_unique<RecentRuns>();
    m_recent->attachTo(m_actions->recentMenu());
    connect(m_recent.get(), &RecentRuns::chosen, this,
            [this](const RunPaths& paths) { openRuns(paths); });
}

void MainWindow::resumeSession()
{
    const Session session = Session::load();
    if (!session.canResume())
        return;
    judgeBy({session.tolerance, {}});
    openRuns(session.paths, session.site);
}

void MainWindow::saveSession() const
{
    Session session{saveGeometry(),
                    m_comparison->layoutState(),
                    m_actions->at(Command::Overview)->isChecked(),
                    {},
                    {},
                    m_judging.tolerance};
    if (m_cursor.compared()) {
        session.paths = m_paths;
        session.site = siteText(*m_cursor.compared(), m_cursor.place());
    }
    session.save();
}

void MainWindow::askForFiles()
{
    auto* dialog = new OpenDialog(m_look, m_paths, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { openRuns(dialog->paths()); });
    openDialog(dialog);
}

void MainWindow::askForSite()
{
    auto* dialog = new GoToDialog(m_look, m_cursor.compared(), m_cursor.place(), this);
    connect(dialog, &QDialog::accepted, this,
            [this, dialog] { m_cursor.moveTo(*dialog->place()); });
    openDialog(dialog);
}

void MainWindow::showEnvironment()
{
    if (!m_cursor.compared())
        return;
    openDialog(new EnvironmentDialog(m_look, m_cursor.compared()->report, this));
}

void MainWindow::copyLink()
{
    if (!m_cursor.compared())
        return;
    const SiteLink link{{QFileInfo(m_paths.reference).absoluteFilePath(),
                         QFileInfo(m_paths.target).absoluteFilePath()},
                        siteText(*m_cursor.compared(), m_cursor.place())};
    QApplication::clipboard()->setText(textOf(link));
    tell(QStringLiteral("Copied a link to %1").arg(link.site));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!droppedCaptures(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList files = droppedCaptures(event->mimeData());
    event->acceptProposedAction();
    if (files.size() > 1) {
        openRuns({files[0], files[1]});
    } else if (!m_paths.reference.isEmpty()) {
        openRuns({m_paths.reference, files[0]}); // one file becomes the target
    } else {
        m_paths = {files[0], {}};
        askForFiles();
    }
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (m_recent)
        saveSession();
    event->accept();
}

} // namespace moire::gui
