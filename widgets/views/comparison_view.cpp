// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/comparison_view.h"

#include "widgets/views/logits_view.h"
#include "widgets/views/routing_view.h"
#include "widgets/views/tab_panel.h"
#include "widgets/views/top_k_view.h"

#include <QAction>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr int samplesWidth = 212;
constexpr int inspectorWidth = 316;
constexpr int tabsHeight = 188;

QSplitter* makeSplitter(Qt::Orientation orientation)
{
    auto* splitter = new QSplitter(orientation);
    splitter->setHandleWidth(Look::gap);
    splitter->setChildrenCollapsible(false);
    return splitter;
}

QToolButton* makeOrderButton(SampleModel& model)
{
    auto* button = new QToolButton;
    button->setObjectName(QStringLiteral("flat"));
    button->setCheckable(true);
    const auto name = [button](bool checked) {
        button->setText(checked ? QStringLiteral("by divergence") : QStringLiteral("as recorded"));
    };
    name(false);
    button->setToolTip(QStringLiteral("Order of the samples: as recorded, or what parts first"));
    QObject::connect(button, &QToolButton::toggled, &model, [&model, name](bool checked) {
        name(checked);
        model.setOrder(checked ? SampleModel::Order::FirstDivergence
                               : SampleModel::Order::AsRecorded);
    });
    return button;
}

} // namespace

SitePlace firstPlace(const Compared& compared)
{
    const auto beyond = compared.divergences.first(Criterion::Tolerance);
    const auto first = compared.divergences.first(Criterion::Bits);
    return beyond ? *beyond : first.value_or(SitePlace{});
}

QStringList ComparisonView::tabNames()
{
    return {QStringLiteral("logits"), QStringLiteral("top-k"), QStringLiteral("routing"),
            QStringLiteral("live")};
}

ComparisonView::ComparisonView(const Look& look, Cursor& cursor, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_source(cursor)
    , m_details(cursor)
    , m_runs(new RunBar(look))
    , m_verdict(new VerdictBar(look))
    , m_families(new FamilyBar(look))
    , m_samples(new SampleList(look, cursor))
    , m_strips(new TokenStrips(look, cursor, m_source))
    , m_heatMap(new HeatMapView(look, cursor, m_source))
    , m_inspector(new Inspector(look, cursor, m_details))
    , m_live(new LiveView(look))
    , m_tabs(new QTabWidget)
    , m_overview(new OverviewBar(look, cursor, m_source))
{
    setObjectName(QStringLiteral("ground"));
    auto* page = new QVBoxLayout(this);
    page->setContentsMargins(Look::gap, Look::gap, Look::gap, Look::gap);
    page->setSpacing(Look::gap);
    page->addWidget(m_runs);
    page->addWidget(m_verdict);
    page->addWidget(m_families);
    m_tabs->addTab(new LogitsView(look, cursor, m_details), QStringLiteral("Logits"));
    m_tabs->addTab(new TopKView(look, cursor, m_details), QStringLiteral("Top-K"));
    m_tabs->addTab(new RoutingView(look, cursor, m_details), QStringLiteral("Routing"));
    m_tabs->addTab(m_live, QStringLiteral("Live"));
    m_tabs->setTabVisible(m_tabs->indexOf(m_live), false);
    m_tabsPanel = new TabPanel(look, m_tabs);
    selectTab(QStringLiteral("top-k"));
    connect(m_tabs, &QTabWidget::currentChanged, this, [this](int index) {
        const int place = index - (m_compact ? 1 : 0);
        if (place >= 0 && place < tabNames().size())
            m_tab = tabNames()[place];
    });
    auto* samples = new Panel(look, QStringLiteral("Samples"), m_samples);
    samples->addHeaderWidget(makeOrderButton(m_samples->model()));
    m_inspectorPanel = new Panel(look, QStringLiteral("Site"), m_inspector);
    m_columns = makeSplitter(Qt::Horizontal);
    m_columns->addWidget(samples);
    m_columns->addWidget(makeCentre());
    m_columns->addWidget(m_inspectorPanel);
    m_columns->setStretchFactor(0, 0);
    m_columns->setStretchFactor(1, 1);
    m_columns->setStretchFactor(2, 0);
    constexpr int centreWidth = 800;
    m_columns->setSizes({samplesWidth, centreWidth, inspectorWidth});
    page->addWidget(m_columns, 1);
    connect(m_inspector, &Inspector::titleChanged, m_inspectorPanel, &Panel::setTitle);
    connect(&m_heatMap->canvas(), &HeatCanvas::columnsMoved, this, [this] {
        const ColumnFrame frame = m_heatMap->canvas().columnFrame();
        m_strips->setColumnFrame(frame);
        m_overview->setColumnFrame(frame);
    });
    connect(m_heatMap, &HeatMapView::titleChanged, this, [this] {
        m_heatPanel->setTitle(m_heatMap->title());
        m_heatPanel->setNote(m_heatMap->note());
    });
    connect(m_inspector, &Inspector::stateChanged, m_inspectorPanel,
            [this](const QString& title, const QString& sentence, const QString& hint) {
                if (title.isEmpty())
                    m_inspectorPanel->showBody();
                else
                    m_inspectorPanel->showState(title, sentence, hint);
            });
    connect(m_verdict, &VerdictBar::firstRequested, this, [this] {
        if (m_cursor.compared())
            m_cursor.moveTo(firstPlace(*m_cursor.compared()));
    });
}

QWidget* ComparisonView::makeCentre()
{
    auto* map = new QWidget;
    auto* layout = new QVBoxLayout(map);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_overview);
    layout->addWidget(m_strips);
    layout->addWidget(m_heatMap, 1);
    m_heatPanel = new Panel(m_look, QStringLiteral("Taps × tokens"), map);
    m_rows = makeSplitter(Qt::Vertical);
    m_rows->addWidget(m_heatPanel);
    m_rows->addWidget(m_tabsPanel);
    // The tabs need so much and no more: what a larger window has goes to the map.
    m_rows->setStretchFactor(0, 1);
    m_rows->setStretchFactor(1, 0);
    constexpr int mapHeight = 330;
    m_rows->setSizes({mapHeight, tabsHeight});
    return m_rows;
}

