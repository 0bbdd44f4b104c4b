// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_axes.h"

#include "widgets/views/paint.h"

#include <QFontMetrics>

#include <algorithm>
#include <functional>

namespace moire::widgets::heatAxes {

namespace {

constexpr int markLane = 16;
constexpr int numberLane = 18;
constexpr int lineHeight = 16;
constexpr int swatch = 12;      // edge of a sample in the legend
constexpr int smallestBar = 32; // of the colour scale
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

/// Width of the colour scale with the numbers at its ends.
int scaleRoom(const Frame& frame, int bar)
{
    const QFont font = frame.look.font(TextRole::Small);
    return paint::widthOf(font, frame.content.lowText) + bar
           + paint::widthOf(font, frame.content.highText) + 2 + 2 * Look::gap;
}

/// The colour scale with the numbers at its ends, at the right end of the cells or of the room.
void paintScale(QPainter& painter, const Frame& frame, const QRect& room)
{
    const Theme& theme = frame.look.theme();
    const QFont font = frame.look.font(TextRole::Small);
    const int highWidth = paint::widthOf(font, frame.content.highText) + 1;
    const int lowWidth = paint::widthOf(font, frame.content.lowText) + 1;
    constexpr int barHeight = 8;
    for (const int barWidth : {128, 64, smallestBar}) {
        const int needed = scaleRoom(frame, barWidth);
        if (needed > room.width())
            continue;
        const int left =
            std::max(room.left(), std::min(frame.used.right() + 1, room.right() + 1) - needed);
        const auto word = [&](int x, int width, const QString& text) {
            paint::text(painter, QRect(x, room.y(), width, room.height()),
                        Qt::AlignLeft | Qt::AlignVCenter, text, font, theme.dim);
        };
        word(left, lowWidth, frame.content.lowText);
        const int bar = left + lowWidth + Look::gap;
        frame.content.scale.paintBar(
            painter, {bar, room.y() + (room.height() - barHeight) / 2, barWidth, barHeight});
        word(bar + barWidth + Look::gap, highWidth, frame.content.highText);
        return;
    }
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
        QRect(frame.used.x() - Look::gap, top, frame.used.width() + 2 * Look::gap, footHeight));
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
            Qt::AlignCenter, QString::number(column), font, theme.dim);
    }
}

void paintLegend(QPainter& painter, const Frame& frame, const QRect& widget)
{
    const Theme& theme = frame.look.theme();
    const int y = std::min(frame.used.bottom() + 1 + markLane + numberLane + Look::step,
                           widget.bottom() - lineHeight - Look::step);
    QRect room(frame.used.x(), y, widget.right() - Look::inset - frame.used.x(), lineHeight);
    const int scaleWidth = scaleRoom(frame, smallestBar) + Look::inset;
    const Hatch hatch(theme);
    using Draw = std::function<void(const QRect&)>;
    const auto entry = [&](const QString& text, const Draw& draw) {
        const int width = paint::widthOf(frame.look.font(TextRole::Small), text);
        if (room.width() < swatch + Look::step + width + Look::inset + scaleWidth)
            return;
        draw(QRect(room.x(), y + (lineHeight - swatch) / 2, swatch, swatch));
        room.setLeft(room.left() + swatch + Look::step);
        paint::text(painter, QRect(room.x(), y, width + 1, lineHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, text, frame.look.font(TextRole::Small),
                    theme.dim);
        room.setLeft(room.left() + width + Look::inset);
    };
    const auto framed = [&painter, &theme](const QRect& box) {
        painter.setPen(theme.line);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
    };
    entry(QStringLiteral("equal"), [&](const QRect& box) {
        painter.fillRect(box, theme.equal);
        framed(box);
    });
    if (!frame.content.flips.empty())
        entry(QStringLiteral("top-1 flips"), [&](const QRect& box) {
            paint::flipMark(painter, QRectF(box).center(), theme.target);
        });
    if (!frame.content.routeChanges.empty())
        entry(QStringLiteral("experts change"), [&](const QRect& box) {
            paint::routeMark(painter, QRectF(box).center(), theme.reference);
        });
    if (frame.content.grid->holds(cell::notComparable))
        entry(QStringLiteral("not comparable"), [&](const QRect& box) {
            hatch.paint(painter, box, cell::notComparable);
            framed(box);
        });
    if (frame.content.grid->holds(cell::notRecorded))
        entry(QStringLiteral("not recorded"), [&](const QRect& box) {
            hatch.paint(painter, box, cell::notRecorded);
            framed(box);
        });
    paintScale(painter, frame, room);
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
