// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/cursor_details.h"
#include "widgets/views/family_bar.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/inspector.h"
#include "widgets/views/live_view.h"
#include "widgets/views/overview_bar.h"
#include "widgets/views/run_bar.h"
#include "widgets/views/sample_list.h"
#include "widgets/views/token_strips.h"
#include "widgets/views/verdict_bar.h"

#include <QVariantMap>
#include <QWidget>

class QAction;
class QSplitter;
class QTabWidget;

namespace moire::widgets {

/// Everything that a comparison shows, laid out as one page around the shared cursor.
class ComparisonView : public QWidget
{
    Q_OBJECT
public:
    ComparisonView(const Look& look, Cursor& cursor, QWidget* parent = nullptr);

    /// Shows another comparison and stands at its first divergence.
    void setCompared(ComparedPointer compared);
    /// Shows the same runs measured further, or grown; a cursor that was moved stays.
    void refine(ComparedPointer compared);

    HeatSource& heatSource() { return m_source; }
    HeatCanvas& heatCanvas() { return m_heatMap->canvas(); }
    RunBar& runBar() { return *m_runs; }
    VerdictBar& verdictBar() { return *m_verdict; }
    Inspector& inspector() { return *m_inspector; }
    LiveView& liveView() { return *m_live; }
    /// The runs that the live tab shows; null: none, and the tab is away.
    void setLive(LiveSession* session);
    /// Buttons for actions of the window: what the map shows, and the inspector's lock.
    void placeActions(const QList<QAction*>& shown, QAction* lock);
    void showOverview(bool visible) { m_overview->setVisible(visible); }
    /// The panel that a picture of the current view is of.
    QWidget& heatPanel() { return *m_heatPanel; }

    /// From this height on there is room for the tabs below the map; in a lower view they share
    /// the right column with the site.
    static constexpr int roomyHeight = 680;

    /// Sizes of the panels and the open tab, for settings.
    QVariantMap layoutState() const;
    void restoreLayoutState(const QVariantMap& state);
    /// The names of the tabs, lower case: "logits", "top-k", "routing", "live".
    static QStringList tabNames();
    /// False when there is no tab of that name. Shows it also where it has nothing to show: it says
    /// why.
    bool showTab(const QString& name);
    void showNextTab();
    /// Scrolls strips and heat map to the cursor.
    void recentre();
    /// Nothing is on its way any more.
    bool isSettled() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Puts the tabs where there is room for them.
    void arrange(bool compact);
    int tabIndex(const QString& name) const;
    void selectTab(const QString& name);
    void offerTabs(const Compared& compared);
    void showSummary(const Compared& compared);
    QWidget* makeCentre();

    const Look& m_look;
    Cursor& m_cursor;
    HeatSource m_source;
    CursorDetails m_details;
    RunBar* m_runs;
    VerdictBar* m_verdict;
    FamilyBar* m_families;
    SampleList* m_samples;
    TokenStrips* m_strips;
    HeatMapView* m_heatMap;
    Inspector* m_inspector;
    LiveView* m_live;
    QTabWidget* m_tabs;
    OverviewBar* m_overview;
    QSplitter* m_columns = nullptr;
    QSplitter* m_rows = nullptr;
    Panel* m_heatPanel = nullptr;
    Panel* m_inspectorPanel = nullptr;
    QWidget* m_tabsPanel = nullptr;
    SitePlace m_opening; ///< where the cursor was put, of itself
    bool m_compact = false;
    bool m_tabAsked = false;                ///< by name: it stays in front of the site
    QString m_tab;                          ///< the last one that was not the site
    QByteArray m_rowsState, m_columnsState; ///< of the roomy arrangement
};

/// The first bitwise divergence of a report in its grid; the first site where there is none.
SitePlace firstPlace(const Compared& compared);

} // namespace moire::widgets
