// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/logits_view.h"

#include "core/base/text.h"
#include "widgets/views/absence.h"
#include "widgets/views/top_k_view.h"

#include <QBoxLayout>
#include <QStackedLayout>

#include <cmath>

namespace moire::widgets {

namespace {

constexpr int factsWidth = 340;

std::vector<FactTable::Fact> logitsFacts(const Compared& compared, const diff::LogitsDetail& detail)
{
    std::vector<FactTable::Fact> facts;
    const auto one = [&facts](const QString& label, const QString& value) {
        facts.push_back({label, value, {}, false, false, false, false});
    };
    const auto pair = [&facts](const QString& label, const QString& a, const QString& b) {
        facts.push_back({label, a, b, true, a != b, false, false});
    };
    const auto token = [&compared](std::int32_t id) {
        return id < 0 ? QStringLiteral("–") : tokenText(compared, id);
    };
    const diff::LogitsRow& row = detail.row;
    pair(QStringLiteral("best token"), token(row.referenceTop), token(row.targetTop));
    pair(QStringLiteral("next token"), token(detail.nextReference), token(detail.nextTarget));
    const auto margin = [](double logits, std::optional<std::uint64_t> ulps) {
        const QString text = textOfNumber(logits, 4);
        return ulps ? text + QStringLiteral(" (%1)").arg(*ulps) : text;
    };
    pair(QStringLiteral("margin (ulp)"), margin(row.referenceMargin, detail.referenceMarginUlps),
         margin(row.targetMargin, detail.targetMarginUlps));
    pair(QStringLiteral("entropy, nats"), textOfNumber(detail.referenceEntropy, 5),
         textOfNumber(detail.targetEntropy, 5));
    // Forward KL is the reference's distance to the target, reverse KL the way back.
    if (row.compared) {
        pair(QStringLiteral("KL to the other"), textOfNumber(row.forwardKl, 4),
             textOfNumber(row.reverseKl, 4));
        one(QStringLiteral("total variation"), textOfNumber(row.totalVariation, 4));
    } else {
        one(QStringLiteral("KL, TV"), QStringLiteral("need the full logits"));
    }
    return facts;
}

} // namespace

LogitsView::LogitsView(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent)
    : QWidget(parent)
    , m_cursor(cursor)
    , m_details(details)
    , m_facts(new FactTable(look))
    , m_state(new StateView(look))
    , m_stack(new QStackedLayout)
    , m_plot(new PositionPlot(look, this))
{
    m_stack->addWidget(m_facts);
    m_stack->addWidget(m_state);
    m_side = new QWidget(this);
    m_side->setLayout(m_stack);
    m_side->setMinimumWidth(FactTable::leastWidth);
    m_side->setMaximumWidth(factsWidth);
    m_layout = new QBoxLayout(QBoxLayout::LeftToRight, this);
    m_layout->setContentsMargins(0, 0, Look::step, 0);
    m_layout->setSpacing(Look::gap);
    m_layout->addWidget(m_side, 1);
    m_layout->addWidget(m_plot, 1);
    m_facts->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    m_facts->setAccessibleName(QStringLiteral("Measures of the logits"));
    connect(&details, &CursorDetails::logitsChanged, this, &LogitsView::refresh);
    connect(&cursor, &Cursor::moved, this, &LogitsView::refreshPlot);
    connect(m_plot, &PositionPlot::positionChosen, this,
            [this](std::size_t column) { m_cursor.moveColumn(column); });
}

QSize LogitsView::minimumSizeHint() const
{
    return {FactTable::leastWidth, QWidget::minimumSizeHint().height()};
}

void LogitsView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    constexpr int besideWidth = factsWidth + 200; // narrower, the curve stands below
    const bool narrow = width() < besideWidth;
    m_side->setMaximumWidth(narrow ? QWIDGETSIZE_MAX : factsWidth);
    m_layout->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void LogitsView::refresh()
{
    const auto& detail = m_details.logits();
    if (m_cursor.compared() && detail.value) {
        m_facts->setFacts(logitsFacts(*m_cursor.compared(), *detail.value));
        m_stack->setCurrentWidget(m_facts);
        return;
    }
    m_stack->setCurrentWidget(m_state);
    if (const auto absence = absenceOfRow(m_cursor)) {
        m_state->setState(absence->title, absence->sentence, absence->hint);
        return;
    }
    m_state->setState(QStringLiteral("No logits here"),
                      detail.error
                          ? QString::fromStdString(base::visibleText(detail.error->text()))
                          : QStringLiteral("No logits were recorded at this token in both runs."),
                      QStringLiteral("Capture both runs with the tap lm_head.out."));
}

void LogitsView::refreshPlot()
{
    const SampleEntry* sample = m_cursor.sample();
    if (sample != m_plotted && sample != nullptr) {
        PositionPlot::Series series;
        series.end = static_cast<double>(sample->columns());
        for (std::size_t column = 0; column < sample->columns(); ++column) {
            const auto value = static_cast<double>(sample->klCells[column]);
            const auto row = sample->rowAt(column);
            if (!row || *row >= m_cursor.compared()->report.logits.size()
                || !m_cursor.compared()->report.logits[*row].compared || !(value > 0)
                || !std::isfinite(value))
                continue;
            series.positions.append(static_cast<double>(column));
            series.values.append(value);
        }
        for (const std::size_t column : sample->flips)
            series.marks.append(static_cast<double>(column));
        m_plot->setSeries(series, QStringLiteral("KL, nats"));
    }
    m_plotted = sample;
    m_plottedOf = m_cursor.compared();
    m_plot->setCursorPosition(sample == nullptr
                                  ? std::nullopt
                                  : std::optional(static_cast<double>(m_cursor.place().column)));
}

} // namespace moire::widgets
