// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/comparison_view.h"

#include "widgets/views/logits_view.h"
#include "widgets/views/routing_view.h"
#include "widgets/views/tab_panel.h"
#include "widgets/views/top_k_view.h"

#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace moire::widgets {

namespace {

constexpr int samplesWidth = 212;
constexpr int inspectorWidth = 316;

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
    const auto first = compared.divergences.first(Criterion::Bits);
    return first.value_or(SitePlace{});
}

QStringList ComparisonView::tabNames()
{
    return {QStringLiteral("logits"), QStringLiteral("top-k"), QStringLiteral("routing")};
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
    , m_tabs(new QTabWidget)
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
    m_tabs->setCurrentIndex(1);
    auto* samples = new Panel(look, QStringLiteral("Samples"), m_samples);
    samples->addHeaderWidget(makeOrderButton(m_samples->model()));
    m_inspectorPanel = new Panel(look, QStringLiteral("Site"), m_inspector);
    auto* columns = makeSplitter(Qt::Horizontal);
    columns->addWidget(samples);
    columns->addWidget(makeCentre(new TabPanel(look, m_tabs)));
    columns->addWidget(m_inspectorPanel);
    columns->setStretchFactor(1, 1);
    columns->setSizes({samplesWidth, 800, inspectorWidth});
    page->addWidget(columns, 1);
    connect(&cursor, &Cursor::moved, this, &ComparisonView::follow);
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

QWidget* ComparisonView::makeCentre(QWidget* tabsPanel)
{
    auto* map = new QWidget;
    auto* layout = new QVBoxLayout(map);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_strips);
    layout->addWidget(m_heatMap, 1);
    m_heatPanel = new Panel(m_look, QStringLiteral("Tokens × taps"), map);
    auto* rows = makeSplitter(Qt::Vertical);
    rows->addWidget(m_heatPanel);
    rows->addWidget(tabsPanel);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 2);
    constexpr int mapHeight = 420;
    constexpr int tabsHeight = 280;
    rows->setSizes({mapHeight, tabsHeight});
    return rows;
}

void ComparisonView::showSummary(const Compared& compared)
{
    m_runs->setCompared(compared);
    m_verdict->setReport(compared.report);
    m_families->setCompared(compared);
}

void ComparisonView::refine(ComparedPointer compared)
{
    showSummary(*compared);
    m_cursor.refine(std::move(compared));
}

void ComparisonView::setCompared(ComparedPointer compared)
{
    showSummary(*compared);
    const SitePlace first = firstPlace(*compared);
    m_cursor.setCompared(std::move(compared));
    m_cursor.moveTo(first);
}

void ComparisonView::follow()
{
    const ComparedPointer& compared = m_cursor.compared();
    const SampleEntry* sample = m_cursor.sample();
    const Place& place = m_cursor.place();
    if (sample == nullptr || place.tap >= compared->report.taps.size())
        return;
    m_inspectorPanel->setTitle(QStringLiteral("%1 / %2 / %3")
                                   .arg(sample->id)
                                   .arg(place.column)
                                   .arg(shortTapName(compared->report.taps[place.tap].name)));
}

bool ComparisonView::showTab(const QString& name)
{
    const qsizetype index = tabNames().indexOf(name.toLower());
    if (index < 0)
        return false;
    m_tabs->setCurrentIndex(static_cast<int>(index));
    return true;
}

void ComparisonView::showNextTab()
{
    m_tabs->setCurrentIndex((m_tabs->currentIndex() + 1) % m_tabs->count());
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

QPixmap ComparisonView::heatMapPicture() const
{
    return m_heatPanel->grab();
}

} // namespace moire::widgets
