// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/plot/heat_raster.h"

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr double gapFrom = 6.0; // cells at least this many pixels wide are kept apart by a line
constexpr double groupGapFrom = 2.0; // rows this high spare their first pixel for a group's line

struct Painter
{
    const ColourScale& scale;
    Hatch hatch;
    QRgb ground;

    QRgb pixel(float value, int x, int y) const
    {
        return value < cell::equal ? hatch.at(value, x, y) : scale.at(value);
    }
};

/// Pixel rows at which a new group of rows starts, if rows are high enough to spare one.
std::vector<bool> groupLines(const std::vector<PixelSpan>& rows, const std::vector<bool>& starts,
                             double pixelsPerRow)
{
    std::vector<bool> lines(rows.size(), false);
    if (pixelsPerRow < groupGapFrom)
        return lines;
    for (std::size_t y = 1; y < rows.size(); ++y)
        if (rows[y].begin != rows[y - 1].begin)
            for (std::size_t row = rows[y - 1].begin + 1; row <= rows[y].begin; ++row)
                lines[y] = lines[y] || (row < starts.size() && starts[row]);
    return lines;
}

} // namespace

std::vector<PixelSpan> pixelSpans(double first, double span, int pixels, std::size_t count)
{
    std::vector<PixelSpan> spans(static_cast<std::size_t>(std::max(pixels, 0)));
    if (count == 0 || pixels <= 0)
        return {};
    const double perPixel = span / pixels;
    const auto last = static_cast<double>(count);
    for (int i = 0; i < pixels; ++i) {
        const double from = std::clamp(first + i * perPixel, 0.0, last);
        const double to = std::clamp(first + (i + 1) * perPixel, 0.0, last);
        PixelSpan& pixel = spans[static_cast<std::size_t>(i)];
        pixel.begin = std::min(static_cast<std::size_t>(from), count - 1);
        // Cells larger than a pixel belong to the pixel's centre, smaller ones to all they touch.
        if (perPixel < 1.0)
            pixel.begin = std::min(static_cast<std::size_t>((from + to) / 2.0), count - 1);
        pixel.end = perPixel < 1.0 ? pixel.begin + 1
                                   : std::clamp(static_cast<std::size_t>(std::ceil(to)),
                                                pixel.begin + 1, count);
    }
    if (perPixel * gapFrom <= 1.0)
        for (std::size_t i = 0; i + 1 < spans.size(); ++i)
            spans[i].gap = spans[i].begin != spans[i + 1].begin;
    return spans;
}

QImage renderHeat(const HeatGrid& grid, const HeatFrame& frame, const ColourScale& scale,
                  const Theme& theme, const std::vector<bool>& groupStart)
{
    QImage image(frame.pixels, QImage::Format_RGB32);
    image.fill(theme.panel);
    if (grid.isEmpty() || frame.pixels.isEmpty())
        return image;
    const auto columns =
        pixelSpans(frame.cells.x(), frame.cells.width(), frame.pixels.width(), grid.columns());
    const auto rows =
        pixelSpans(frame.cells.y(), frame.cells.height(), frame.pixels.height(), grid.rows());
    const auto lines = groupLines(rows, groupStart, frame.pixels.height() / frame.cells.height());
    const std::size_t level = grid.levelFor(frame.cells.width() / frame.pixels.width());
    const std::size_t begin = columns.front().begin >> level;
    const std::size_t end = ((columns.back().end - 1) >> level) + 1;
    const Painter painter{scale, Hatch(theme), theme.panel.rgb()};
    std::vector<float> pooled;
    std::vector<float> values(columns.size());
    for (std::size_t y = 0; y < rows.size(); ++y) {
        const bool same =
            y > 0 && rows[y].begin == rows[y - 1].begin && rows[y].end == rows[y - 1].end;
        if (!same) {
            grid.poolRows(level, rows[y].begin, rows[y].end, begin, end, pooled);
            for (std::size_t x = 0; x < columns.size(); ++x)
                values[x] = *std::max_element(
                    pooled.begin() + static_cast<std::ptrdiff_t>(columns[x].begin >> level),
                    pooled.begin()
                        + static_cast<std::ptrdiff_t>(((columns[x].end - 1) >> level) + 1));
        }
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(y)));
        const bool gapRow = rows[y].gap || lines[y];
        for (std::size_t x = 0; x < columns.size(); ++x) {
            const bool gap = (gapRow || columns[x].gap) && values[x] >= cell::equal;
            line[x] = gap ? painter.ground
                          : painter.pixel(values[x], static_cast<int>(x), static_cast<int>(y));
        }
    }
    return image;
}

} // namespace moire::widgets
