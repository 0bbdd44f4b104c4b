// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/heat_canvas.h"

#include <QPainter>

/// What stands around the cells of a HeatCanvas.
namespace moire::widgets::heatAxes {

/// Heights below the cells: marks, then numbers; the legend follows.
inline constexpr int markLane = 16;
inline constexpr int numberLane = 18;

/// One state of a canvas, as its axes see it.
struct Frame
{
    const Look& look;
    const HeatContent& content;
    QRect used;     ///< where cells stand
    QPointF origin; ///< first visible cell
    QSizeF cell;    ///< pixels of a cell
    std::optional<std::size_t> cursorRow, cursorColumn;

    qreal xOf(double column) const { return used.x() + (column - origin.x()) * cell.width(); }
    qreal yOf(double row) const { return used.y() + (row - origin.y()) * cell.height(); }
};

/// Whether rows are high enough for their names.
bool namesFit(qreal rowHeight, const std::vector<QString>& names);
/// Width of the column of names, at least `least`.
int nameGutter(const Look& look, const std::vector<QString>& names, int least, int widgetWidth);

void paintRows(QPainter& painter, const Frame& frame);
/// Marks of flips and route changes, then the numbers of tokens.
void paintColumns(QPainter& painter, const Frame& frame);
/// Which part of the whole is in view, when it is not all.
void paintScrollMarks(QPainter& painter, const Frame& frame, const QRect& area);

} // namespace moire::widgets::heatAxes
