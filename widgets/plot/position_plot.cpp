// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/plot/position_plot.h"

#include "widgets/plot/qcustomplot.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace moire::widgets {

PositionPlot::PositionPlot(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_plot(new QCustomPlot(this))
    , m_values(m_plot->addGraph())
    , m_marks(m_plot->addGraph())
    , m_cursor(new QCPItemStraightLine(m_plot))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    // Positions are whole numbers, and so are their ticks.
    auto positions = QSharedPointer<QCPAxisTickerFixed>::create();
    positions->setTickStep(1);
    positions->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_plot->xAxis->setTicker(positions);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    m_plot->yAxis->setNumberFormat(QStringLiteral("eb"));
    m_plot->yAxis->setNumberPrecision(0);
    m_values->setLineStyle(QCPGraph::lsImpulse);
    m_marks->setLineStyle(QCPGraph::lsNone);
    setAccessibleName(QStringLiteral("KL of the logits by token position"));
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        const double position = m_plot->xAxis->pixelToCoord(event->position().x());
        if (position > -1)
            Q_EMIT positionChosen(static_cast<std::size_t>(std::max(0.0, std::round(position))));
    });
    connect(&look, &Look::changed, this, &PositionPlot::restyle);
    restyle();
}

void PositionPlot::styleAxis(QCPAxis* axis) const
{
    const Theme& theme = m_look.theme();
    axis->setBasePen(QPen(theme.line));
    axis->setTickPen(QPen(theme.line));
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(theme.dim);
    axis->setTickLabelFont(m_look.font(TextRole::Small));
    axis->setLabelColor(theme.dim);
    axis->setLabelFont(m_look.font(TextRole::Small));
    axis->grid()->setPen(QPen(blended(theme.line, theme.panel, 0.6)));
    axis->grid()->setZeroLinePen(Qt::NoPen);
}

void PositionPlot::restyle()
{
    const Theme& theme = m_look.theme();
    m_plot->setBackground(theme.panel);
    styleAxis(m_plot->xAxis);
    styleAxis(m_plot->yAxis);
    m_plot->xAxis->grid()->setVisible(false);
    const QColor bars = theme.scale[theme.kind == ThemeKind::Light ? 3 : 2];
    constexpr double barWidth = 3;
    constexpr double pointSize = 5;
    constexpr double markSize = 8;
    QPen barPen(bars, barWidth);
    barPen.setCapStyle(Qt::FlatCap);
    m_values->setPen(barPen);
    m_values->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, bars, bars, pointSize));
    m_marks->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssTriangle, theme.target, theme.target, markSize));
    m_cursor->setPen(QPen(theme.ink, 1));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PositionPlot::setSeries(const Series& series, const QString& unit)
{
    constexpr double headroom = 3; // factor above the largest value, where the marks stand
    m_values->setData(series.positions, series.values, true);
    double low = 1e-6;
    double high = 1;
    if (!series.values.isEmpty()) {
        const auto [least, most] = std::minmax_element(series.values.begin(), series.values.end());
        low = std::pow(10.0, std::floor(std::log10(*least)) - 0.2);
        high = *most * headroom;
    }
    m_marks->setData(series.marks, QVector<double>(series.marks.size(), high / std::sqrt(headroom)),
                     true);
    m_plot->xAxis->setRange(-1, std::max(series.end, 1.0));
    m_plot->xAxis->setLabel(QStringLiteral("token"));
    m_plot->yAxis->setRange(low, high);
    m_plot->yAxis->setLabel(unit);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PositionPlot::setCursorPosition(std::optional<double> position)
{
    m_cursor->setVisible(position.has_value());
    if (position) {
        m_cursor->point1->setCoords(*position, m_plot->yAxis->range().lower);
        m_cursor->point2->setCoords(*position, m_plot->yAxis->range().upper);
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace moire::widgets
