// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/gui/exports.h"
#include "app/gui/live_control.h"
#include "app/gui/opener.h"
#include "app/gui/window_actions.h"
#include "widgets/dialogs/recent_runs.h"
#include "widgets/models/cursor.h"
#include "widgets/models/open_runs.h"
#include "widgets/plot/look.h"

#include <QMainWindow>

#include <memory>
#include <optional>

class QDialog;
class QLabel;
class QStackedWidget;

namespace moire::widgets {
class ComparisonView;
class StateView;
} // namespace moire::widgets

namespace moire::gui {

/// The window: opens two captures off the GUI thread and shows their comparison. It wires; what is
/// seen lives in widgets.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    /// `theme` nothing: as the desktop has it.
    explicit MainWindow(std::optional<widgets::ThemeKind> theme, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens and compares; then stands at `site` (SITE form), or the first divergence.
    void openRuns(const widgets::RunPaths& paths, const QString& site = {});
    /// What measures are judged by from the next opening on.
    void judgeBy(const widgets::Judging& judging);
    bool showTab(const QString& name);
    /// Compares two runs while they are made.
    void openLive(const widgets::LivePlan& plan);
    /// Of the live comparison: the share of the planned rows that are compared, 0 … 1.
    double liveShare() const;
    /// Why a daemon of it has not been reached so far; none: all have, or nothing is known yet.
    std::optional<Error> liveUnreached() const;
    /// Its verdict so far; "" when there is none.
    std::string liveVerdict() const;
    /// Recent files, geometry and session are kept in the user's settings from now on.
    void rememberSettings();
    /// Opens what was open when the window was closed the last time, where it is still there.
    void resumeSession();

    const widgets::Cursor& cursor() const { return m_cursor; }
    /// Why the last files could not be shown, or the site not found.
    const std::optional<Error>& trouble() const { return m_trouble; }
    /// A comparison is shown and can be worked with, though measures may be on their way.
    bool isUsable() const;
    /// Nothing is on its way: what the window shows will not change by itself.
    bool isSettled() const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void wireActions();
    void wireSteps();
    void wireLive();
    void showLive(widgets::LiveSession* session);
    void showLiveStart(const widgets::ComparedPointer& compared);
    void showLiveTrouble(const Error& error);
    void showLiveStatus();
    void wireViews();
    void blinkOnce();
    void saveSession() const;
    void makePages();
    void applyTheme();
    void chooseTheme(std::optional<widgets::ThemeKind> theme);
    void showLoading();
    void showProgress(double share);
    void showFailure(const Error& error);
    void showCompared(const widgets::ComparedPointer& compared);
    void showMeasured(const widgets::ComparedPointer& compared);
    /// What of the actions depends on the report.
    void offerSteps(const widgets::Compared& compared);
    /// Opens the same files again; the cursor stays.
    void reopen(const widgets::RunPaths& paths);
    void goToTolerance();
    void askForProfile();
    void goTo(std::optional<widgets::SitePlace> place, const QString& absent);
    void askForFiles();
    void askForSite();
    void showEnvironment();
    void copyLink();
    static void openDialog(QDialog* dialog);
    /// In the status bar, for a while.
    void tell(const QString& sentence);

    const widgets::ThemeKind m_desktop; ///< before our own palette covers it
    widgets::Look m_look;
    widgets::Cursor m_cursor;
    WindowActions* m_actions;
    QStackedWidget* m_pages;
    widgets::StateView* m_start;
    widgets::StateView* m_loading;
    widgets::StateView* m_failed;
    widgets::ComparisonView* m_comparison;
    QLabel* m_statusLeft;
    QLabel* m_statusRight;
    std::unique_ptr<widgets::RecentRuns> m_recent;
    widgets::Criterion m_criterion = widgets::Criterion::Bits;
    widgets::RunPaths m_paths;
    widgets::Judging m_judging;
    QString m_site; ///< where to stand once the files are open
    std::optional<Error> m_trouble;
    Exports* m_exports;
    Opener* m_opener;
    LiveControl* m_live;
};

} // namespace moire::gui
