// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/layer_figure.h"

#include "core/report/families.h"
#include "core/report/palette.h"
#include "core/report/svg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace moire::report {

namespace {

constexpr double figureWidth = 1000, figureHeight = 240;
constexpr double left = 56, right = 8, top = 10, bottom = 52;
constexpr double zeroLane = 20, laneGap = 12;

struct Series
{
    std::string words;
    std::string_view line, dot; ///< classes
    std::map<std::int32_t, double> values;
};

void addWorst(std::map<std::int32_t, double>& values, std::int32_t layer, double value)
{
    const auto [at, isNew] = values.emplace(layer, value);
    if (!isNew && !(value <= at->second))
        at->second = value;
}

std::vector<Series> seriesOf(const diff::Report& report)
{
    using trace::TapKind;
    std::map<TapKind, Series> kinds{
        {TapKind::Residual, {"residual stream", "curve one", "dot one", {}}},
        {TapKind::AttentionOutput, {"attention output", "curve two", "dot two", {}}},
        {TapKind::MlpOutput, {"MLP output", "curve three", "dot three", {}}}};
    Series worst{"worst tap of the layer", "curve one", "dot one", {}};
    for (const diff::TapReport& tap : report.taps) {
        const diff::Measure* relative = findIn(tap.measures, "B4");
        if (tap.layer < 0 || relative == nullptr || !relative->value)
            continue;
        addWorst(worst.values, tap.layer, *relative->value);
        if (const auto kind = kinds.find(tap.kind); kind != kinds.end())
            addWorst(kind->second.values, tap.layer, *relative->value);
    }
    std::vector<Series> series;
    for (const TapKind kind : {TapKind::Residual, TapKind::AttentionOutput, TapKind::MlpOutput})
        if (!kinds.at(kind).values.empty())
            series.push_back(std::move(kinds.at(kind)));
    if (series.empty() && !worst.values.empty())
        series.push_back(std::move(worst));
    return series;
}

/// Where layers and values fall on the picture.
struct Axes
{
    std::int32_t firstLayer, lastLayer;
    LogScale scale;

    double x(std::int32_t layer) const
    {
        const double span = std::max(1, lastLayer - firstLayer);
        return left + (figureWidth - left - right - 20) * (layer - firstLayer) / span + 10;
    }
    double y(double value) const
    {
        const double floor = figureHeight - bottom - zeroLane - laneGap;
        if (value == 0)
            return figureHeight - bottom - zeroLane / 2;
        const double decades = scale.highDecade() - scale.lowDecade();
        const double place = (std::log10(value) - scale.lowDecade()) / decades;
        return floor - (floor - top) * std::clamp(std::isnan(value) ? 1.0 : place, 0.0, 1.0);
    }
};

Axes axesOf(const std::vector<Series>& series)
{
    Axes axes{std::numeric_limits<std::int32_t>::max(), 0, LogScale(0, 0)};
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const Series& one : series)
        for (const auto& [layer, value] : one.values) {
            axes.firstLayer = std::min(axes.firstLayer, layer);
            axes.lastLayer = std::max(axes.lastLayer, layer);
            if (value > 0 && std::isfinite(value)) {
                smallest = std::min(smallest, value);
                largest = std::max(largest, value);
            }
        }
    axes.scale = LogScale(smallest, largest);
    return axes;
}

void drawAxes(Svg& svg, const Axes& axes)
{
    constexpr double baseline = 4;
    const double end = figureWidth - right;
    for (int decade = axes.scale.lowDecade(); decade <= axes.scale.highDecade(); ++decade) {
        const double y = axes.y(std::pow(10.0, decade));
        svg.line(left, y, end, y, "gridline");
        svg.text(left - 8, y + baseline, "end", decade == 0 ? "1" : "1e" + std::to_string(decade));
    }
    svg.rect(left, figureHeight - bottom - zeroLane, end - left, zeroLane, "f1");
    svg.text(left - 8, axes.y(0) + baseline, "end", "0");
    constexpr int mostTicks = 16;
    const int step = 1 + (axes.lastLayer - axes.firstLayer) / mostTicks;
    for (std::int32_t layer = axes.firstLayer; layer <= axes.lastLayer; layer += step)
        svg.text(axes.x(layer), figureHeight - bottom + 16, "middle", std::to_string(layer));
}

} // namespace

std::string layerFigure(const diff::Report& report)
{
    const std::vector<Series> series = seriesOf(report);
    if (series.empty())
        return {};
    const Axes axes = axesOf(series);
    Svg svg(figureWidth, figureHeight, "Relative L2 difference by layer, logarithmic");
    drawAxes(svg, axes);
    constexpr double radius = 2.6;
    constexpr double entryWidth = 170;
    double legend = left;
    for (const Series& one : series) {
        std::vector<std::pair<double, double>> points;
        for (const auto& [layer, value] : one.values)
            points.emplace_back(axes.x(layer), axes.y(value));
        svg.polyline(points, one.line);
        for (const auto& [x, y] : points)
            svg.circle(x, y, radius, one.dot);
        const double y = figureHeight - 8;
        svg.polyline({{legend, y - 4}, {legend + 26, y - 4}}, one.line);
        svg.circle(legend + 13, y - 4, radius, one.dot);
        svg.text(legend + 34, y, "start", one.words);
        legend += entryWidth;
    }
    svg.text(figureWidth - right, figureHeight - 8, "end", "layer →");
    return svg.markup();
}

} // namespace moire::report
