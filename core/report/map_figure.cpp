// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/map_figure.h"

#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/svg.h"

#include <algorithm>
#include <optional>

namespace moire::report {

namespace {

constexpr double figureWidth = 1000;
constexpr double right = 8;
constexpr double top = 8;
constexpr double narrowLabels = 96;   ///< "layer 31"
constexpr double nameCharacter = 6.7; ///< of a tap's name, monospaced
constexpr double labelStep = 15;      ///< least distance of two labels
constexpr double axisHeight = 44;
constexpr double legendHeight = 30;
constexpr double leastCell = 2, mostCell = 16;
constexpr double leastHeight = 120, mostHeight = 520;
constexpr std::size_t mostSeparators = 60;
constexpr std::size_t mostNamedRows = 36;

struct RowLabel
{
    std::size_t row;
    std::string text; ///< markup
};

struct Marks
{
    std::vector<std::size_t> flips, routes;                  ///< columns
    std::optional<std::pair<std::size_t, std::size_t>> ring; ///< column, row
};

struct Frame
{
    double x, y, width, height;
    double atColumn(const PooledMap& map, double column) const
    {
        return x + column * width / static_cast<double>(std::max<std::size_t>(1, map.columnCount));
    }
    double atRow(const PooledMap& map, double row) const
    {
        return y + row * height / static_cast<double>(std::max<std::size_t>(1, map.rowCount));
    }
};

std::string layerName(std::int32_t layer)
{
    return "layer " + std::to_string(layer);
}

/// Few rows are all named; of many, the first of each layer.
std::vector<RowLabel> tapLabels(const diff::Report& report)
{
    std::vector<RowLabel> labels;
    const bool all = report.taps.size() <= mostNamedRows;
    std::int32_t layer = -1;
    for (std::size_t i = 0; i < report.taps.size(); ++i) {
        const diff::TapReport& tap = report.taps[i];
        if (all)
            labels.push_back({i, escaped(tap.name)});
        else if (tap.layer != layer && tap.layer >= 0)
            labels.push_back({i, layerName(tap.layer)});
        layer = tap.layer;
    }
    return labels;
}

double widthOf(const std::vector<RowLabel>& labels)
{
    std::size_t longest = 0;
    for (const RowLabel& label : labels)
        longest = std::max(longest, label.text.size());
    constexpr double mostWidth = 400;
    return std::min(mostWidth, 16 + nameCharacter * static_cast<double>(longest));
}

/// The smallest of 1, 2, 5, 10, 20, … that is at least `least`.
std::size_t roundStep(double least)
{
    constexpr std::size_t tenfold = 10;
    for (std::size_t decade = 1;; decade *= tenfold)
        for (const std::size_t factor : {1U, 2U, 5U})
            if (static_cast<double>(factor * decade) >= least)
                return factor * decade;
}

/// Every n-th label, so that they keep `labelStep` apart.
void drawRowLabels(Svg& svg, const PooledMap& map, const Frame& frame,
                   const std::vector<RowLabel>& labels, bool named)
{
    if (labels.empty())
        return;
    const double rows = labels.size() > 1 ? static_cast<double>(labels[1].row - labels[0].row) : 1;
    const double distance = frame.height * rows / static_cast<double>(map.rowCount);
    const std::size_t step = named ? 1 : roundStep(labelStep / distance);
    constexpr double baseline = 4; // from the middle of a row to its text's baseline
    for (std::size_t i = 0; i < labels.size(); i += step) {
        const double y = frame.atRow(map, static_cast<double>(labels[i].row));
        svg.text(frame.x - 8, frame.atRow(map, static_cast<double>(labels[i].row) + 0.5) + baseline,
                 "end", labels[i].text, named ? "tick code" : "tick");
        if (!named && labels[i].row > 0)
            svg.line(frame.x, y, frame.x + frame.width, y, "grid");
    }
}

void drawTokenTicks(Svg& svg, const PooledMap& map, const Frame& frame, const MapColumns& columns,
                    double y)
{
    constexpr double tickDistance = 44;
    const std::size_t step =
        roundStep(tickDistance * static_cast<double>(map.columnCount) / frame.width);
    for (std::size_t column = 0; column < map.columnCount; column += step)
        svg.text(frame.atColumn(map, static_cast<double>(column) + 0.5), y, "middle",
                 std::to_string(columns.positions[column]));
}

void drawColumns(Svg& svg, const PooledMap& map, const Frame& frame, const MapColumns& columns)
{
    const double y = frame.y + frame.height + 36;
    if (columns.groups.size() == 1)
        return drawTokenTicks(svg, map, frame, columns, y);
    if (columns.groups.size() > mostSeparators) {
        svg.text(frame.x + frame.width / 2, y, "middle", countOf(columns.groups.size(), "sample"));
        return;
    }
    constexpr double characterWidth = 7;
    double free = frame.x;
    for (const MapColumns::Group& group : columns.groups) {
        const double begin = frame.atColumn(map, static_cast<double>(group.begin));
        const double end = frame.atColumn(map, static_cast<double>(group.end));
        if (group.begin > 0)
            svg.line(begin, frame.y, begin, frame.y + frame.height, "separator");
        const std::string name = escaped(group.sample);
        const double width = static_cast<double>(group.sample.size()) * characterWidth;
        const double centre = (begin + end) / 2;
        if (width > end - begin || centre - width / 2 < free)
            continue;
        svg.text(centre, y, "middle", name);
        free = centre + width / 2;
    }
}

/// One path for all marks of a kind; marks that fall on one pixel are drawn once.
void drawMarks(Svg& svg, const PooledMap& map, const Frame& frame,
               const std::vector<std::size_t>& columns, double y, bool diamond,
               std::string_view cssClass)
{
    std::string d;
    std::size_t last = static_cast<std::size_t>(-1);
    for (const std::size_t column : columns) {
        const std::size_t pixel = pooledPlace(column, map.columnCount, map.picture.width);
        if (pixel == last)
            continue;
        last = pixel;
        d += 'M' + coordinate(frame.atColumn(map, static_cast<double>(column) + 0.5)) + ' '
             + coordinate(y) + (diamond ? "l4 4l-4 4l-4 -4z" : "l4.5 7.5h-9z");
    }
    if (!d.empty())
        svg.path(d, cssClass);
}

void drawRing(Svg& svg, const PooledMap& map, const Frame& frame,
              const std::pair<std::size_t, std::size_t>& ring)
{
    constexpr double leastSize = 7;
    constexpr double gap = 1.5;
    const double x = frame.atColumn(map, static_cast<double>(ring.first));
    const double y = frame.atRow(map, static_cast<double>(ring.second));
    const double width =
        std::max(leastSize, frame.atColumn(map, static_cast<double>(ring.first) + 1) - x);
    const double height =
        std::max(leastSize, frame.atRow(map, static_cast<double>(ring.second) + 1) - y);
    svg.rect(x - gap, y - gap, width + 2 * gap, height + 2 * gap, "ring");
}

std::string power(int decade)
{
    return decade == 0 ? "1" : "1e" + std::to_string(decade);
}

void drawLegend(Svg& svg, const PooledMap& map, const Frame& frame, const Marks& marks,
                std::string_view equalWords, double y)
{
    constexpr double swatch = 11;
    constexpr double baseline = 10;
    double x = frame.x;
    const auto entry = [&](std::string_view cssClass, std::string_view words, double width) {
        svg.rect(x, y, swatch, swatch, cssClass);
        svg.text(x + swatch + 6, y + baseline, "start", words);
        x += width;
    };
    svg.text(x, y + baseline, "start", power(map.scale.lowDecade()));
    constexpr double scaleLabel = 38;
    constexpr double level = 11;
    x += scaleLabel;
    for (std::size_t i = 0; i < scaleLevels; ++i, x += level)
        svg.rect(x, y, level, swatch, 'f' + std::to_string(cellScale + i));
    svg.text(x + 6, y + baseline, "start", power(map.scale.highDecade()));
    x += scaleLabel + 20;
    entry("f1 outline", equalWords, 110);
    if (map.hasUnmeasured)
        entry("f2", "differs, size not recorded", 190);
    if (map.hasAbsent)
        entry("hatch outline", "not comparable or not recorded", 212);
    const auto mark = [&](std::string_view shape, std::string_view cssClass, std::string_view words,
                          double width) {
        std::string d("M");
        d.append(coordinate(x + 5)).append(" ").append(coordinate(y + 2)).append(shape);
        svg.path(d, cssClass);
        svg.text(x + 16, y + baseline, "start", words);
        x += width;
    };
    if (!marks.flips.empty())
        mark("l4.5 7.5h-9z", "flip", "top-1 flips", 90);
    if (!marks.routes.empty())
        mark("l4 4l-4 4l-4 -4z", "route", "route changes", 104);
    if (marks.ring) {
        svg.rect(x, y + 1, 10, 9, "ring");
        svg.text(x + 16, y + baseline, "start", "first");
    }
}

std::string figure(const PooledMap& map, const MapColumns& columns, const Marks& marks,
                   const std::vector<RowLabel>& labels, bool named, std::string_view equalWords,
                   const std::string& title)
{
    const double left = named ? widthOf(labels) : narrowLabels;
    const double cell = named ? mostCell : leastCell;
    const double height = std::clamp(static_cast<double>(map.rowCount) * cell,
                                     named ? cell : leastHeight, mostHeight);
    const Frame frame{left, top, figureWidth - left - right, height};
    Svg svg(figureWidth, top + height + axisHeight + legendHeight, title);
    svg.rect(frame.x, frame.y, frame.width, frame.height, "hatch");
    for (const Theme theme : {Theme::Light, Theme::Dark})
        svg.image(frame.x, frame.y, frame.width, frame.height,
                  pngBytes(map.picture, paletteOf(theme)),
                  theme == Theme::Light ? "map light" : "map dark");
    drawRowLabels(svg, map, frame, labels, named);
    drawColumns(svg, map, frame, columns);
    svg.text(figureWidth - right, frame.y + frame.height + axisHeight + 18, "end", "token →");
    drawMarks(svg, map, frame, marks.flips, frame.y + frame.height + 3, false, "flip");
    drawMarks(svg, map, frame, marks.routes, frame.y + frame.height + 13, true, "route");
    if (marks.ring)
        drawRing(svg, map, frame, *marks.ring);
    drawLegend(svg, map, frame, marks, equalWords, frame.y + frame.height + axisHeight + 8);
    return svg.markup();
}

Marks marksOf(const diff::Report& report, const MapColumns& columns)
{
    Marks marks;
    const std::size_t routers = report.routerPairs.size();
    for (std::size_t column = 0; column < columns.pairs.size(); ++column) {
        const std::size_t pair = columns.pairs[column];
        if (pair == MapColumns::notComparable)
            continue;
        if (pair < report.logits.size()) {
            const diff::LogitsRow& logits = report.logits[pair];
            if (logits.referenceTop >= 0 && logits.targetTop >= 0
                && logits.referenceTop != logits.targetTop)
                marks.flips.push_back(column);
        }
        const auto replaced = [&](std::size_t router) {
            return report.routes[pair * routers + router].replaced > 0;
        };
        for (std::size_t router = 0; router < routers; ++router)
            if (replaced(router)) {
                marks.routes.push_back(column);
                break;
            }
        const auto& first = report.first.bitwise;
        if (first && report.rows[pair].reference == first->row)
            for (std::size_t tap = 0; tap < report.taps.size(); ++tap)
                if (report.taps[tap].name == first->tap)
                    marks.ring = {column, tap};
    }
    return marks;
}

} // namespace

std::string tapMapFigure(const diff::Report& report, const MapColumns& columns)
{
    const bool named = report.taps.size() <= mostNamedRows;
    return figure(
        tapMap(report, columns), columns, marksOf(report, columns), tapLabels(report), named,
        "equal bits",
        "Heat map of the relative L2 difference, taps from top to bottom, tokens from left "
        "to right; the tables below hold its numbers");
}

std::string routeMapFigure(const diff::Report& report, const trace::Run& reference,
                           const MapColumns& columns)
{
    std::vector<RowLabel> labels;
    for (std::size_t i = 0; i < report.routerPairs.size(); ++i)
        labels.push_back(
            {i, layerName(reference.header().routers[report.routerPairs[i].first].layer)});
    return figure(
        routeMap(report, columns), columns, {}, labels, false, "same experts",
        "Map of the share of experts replaced, layers from top to bottom, tokens from left "
        "to right");
}

} // namespace moire::report