void ComparisonView::showSummary(const Compared& compared)
{
    m_runs->setCompared(compared);
    m_verdict->setReport(compared.report);
    m_families->setCompared(compared);
    offerTabs(compared);
}

void ComparisonView::offerTabs(const Compared& compared)
{
    const bool routes = !compared.report.routerPairs.empty();
    const int routing = tabIndex(QStringLiteral("routing"));
    m_tabs->setTabToolTip(routing, routes ? QString()
                                          : QStringLiteral("No router in both runs: a dense model "
                                                           "has no experts to choose from"));
    // A tab that was asked for stays and says why it is empty.
    m_tabs->setTabEnabled(routing, routes || m_tabs->currentIndex() == routing);
}

void ComparisonView::placeActions(const QList<QAction*>& shown, QAction* lock)
{
    for (QAction* action : shown) {
        auto* button = new QToolButton;
        button->setObjectName(QStringLiteral("segment"));
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        m_heatPanel->addHeaderWidget(button);
    }
    auto* button = new QToolButton;
    button->setObjectName(QStringLiteral("flat"));
    button->setDefaultAction(lock);
    button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button->setAccessibleName(lock->iconText());
    m_inspectorPanel->addHeaderWidget(button);
}

QVariantMap ComparisonView::layoutState() const
{
    return {{QStringLiteral("columns"), m_compact ? m_columnsState : m_columns->saveState()},
            {QStringLiteral("rows"), m_compact ? m_rowsState : m_rows->saveState()},
            {QStringLiteral("tab"), m_tab},
            {QStringLiteral("site"), m_compact && m_tabs->currentIndex() == 0}};
}

void ComparisonView::restoreLayoutState(const QVariantMap& state)
{
    m_columnsState = state.value(QStringLiteral("columns")).toByteArray();
    m_rowsState = state.value(QStringLiteral("rows")).toByteArray();
    if (!m_compact) {
        m_columns->restoreState(m_columnsState);
        m_rows->restoreState(m_rowsState);
    }
    const QString tab = state.value(QStringLiteral("tab")).toString();
    if (!tabNames().contains(tab) || tab == QStringLiteral("live")) // its runs are gone
        return;
    if (state.value(QStringLiteral("site")).toBool())
        m_tab = tab;
    else
        showTab(tab);
}

