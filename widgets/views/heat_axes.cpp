// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_axes.h"

#include "widgets/views/paint.h"

#include <QFontMetrics>

#include <algorithm>

namespace moire::widgets::heatAxes {

namespace {

constexpr int lineHeight = 16;
constexpr qreal nameRowHeight = 13;
constexpr int tickDistance = 40;
constexpr qreal labelDistance = 22;

/// The smallest of 1, 2, 5, 10, 20, … steps of `pitch` pixels that are at least `distance` wide.
std::size_t roundStep(qreal pitch, qreal distance)
{
    std::size_t decade = 1;
    for (;;) {
        for (const std::size_t factor : {1U, 2U, 5U})
            if (static_cast<qreal>(decade * factor) * pitch >= distance)
                return decade * factor;
        decade *= 10;
    }
}

/// Every how many groups get a label, so that labels keep apart.
std::size_t labelStep(const Frame& frame)
{
    const auto groups = static_cast<qreal>(frame.content.groupTicks.size());
    const auto rows = static_cast<qreal>(frame.content.grid->rows());
    return groups == 0 ? 1 : roundStep(frame.cell.height() * rows / groups, labelDistance);
}

} // namespace

bool namesFit(qreal rowHeight, const std::vector<QString>& names)
{
    return rowHeight >= nameRowHeight && !names.empty();
}

int nameGutter(const Look& look, const std::vector<QString>& names, int least, int widgetWidth)
{
    const QFontMetrics metrics(look.font(TextRole::MonoSmall));
    int widest = 0;
    for (const QString& name : names)
        widest = std::max(widest, metrics.horizontalAdvance(name));
    const int most = std::max(least, widgetWidth / 3);
    return std::clamp(widest + Look::inset + Look::gap, least, most);
}

void paintRows(QPainter& painter, const Frame& frame)
{
    const Theme& theme = frame.look.theme();
    const int right = frame.used.x() - Look::gap;
    if (namesFit(frame.cell.height(), frame.content.rowNames)) {
        const auto first = static_cast<std::size_t>(frame.origin.y());
        for (std::size_t row = first; row < frame.content.rowNames.size(); ++row) {
            const qreal y = frame.yOf(static_cast<double>(row));
            if (y + frame.cell.height() > frame.used.bottom() + 2)
                break;
            const QRectF line(Look::step, y, right - Look::step, frame.cell.height());
            const bool here = frame.cursorRow == row;
            paint::text(painter, line.toRect(), Qt::AlignRight | Qt::AlignVCenter,
                        frame.content.rowNames[row], frame.look.font(TextRole::MonoSmall),
                        here ? theme.ink : theme.dim, Qt::ElideLeft);
        }
        return;
    }
    const std::size_t every = labelStep(frame);
    for (std::size_t i = 0; i < frame.content.groupTicks.size(); i += every) {
        const auto& [row, label] = frame.content.groupTicks[i];
        const qreal y = frame.yOf(static_cast<double>(row));
        if (y < frame.used.y() - 1 || y > frame.used.bottom() - lineHeight / 2.0)
            continue;
        painter.setPen(theme.faint);
        painter.drawLine(QPointF(right + 2, y + 0.5), QPointF(frame.used.x() - 2, y + 0.5));
        paint::text(
            painter,
            QRect(0, std::max(0, static_cast<int>(y) - lineHeight / 2), right - 2, lineHeight),
            Qt::AlignRight | Qt::AlignVCenter, label, frame.look.font(TextRole::Small), theme.dim);
    }
}

void paintColumns(QPainter& painter, const Frame& frame)
{
    const Theme& theme = frame.look.theme();
    const int top = frame.used.bottom() + 1;
    painter.save();
    painter.setClipRect(
        QRect(frame.used.x() - Look::gap, top, frame.used.width() + 2 * Look::gap, markLane));
    const auto centre = [&frame](std::size_t column) {
        return frame.xOf(static_cast<double>(column) + 0.5);
    };
    for (const std::size_t column : frame.content.routeChanges)
        paint::routeMark(painter, {centre(column), top + markLane / 2.0}, theme.reference);
    for (const std::size_t column : frame.content.flips)
        paint::flipMark(painter, {centre(column), top + markLane / 2.0}, theme.target);
    painter.restore();
    const std::size_t step = roundStep(frame.cell.width(), tickDistance);
    const QFont font = frame.look.font(TextRole::Small);
    for (std::size_t column = 0; column < frame.content.grid->columns(); column += step) {
        const qreal x = centre(column);
        if (x < frame.used.x() || x > frame.used.right() + 1)
            continue;
        paint::text(
            painter,
            QRect(static_cast<int>(x) - tickDistance / 2, top + markLane, tickDistance, numberLane),
            Qt::AlignCenter, QString::number(column), font, theme.dim, Qt::ElideNone);
    }
}

void paintScrollMarks(QPainter& painter, const Frame& frame, const QRect& area)
{
    const auto columns = static_cast<qreal>(frame.content.grid->columns());
    const auto rows = static_cast<qreal>(frame.content.grid->rows());
    const qreal shownColumns = frame.used.width() / frame.cell.width();
    const qreal shownRows = frame.used.height() / frame.cell.height();
    constexpr qreal thickness = 3;
    const QColor colour = frame.look.theme().faint;
    constexpr qreal most = 0.999; // rounding of the last pixel is no hidden part
    if (shownColumns < columns * most)
        painter.fillRect(QRectF(area.x() + area.width() * frame.origin.x() / columns,
                                area.bottom() - thickness, area.width() * shownColumns / columns,
                                thickness),
                         colour);
    if (shownRows < rows * most)
        painter.fillRect(QRectF(area.right() + Look::step,
                                area.y() + area.height() * frame.origin.y() / rows, thickness,
                                area.height() * shownRows / rows),
                         colour);
}

} // namespace moire::widgets::heatAxes
