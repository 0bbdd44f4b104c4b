// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/overview_bar.h"

#include "widgets/plot/colour_scale.h"
#include "widgets/views/paint.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int barHeight = 10;
constexpr int barTop = 9;
constexpr int frameOut = 3; // the frame stands so far outside the bar

} // namespace

OverviewBar::OverviewBar(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_cursor(cursor)
    , m_source(source)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Overview of all samples"));
    connect(&cursor, &Cursor::moved, this, &OverviewBar::refresh);
    connect(&source, &HeatSource::overviewChanged, this, &OverviewBar::refresh);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

QSize OverviewBar::sizeHint() const
{
    return {480, barTop + barHeight + frameOut + 1};
}

void OverviewBar::setColumnFrame(const ColumnFrame& frame)
{
    m_frame = frame;
    update();
}

QRect OverviewBar::barRect() const
{
    return {m_frame.left, barTop, std::max(1, width() - m_frame.left - Look::inset), barHeight};
}

void OverviewBar::refresh()
{
    if (m_cursor.compared() != m_compared) {
        m_compared = m_cursor.compared();
        m_begins.assign(1, 0);
        if (m_compared)
            for (const SampleEntry& sample : m_compared->samples)
                m_begins.push_back(m_begins.back() + sample.columns());
    }
    update();
}

int OverviewBar::xOf(double token) const
{
    const QRect bar = barRect();
    return bar.x()
           + static_cast<int>(std::lround(
               token * bar.width() / static_cast<double>(std::max<std::size_t>(total(), 1))));
}

void OverviewBar::paintEvent(QPaintEvent*)
{
    const std::vector<float>& cells = m_source.overview();
    const ComparedPointer& compared = m_compared;
    if (!compared || cells.empty() || cells.size() != total())
        return;
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    const QRect bar = barRect();
    const ColourScale scale(theme, compared->range(m_source.tapMeasure()));
    const Hatch hatch(theme);
    const double perPixel = static_cast<double>(cells.size()) / bar.width();
    paint::text(painter,
                QRect(Look::inset, bar.y() - 3, bar.x() - Look::inset - Look::gap, barHeight + 6),
                Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("all tokens"),
                m_look.font(TextRole::Small), theme.dim);
    for (int x = 0; x < bar.width(); ++x) {
        const auto begin = std::min(static_cast<std::size_t>(x * perPixel), cells.size() - 1);
        const auto end = std::clamp(static_cast<std::size_t>(std::ceil((x + 1) * perPixel)),
                                    begin + 1, cells.size());
        const float value = *std::max_element(cells.begin() + static_cast<std::ptrdiff_t>(begin),
                                              cells.begin() + static_cast<std::ptrdiff_t>(end));
        const QRect column(bar.x() + x, bar.y(), 1, barHeight);
        if (value < cell::equal)
            hatch.paint(painter, column, value);
        else
            painter.fillRect(column, scale.colour(value));
    }
    for (std::size_t sample = 1; sample < compared->samples.size(); ++sample)
        painter.fillRect(xOf(static_cast<double>(m_begins[sample])) - 1, bar.y(), 2, barHeight,
                         theme.panel);
    paintFrame(painter);
}

void OverviewBar::paintFrame(QPainter& painter) const
{
    const Theme& theme = m_look.theme();
    const QRect bar = barRect();
    const Place& place = m_cursor.place();
    if (place.sample + 1 >= m_begins.size())
        return;
    const auto begin = static_cast<double>(m_begins[place.sample]);
    const auto columns = static_cast<double>(m_begins[place.sample + 1]) - begin;
    const double shown = (m_frame.right - m_frame.left) / m_frame.width;
    const int left = xOf(begin + std::clamp(m_frame.origin, 0.0, columns));
    const int right = xOf(begin + std::clamp(m_frame.origin + shown, 0.0, columns));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(theme.ink);
    painter.drawRect(QRect(left - 1, bar.y() - frameOut, std::max(4, right - left + 1),
                           barHeight + 2 * frameOut - 1));
    const int cursor = xOf(begin + static_cast<double>(place.column) + 0.5);
    painter.fillRect(cursor - 1, bar.y() - frameOut, 2, barHeight + 2 * frameOut, theme.target);
}

std::optional<Place> OverviewBar::placeAt(const QPoint& point) const
{
    const QRect bar = barRect();
    const std::size_t all = total();
    if (all == 0)
        return std::nullopt;
    const double share =
        std::clamp(static_cast<double>(point.x() - bar.x()) / bar.width(), 0.0, 1.0);
    const std::size_t token =
        std::min(static_cast<std::size_t>(share * static_cast<double>(all)), all - 1);
    const auto after = std::upper_bound(m_begins.begin(), m_begins.end(), token);
    const auto sample = static_cast<std::size_t>(after - m_begins.begin()) - 1;
    return Place{sample, token - m_begins[sample], m_cursor.place().tap};
}

void OverviewBar::goTo(const QPoint& point)
{
    if (const auto place = placeAt(point))
        m_cursor.moveTo(*place);
}

void OverviewBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        goTo(event->pos());
}

void OverviewBar::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton))
        goTo(event->pos());
}

bool OverviewBar::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const auto place = placeAt(help->pos());
    if (place && m_source.overview().size() == total())
        QToolTip::showText(
            help->globalPos(),
            QStringLiteral("%1, position %2\n%3: %4")
                .arg(m_compared->samples[place->sample].id)
                .arg(place->column)
                .arg(nameOf(m_source.tapMeasure()),
                     textOfCell(m_source.overview()[m_begins[place->sample] + place->column],
                                m_source.tapMeasure())),
            this);
    return true;
}

} // namespace moire::widgets