void ComparisonView::refine(ComparedPointer compared)
{
    showSummary(*compared);
    const SitePlace first = firstPlace(*compared);
    const bool untouched = m_cursor.sitePlace() == m_opening;
    m_cursor.refine(std::move(compared));
    // Between unlike dtypes only the values tell what differs first; and more rows may show it.
    if (!untouched)
        return;
    m_opening = first;
    m_cursor.moveTo(first);
}

void ComparisonView::setCompared(ComparedPointer compared)
{
    showSummary(*compared);
    m_opening = firstPlace(*compared);
    m_cursor.setCompared(std::move(compared));
    m_cursor.moveTo(m_opening);
}

void ComparisonView::setLive(LiveSession* session)
{
    m_live->setSession(session);
    m_runs->setSwappable(session == nullptr);
    m_verdict->setLinkable(session == nullptr);
    if (session != nullptr)
        showTab(QStringLiteral("live"));
    else
        m_tabs->setTabVisible(m_tabs->indexOf(m_live), false);
}

bool ComparisonView::showTab(const QString& name)
{
    if (!tabNames().contains(name.toLower()))
        return false;
    m_tabAsked = true;
    selectTab(name.toLower());
    return true;
}

int ComparisonView::tabIndex(const QString& name) const
{
    return static_cast<int>(tabNames().indexOf(name)) + (m_compact ? 1 : 0);
}

void ComparisonView::selectTab(const QString& name)
{
    m_tab = name;
    m_tabs->setTabEnabled(tabIndex(name), true);
    m_tabs->setTabVisible(tabIndex(name), true);
    m_tabs->setCurrentIndex(tabIndex(name));
}

void ComparisonView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    constexpr int lowHeight = 800; // without the menus and bars of a window 900 high
    m_verdict->setLow(height() < lowHeight);
    if (const bool compact = height() < roomyHeight; compact != m_compact)
        arrange(compact);
}

void ComparisonView::arrange(bool compact)
{
    const QString tab = m_tab;
    if (compact) {
        m_columnsState = m_columns->saveState();
        if (isVisible())
            m_rowsState = m_rows->saveState();
        m_tabs->insertTab(0, m_inspectorPanel, QStringLiteral("Site"));
        m_columns->addWidget(m_tabsPanel);
        // What the tabs show is wider than the site; a wide window has that much to spare.
        constexpr int tabsShare = 27; // percent
        const int tabsWidth = std::max(inspectorWidth, width() * tabsShare / 100);
        m_columns->setSizes(
            {samplesWidth, std::max(1, width() - samplesWidth - tabsWidth), tabsWidth});
    } else {
        m_tabs->removeTab(0);
        m_rows->addWidget(m_tabsPanel);
        m_columns->addWidget(m_inspectorPanel);
        m_inspectorPanel->show();
        m_rows->setStretchFactor(1, 0);
        m_columns->restoreState(m_columnsState);
        if (!m_rows->restoreState(m_rowsState))
            m_rows->setSizes({m_rows->height() - tabsHeight - Look::gap, tabsHeight});
    }
    m_columns->setStretchFactor(2, 0);
    m_inspectorPanel->setFramed(!compact);
    m_compact = compact;
    if (compact && !m_tabAsked)
        m_tabs->setCurrentIndex(0);
    else
        m_tabs->setCurrentIndex(tabIndex(tab));
    m_tab = tab;
}

void ComparisonView::showNextTab()
{
    int next = m_tabs->currentIndex();
    do
        next = (next + 1) % m_tabs->count();
    while (!(m_tabs->isTabEnabled(next) && m_tabs->isTabVisible(next))
           && next != m_tabs->currentIndex());
    m_tabs->setCurrentIndex(next);
}

void ComparisonView::recentre()
{
    m_heatMap->follow();
    m_strips->follow();
}

bool ComparisonView::isSettled() const
{
    return !m_source.isPending() && !m_details.isPending();
}

} // namespace moire::widgets
