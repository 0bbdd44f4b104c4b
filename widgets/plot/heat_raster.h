// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/heat_grid.h"
#include "widgets/plot/colour_scale.h"

#include <QImage>
#include <QRectF>
#include <QSize>

#include <vector>

namespace moire::widgets {

/// What of a grid is drawn where. Cells keep their order; `cells` may be any part of the grid.
struct HeatFrame
{
    QRectF cells; ///< visible part in cells: x = columns, y = rows
    QSize pixels; ///< device pixels to fill
};

/// One pixel row or column: the cells [begin, end) that it stands for, and whether it is a gap
/// between two cells (only where cells are large).
struct PixelSpan
{
    std::size_t begin = 0;
    std::size_t end = 0;
    bool gap = false;
};

/// Which cells each of `pixels` pixels stands for when they show [first, first + span) of `count`
/// cells. Every visible cell is in at least one span, neighbours overlap rather than leave one out.
std::vector<PixelSpan> pixelSpans(double first, double span, int pixels, std::size_t count);

/// Draws a grid, max-pooled: a pixel has the colour of the largest cell that it stands for.
/// `groupStart`: rows before which a line is drawn when there is room (layers). 32-bit image.
QImage renderHeat(const HeatGrid& grid, const HeatFrame& frame, const ColourScale& scale,
                  const Theme& theme, const std::vector<bool>& groupStart);

} // namespace moire::widgets
