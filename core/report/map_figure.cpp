// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/map_figure.h"

#include "core/base/shortened.h"
#include "core/base/text.h"
#include "core/report/map_hover.h"
#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/svg.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace moire::report {

namespace {

constexpr double figureWidth = 1000;
constexpr double right = 8;
constexpr double top = 8;
constexpr double narrowLabels = 96;   ///< "layer 31"
constexpr double nameCharacter = 6.7; ///< of a tap's name, monospaced
constexpr double nameMargin = 16;
constexpr std::size_t mostOfName = 57; ///< of its characters, so that the map keeps its room
constexpr double labelStep = 15;       ///< least distance of two labels
constexpr double axisHeight = 44;
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
    bool contour = false;                                    ///< where columns first differ
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
            labels.push_back(
                {i, escaped(base::shortened(base::visibleText(tap.name), mostOfName))});
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
    return nameMargin + nameCharacter * static_cast<double>(std::min(longest, mostOfName));
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
        svg.text(frame.x - 8, frame.atRow(map, static_cast<double>(labels[i].row) + 0.5) + baseline,
                 "end", labels[i].text, named ? "tick code" : "tick");
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

/// One entry of a legend: how wide it is, and how it is drawn at a place.
struct LegendEntry
{
    double width;
    std::function<void(double x, double y)> draw;
};

constexpr double swatch = 11;
constexpr double legendLine = 20;
constexpr double wordsFrom = 17; ///< from an entry's left edge

double widthOfWords(std::string_view words)
{
    constexpr double character = 6.4; ///< of 12 px text, on average
    return character * static_cast<double>(words.size());
}

std::vector<LegendEntry> legendEntries(Svg& svg, const PooledMap& map, const Marks& marks,
                                       std::string_view equalWords)
{
    constexpr double baseline = 10;
    constexpr double between = 18;
    std::vector<LegendEntry> entries;
    const auto add = [&](std::string_view words, auto draw) {
        entries.push_back({wordsFrom + widthOfWords(words) + between,
                           [&svg, words = std::string(words), draw](double x, double y) {
                               draw(x, y);
                               svg.text(x + wordsFrom, y + baseline, "start", words);
                           }});
    };
    const auto box = [&svg](std::string_view cssClass) {
        return [&svg, cssClass](double x, double y) { svg.rect(x, y, swatch, swatch, cssClass); };
    };
    const auto shape = [&svg](std::string_view d, std::string_view cssClass) {
        return [&svg, d, cssClass](double x, double y) {
            svg.path("M" + coordinate(x + 5.5) + ' ' + coordinate(y + 1.5) + std::string(d),
                     cssClass);
        };
    };
    add(equalWords, box("f1 outline"));
    if (map.hasUnmeasured || map.hasNotFinite)
        add(map.unmeasuredWords(), box("f2"));
    if (marks.contour)
        add("first difference", [&svg](double x, double y) {
            svg.path("M" + coordinate(x) + ' ' + coordinate(y + 3) + "h6v6h6", "contour");
        });
    if (marks.ring)
        add("first divergence", [&svg](double x, double y) { svg.rect(x, y + 1, 10, 9, "ring"); });
    if (!marks.flips.empty())
        add("top-1 flips", shape("l4.5 7.5h-9z", "flip"));
    if (!marks.routes.empty())
        add("experts change", shape("l4 4l-4 4l-4 -4z", "route"));
    if (map.hasAbsent)
        add("not comparable or not recorded", box("hatch outline"));
    if (map.hasMeasured) {
        constexpr double level = 8;
        const double low = widthOfWords(map.lowText) + 6;
        const double bar = level * static_cast<double>(scaleLevels);
        entries.push_back({low + bar + 6 + widthOfWords(map.highText),
                           [&svg, &map, low, bar](double x, double y) {
                               svg.text(x + low - 6, y + baseline, "end", map.lowText);
                               for (std::size_t i = 0; i < scaleLevels; ++i)
                                   svg.rect(x + low + level * static_cast<double>(i), y, level,
                                            swatch, 'f' + std::to_string(cellScale + i));
                               svg.text(x + low + bar + 6, y + baseline, "start", map.highText);
                           }});
    }
    return entries;
}

/// Calls place(entry, x, line) for each entry; returns the number of lines.
template <class Place>
std::size_t flow(const std::vector<LegendEntry>& entries, const Frame& frame, Place place)
{
    double x = frame.x;
    std::size_t line = 0;
    for (const LegendEntry& entry : entries) {
        if (x > frame.x && x + entry.width > frame.x + frame.width) {
            x = frame.x;
            ++line;
        }
        place(entry, x, line);
        x += entry.width;
    }
    return line + 1;
}

/// Where each column first differs, as a staircase.
void drawContour(Svg& svg, const PooledMap& map, const Frame& frame)
{
    const std::size_t width = map.picture.width;
    const std::size_t height = map.picture.height;
    std::string d;
    bool drawing = false;
    double last = -1;
    for (std::size_t column = 0; column < width; ++column) {
        std::size_t row = 0;
        while (row < height && map.picture.indices[row * width + column] < cellUnmeasured)
            ++row;
        if (row == height) {
            drawing = false;
            continue;
        }
        const double y =
            frame.y + frame.height * static_cast<double>(row) / static_cast<double>(height);
        const auto x = [&](std::size_t at) {
            return frame.x + frame.width * static_cast<double>(at) / static_cast<double>(width);
        };
        if (!drawing)
            d += 'M' + coordinate(x(column)) + ' ' + coordinate(y);
        else if (y != last)
            d += 'V' + coordinate(y);
        d += 'H' + coordinate(x(column + 1));
        drawing = true;
        last = y;
    }
    if (!d.empty())
        svg.path(d, "contour");
}

/// What a figure shows besides its cells.
struct Words
{
    std::vector<RowLabel> labels;
    bool named = false; ///< the labels are names of rows, not of groups
    std::string_view equal;
    std::string title;
};

std::string figure(const PooledMap& map, const MapColumns& columns, const Marks& marks,
                   const Words& words)
{
    const double left = words.named ? widthOf(words.labels) : narrowLabels;
    const double cell = words.named ? mostCell : leastCell;
    const double height = std::clamp(static_cast<double>(map.rowCount) * cell,
                                     words.named ? cell : leastHeight, mostHeight);
    const Frame frame{left, top, figureWidth - left - right, height};
    Svg measuring(0, 0, {}); // the legend's height comes before its place
    const std::size_t lines = flow(legendEntries(measuring, map, marks, words.equal), frame,
                                   [](const LegendEntry&, double, std::size_t) {});
    const double legendTop = frame.y + frame.height + axisHeight + 8;
    Svg svg(figureWidth, legendTop + legendLine * static_cast<double>(lines), words.title);
    svg.rect(frame.x, frame.y, frame.width, frame.height, "hatch");
    for (const Theme theme : {Theme::Light, Theme::Dark})
        svg.image(frame.x, frame.y, frame.width, frame.height,
                  pngBytes(map.picture, paletteOf(theme)),
                  theme == Theme::Light ? "map light" : "map dark");
    drawRowLabels(svg, map, frame, words.labels, words.named);
    drawColumns(svg, map, frame, columns);
    drawMarks(svg, map, frame, marks.flips, frame.y + frame.height + 3, false, "flip");
    drawMarks(svg, map, frame, marks.routes, frame.y + frame.height + 13, true, "route");
    if (marks.contour)
        drawContour(svg, map, frame);
    if (marks.ring)
        drawRing(svg, map, frame, *marks.ring);
    flow(legendEntries(svg, map, marks, words.equal), frame,
         [&](const LegendEntry& entry, double x, std::size_t line) {
             entry.draw(x, legendTop + legendLine * static_cast<double>(line));
         });
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
    const PooledMap map = tapMap(report, columns);
    Marks marks = marksOf(report, columns);
    marks.contour = map.hasMeasured || map.hasUnmeasured || map.hasNotFinite;
    std::vector<std::string> names;
    for (const diff::TapReport& tap : report.taps)
        names.push_back(tap.name);
    return figure(map, columns, marks,
                  {tapLabels(report), report.taps.size() <= mostNamedRows, "equal",
                   "Heat map of the relative L2 difference, taps from top to bottom, tokens from "
                   "left to right; the tables below hold its numbers"})
           + mapHover(map, columns, names, "equal bits", "relative L2");
}

std::string routeMapFigure(const diff::Report& report, const trace::Run& reference,
                           const MapColumns& columns)
{
    std::vector<RowLabel> labels;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < report.routerPairs.size(); ++i) {
        names.push_back(layerName(reference.header().routers[report.routerPairs[i].first].layer));
        labels.push_back({i, names.back()});
    }
    const PooledMap map = routeMap(report, columns);
    return figure(map, columns, {},
                  {labels, false, "same experts",
                   "Map of the experts replaced, layers from top to bottom, tokens from left to "
                   "right"})
           + mapHover(map, columns, names, "same experts", "experts replaced:");
}

} // namespace moire::report
