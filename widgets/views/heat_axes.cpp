// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_axes.h"

#include "widgets/views/paint.h"

#include <QFontMetrics>

#include <algorithm>
#include <array>

namespace moire::widgets::heatAxes {

namespace {

constexpr int markLane = 16;
constexpr int numberLane = 18;
constexpr int lineHeight = 16;
constexpr qreal nameRowHeight = 13;
constexpr int tickDistance = 48;
constexpr qreal labelDistance = 16;

/// The smallest of 1, 2, 5, 10, 20, … whose columns stand at least `tickDistance` apart.
std::size_t tickStep(qreal columnWidth)
{
    std::size_t decade = 1;
    for (;;) {
        for (const std::size_t factor : {1U, 2U, 5U})
            if (static_cast<qreal>(decade * factor) * columnWidth >= tickDistance)
                return decade * factor;
        decade *= 10;
    }
}

bool holdsCode(const HeatGrid& grid, float code)
{
    return std::find(grid.columnMaxima().begin(), grid.columnMaxima().end(), code)
           != grid.columnMaxima().end();
}

bool holdsNotRecorded(const HeatGrid& grid)
{
    for (std::size_t row = 0; row < grid.rows(); ++row)
        for (std::size_t column = 0; column < grid.columns(); ++column)
            if (grid.at(row, column) == cell::notRecorded)
                return true;
    return false;
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
    qreal last = -labelDistance;
    for (const auto& [row, label] : frame.content.groupTicks) {
        const qreal y = frame.yOf(static_cast<double>(row));
        if (y < frame.used.y() - 1 || y > frame.used.bottom() - lineHeight / 2.0
            || y - last < labelDistance)
            continue;
        last = y;
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
    const std::size_t step = tickStep(frame.cell.width());
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
    const QFont font = frame.look.font(TextRole::Small);
    const int y = std::min(frame.used.bottom() + 1 + markLane + numberLane + Look::step,
                           widget.bottom() - lineHeight - Look::step);
    const Hatch hatch(theme);
    int x = frame.used.x();
    const auto word = [&](const QString& text) {
        x += paint::text(painter, QRect(x, y, widget.width(), lineHeight),
                         Qt::AlignLeft | Qt::AlignVCenter, text, font, theme.dim)
             + Look::inset;
    };
    const auto swatch = [&](const std::function<void(const QRect&)>& fill) {
        const QRect box(x, y + 2, 12, 12);
        fill(box);
        painter.setPen(theme.line);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
        x += box.width() + Look::step;
    };
    const auto mark = [&](void (*draw)(QPainter&, const QPointF&, const QColor&),
                          const QColor& colour) {
        draw(painter, {x + 5.0, y + lineHeight / 2.0}, colour);
        x += 12 + Look::step / 2;
    };
    swatch([&](const QRect& box) { painter.fillRect(box, theme.equal); });
    word(QStringLiteral("equal"));
    if (holdsCode(*frame.content.grid, cell::notComparable)) {
        swatch([&](const QRect& box) { hatch.paint(painter, box, cell::notComparable); });
        word(QStringLiteral("not comparable"));
    }
    if (holdsNotRecorded(*frame.content.grid)) {
        swatch([&](const QRect& box) { hatch.paint(painter, box, cell::notRecorded); });
        word(QStringLiteral("not recorded"));
    }
    if (!frame.content.flips.empty()) {
        mark(paint::flipMark, theme.target);
        word(QStringLiteral("top-1 flips"));
    }
    if (!frame.content.routeChanges.empty()) {
        mark(paint::routeMark, theme.reference);
        word(QStringLiteral("experts change"));
    }
    constexpr int barWidth = 128;
    constexpr int barHeight = 8;
    const int highWidth = paint::widthOf(font, frame.content.highText);
    const int lowWidth = paint::widthOf(font, frame.content.lowText);
    const int right =
        std::max(frame.used.right(), x + lowWidth + barWidth + highWidth + 3 * Look::gap);
    const int barLeft =
        std::min(right, widget.right() - Look::inset) - highWidth - Look::gap - barWidth;
    if (barLeft - lowWidth - Look::gap < x)
        return;
    const auto at = [&](int left, int width, const QString& text, Qt::Alignment alignment) {
        paint::text(painter, QRect(left, y, width, lineHeight), alignment | Qt::AlignVCenter, text,
                    font, theme.dim);
    };
    at(barLeft - Look::gap - lowWidth, lowWidth + 1, frame.content.lowText, Qt::AlignLeft);
    frame.content.scale.paintBar(painter,
                                 {barLeft, y + (lineHeight - barHeight) / 2, barWidth, barHeight});
    at(barLeft + barWidth + Look::gap, highWidth + 1, frame.content.highText, Qt::AlignLeft);
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
