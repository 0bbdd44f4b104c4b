// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/routing_view.h"

#include "core/base/text.h"
#include "widgets/views/absence.h"
#include "widgets/views/fact_table.h"

#include <QBoxLayout>
#include <QStackedLayout>

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr int mapGutter = 72;
constexpr int besideWidth = 420; // narrower, map and experts stand below each other

} // namespace

std::vector<LadderEntry> expertLadder(const diff::RoutingDetail& detail)
{
    std::vector<LadderEntry> entries;
    for (const diff::ExpertPair& expert : detail.experts)
        if (expert.referenceSlot >= 0 || expert.targetSlot >= 0)
            entries.push_back({QStringLiteral("expert %1").arg(expert.expert),
                               expert.referenceWeight, expert.targetWeight, expert.referenceSlot,
                               expert.targetSlot});
    return entries;
}

RoutingView::RoutingView(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_details(details)
    , m_map(new HeatCanvas(look, mapGutter))
    , m_experts(new Ladder(look))
    , m_state(new StateView(look))
    , m_expertsState(new StateView(look))
    , m_stack(new QStackedLayout(this))
    , m_expertsStack(new QStackedLayout)
{
    m_expertsStack->addWidget(m_experts);
    m_expertsStack->addWidget(m_expertsState);
    auto* both = new QWidget(this);
    m_both = new QBoxLayout(QBoxLayout::LeftToRight, both);
    m_both->setContentsMargins(0, Look::gap, 0, 0);
    m_both->setSpacing(Look::gap);
    m_both->addWidget(m_map, 2);
    m_both->addLayout(m_expertsStack, 3);
    m_stack->addWidget(both);
    m_stack->addWidget(m_state);
    m_map->setAccessibleName(QStringLiteral("Experts replaced by layer and token"));
    m_experts->setAccessibleName(QStringLiteral("Experts of both runs"));
    connect(&cursor, &Cursor::moved, this, &RoutingView::follow);
    connect(&look, &Look::changed, this, &RoutingView::refreshMap);
    connect(&details, &CursorDetails::routingChanged, this, &RoutingView::refreshExperts);
    connect(m_map, &HeatCanvas::cellChosen, this, &RoutingView::choose);
}

QSize RoutingView::minimumSizeHint() const
{
    return {FactTable::leastWidth, QWidget::minimumSizeHint().height()};
}

void RoutingView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_both->setDirection(width() < besideWidth ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void RoutingView::follow()
{
    const ComparedPointer& compared = m_cursor.compared();
    if (!compared || compared->report.routerPairs.empty()) {
        m_state->setState(QStringLiteral("No routing"),
                          QStringLiteral("Neither run holds a router that the other one has too: a "
                                         "dense model has no experts to choose from."),
                          QStringLiteral("Capture a mixture-of-experts model to see its routes "
                                         "here."));
        m_stack->setCurrentWidget(m_state);
        return;
    }
    m_stack->setCurrentIndex(0);
    if (compared != m_mapped || m_cursor.place().sample != m_mappedSample)
        refreshMap();
    m_map->setCursorCell(m_details.routerPair(), m_cursor.place().column);
}

void RoutingView::refreshMap()
{
    m_mapped = m_cursor.compared();
    m_mappedSample = m_cursor.place().sample;
    if (!m_mapped || m_mapped->report.routerPairs.empty()
        || m_mappedSample >= m_mapped->samples.size())
        return;
    const auto& routers = m_mapped->reference->header().routers;
    const SampleEntry& sample = m_mapped->samples[m_mappedSample];
    HeatContent content;
    auto grid = std::make_shared<HeatGrid>(HeatGrid::ofRoutes(*m_mapped, m_mappedSample));
    float most = 1;
    for (const float value : grid->columnMaxima())
        most = std::max(most, value);
    content.grid = grid;
    content.scale = ColourScale::counting(m_look.theme(), static_cast<int>(most));
    content.flips = sample.flips;
    content.zeroText = QStringLiteral("same experts");
    content.lowText = QStringLiteral("1 replaced");
    content.highText = QString::number(static_cast<int>(std::max(most, 2.0F)));
    for (std::size_t i = 0; i < m_mapped->report.routerPairs.size(); ++i) {
        const auto& router = routers[m_mapped->report.routerPairs[i].first];
        content.rowNames.push_back(QStringLiteral("layer %1").arg(router.layer));
        content.groupTicks.emplace_back(i, content.rowNames.back());
    }
    content.describe = [grid, names = content.rowNames](std::size_t row, std::size_t column) {
        const float value = grid->at(row, column);
        return QStringLiteral("%1, position %2\n%3")
            .arg(names[row])
            .arg(column)
            .arg(value > 0 ? QStringLiteral("%1 experts replaced").arg(static_cast<int>(value))
                 : value == cell::equal ? QStringLiteral("same experts")
                                        : textOfCell(value, HeatMeasure::Kl));
    };
    m_map->setContent(std::move(content));
}

void RoutingView::refreshExperts()
{
    const auto& detail = m_details.routing();
    const ComparedPointer& compared = m_cursor.compared();
    if (!compared || compared->report.routerPairs.empty())
        return;
    const std::vector<LadderEntry> entries =
        detail.value ? expertLadder(*detail.value) : std::vector<LadderEntry>{};
    if (const auto absence = absenceOfRow(m_cursor)) {
        m_expertsState->setState(absence->title, absence->sentence, absence->hint);
        m_expertsStack->setCurrentWidget(m_expertsState);
        return;
    }
    if (entries.empty()) {
        m_expertsState->setState(
            QStringLiteral("No routes here"),
            detail.error ? QString::fromStdString(base::visibleText(detail.error->text()))
                         : QStringLiteral("No routing was recorded at this token in both runs."),
            QStringLiteral("Choose a token whose column is not hatched."));
        m_expertsStack->setCurrentWidget(m_expertsState);
        return;
    }
    constexpr int weightDigits = 4;
    m_experts->setEntries(entries, detail.value->cell.chosen, weightDigits);
    m_experts->setHeads(
        QStringLiteral("slot"),
        {QStringLiteral("margin %1, %2")
             .arg(textOfNumber(static_cast<double>(detail.value->cell.referenceMargin)),
                  textOfNumber(static_cast<double>(detail.value->cell.targetMargin)))});
    m_expertsStack->setCurrentWidget(m_experts);
}

void RoutingView::choose(std::size_t router, std::size_t column)
{
    const ComparedPointer& compared = m_cursor.compared();
    const auto& routers = compared->reference->header().routers;
    const std::int32_t layer = routers[compared->report.routerPairs[router].first].layer;
    std::size_t tap = m_cursor.place().tap;
    for (std::size_t i = 0; i < compared->report.taps.size(); ++i)
        if (compared->report.taps[i].layer == layer
            && (compared->report.taps[i].kind == trace::TapKind::Router
                || compared->report.taps[tap].layer != layer))
            tap = i;
    m_cursor.moveTo(Place{m_cursor.place().sample, column, tap});
}

} // namespace moire::widgets
