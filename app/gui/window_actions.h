// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/divergences.h"
#include "widgets/models/measure.h"
#include "widgets/plot/look.h"

#include <QAction>
#include <QList>
#include <QObject>

#include <map>

class QActionGroup;
class QComboBox;
class QMainWindow;
class QMenu;

namespace moire::gui {

enum class Command
{
    Open,
    Live,
    Recent, ///< a submenu
    Reload,
    Swap,
    ExportHtml,
    ExportPicture,
    ExportHeatMap,
    Quit,
    First,
    Previous,
    Next,
    Last,
    FirstBeyond, ///< beyond the tolerance
    GoTo,
    CopyLink,
    Recentre,
    ZoomFit,
    ZoomIn,
    ZoomOut,
    NextTab,
    Overview, ///< checkable
    ShowDifference,
    ShowReference,
    ShowTarget,
    Blink,
    Lock, ///< checkable
    ThemeLight,
    ThemeDark,
    ThemeDesktop,
    Judge, ///< a submenu
    Environment,
    Keys,
    About,
};

/// All actions of the main window with their keys, menus and tool bar. Owned by the window.
class WindowActions : public QObject
{
    Q_OBJECT
public:
    WindowActions(QMainWindow& window, const widgets::Look& look);

    QAction* at(Command command) const { return m_actions.at(command); }
    /// What the heat map shows: difference, reference, target.
    QList<QAction*> shownActions() const;
    /// In the order of the menus.
    QList<QAction*> all() const;
    QMenu* recentMenu() const { return m_recent; }
    /// Whether there is a comparison that the actions can act on.
    void setComparing(bool comparing);
    /// Whether there is a divergence to step to.
    void setSteppable(bool steppable);
    /// Whether differences have sizes to colour by.
    void setSized(bool sized);
    /// Marks the profile that the comparison is judged by; empty: bits alone.
    void showProfile(const QString& profile);
    /// Likewise criteria that were given at the start; empty: none.
    void showCriteria(const QString& criteria);
    /// The tolerance that the verdict on show used, by name; empty: none. A new one becomes what
    /// one steps by.
    void setTolerance(const QString& name);

Q_SIGNALS:
    void measureChosen(moire::widgets::HeatMeasure measure);
    void criterionChosen(moire::widgets::Criterion criterion);
    /// A shipped profile; empty: bits alone.
    void profileChosen(const QString& profile);
    void profileFileWanted();

private:
    void makeMenus(QMainWindow& window);
    void makeToolBar(QMainWindow& window);
    void makeCheckable();
    void fillProfiles();
    void restyle();

    const widgets::Look& m_look;
    std::map<Command, QAction*> m_actions;
    QList<QAction*> m_order;
    QMenu* m_recent = nullptr;
    QMenu* m_judge = nullptr;
    QActionGroup* m_profiles = nullptr;
    QAction* m_profileFile = nullptr;
    QAction* m_criteria = nullptr; ///< those of the command line
    QString m_tolerance;
    QComboBox* m_measure;
    QComboBox* m_criterion;
};

} // namespace moire::gui
