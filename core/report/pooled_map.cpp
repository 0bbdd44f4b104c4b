// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/pooled_map.h"

#include "core/report/first_kinds.h"
#include "core/report/number.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::report {

namespace {

constexpr std::size_t mostColumns = 800;
constexpr std::size_t mostRows = 400;

/// A cell before it has a colour; larger is worse.
struct Severity
{
    enum Kind : std::uint8_t
    {
        Absent,
        Equal,
        Unmeasured,
        NotFinite,
        Measured
    } kind = Absent;
    double value = 0;

    friend bool operator<(const Severity& a, const Severity& b)
    {
        return a.kind != b.kind ? a.kind < b.kind : a.value < b.value;
    }
};

Severity severityOf(const diff::Site& site)
{
    if (site.state == diff::Site::State::NotRecorded)
        return {Severity::Absent, 0};
    if (site.state == diff::Site::State::Equal)
        return {Severity::Equal, 0};
    if (!site.valuesCompared)
        return {Severity::Unmeasured, 0};
    const double relative = site.relativeL2();
    // NaN or infinity on one side; zero against a small number has a size like any other.
    const bool beyond = (site.classChanges > 0 && site.finite != site.elements)
                        || !(relative < std::numeric_limits<double>::infinity());
    if (!beyond && site.finite == 0) // other payloads of NaN
        return {Severity::NotFinite, 0};
    return {Severity::Measured, beyond ? std::numeric_limits<double>::infinity() : relative};
}

Severity severityOf(const diff::RouteCell& cell)
{
    if (cell.chosen == 0)
        return {Severity::Absent, 0};
    if (cell.replaced == 0)
        return {Severity::Equal, 0};
    return {Severity::Measured, static_cast<double>(cell.replaced)};
}

/// A map made small, before it has colours.
struct Pool
{
    PooledMap map;
    std::vector<Severity> cells;
};

/// Pools `rows` × columns; cellAt(pair, row) gives the severity of an original cell.
template <class CellAt>
Pool pooled(const MapColumns& columns, std::size_t rows, CellAt cellAt)
{
    Pool pool;
    PooledMap& map = pool.map;
    map.columnCount = columns.pairs.size();
    map.rowCount = rows;
    const std::size_t width = std::min(map.columnCount, mostColumns);
    const std::size_t height = std::min(rows, mostRows);
    map.picture.width = static_cast<std::uint32_t>(width);
    map.picture.height = static_cast<std::uint32_t>(height);
    pool.cells.resize(width * height);
    for (std::size_t column = 0; column < columns.pairs.size(); ++column) {
        const std::size_t pair = columns.pairs[column];
        const std::size_t x = pooledPlace(column, map.columnCount, width);
        for (std::size_t row = 0; row < rows && pair != MapColumns::notComparable; ++row) {
            Severity& cell = pool.cells[pooledPlace(row, rows, height) * width + x];
            cell = std::max(cell, cellAt(pair, row));
        }
    }
    return pool;
}

/// levelOf(value) gives a measured cell's level on the scale.
template <class LevelOf>
PooledMap coloured(Pool pool, LevelOf levelOf)
{
    PooledMap& map = pool.map;
    for (const Severity& cell : pool.cells) {
        map.hasAbsent = map.hasAbsent || cell.kind == Severity::Absent;
        map.hasUnmeasured = map.hasUnmeasured || cell.kind == Severity::Unmeasured;
        map.hasNotFinite = map.hasNotFinite || cell.kind == Severity::NotFinite;
        map.hasMeasured = map.hasMeasured || cell.kind == Severity::Measured;
        const std::size_t index = cell.kind == Severity::Measured ? cellScale + levelOf(cell.value)
                                  : cell.kind == Severity::NotFinite
                                      ? std::size_t{cellUnmeasured}
                                      : static_cast<std::size_t>(cell.kind);
        map.picture.indices.push_back(static_cast<std::uint8_t>(index));
    }
    return std::move(pool.map);
}

// The kinds outside the scale are their own colours.
static_assert(static_cast<int>(Severity::Absent) == cellAbsent);
static_assert(static_cast<int>(Severity::Equal) == cellEqual);
static_assert(static_cast<int>(Severity::Unmeasured) == cellUnmeasured);

/// Rows of each sample at or after the position where its tokens part.
std::vector<std::size_t> rowsAfterSplit(const diff::Report& report, const trace::Run& run,
                                        trace::SampleIndex diff::SampleReport::*side)
{
    std::vector<std::size_t> counts(report.samples.size(), 0);
    std::vector<std::size_t> place(run.samples().size(), report.samples.size());
    for (std::size_t i = 0; i < report.samples.size(); ++i)
        if (const std::size_t index = trace::indexOf(report.samples[i].*side);
            report.samples[i].split && index < place.size())
            place[index] = i;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const trace::Row row = run.row(r);
        const std::size_t i = place[trace::indexOf(row.sample)];
        if (i < counts.size() && row.position >= *report.samples[i].split)
            ++counts[i];
    }
    return counts;
}

} // namespace

std::size_t pooledPlace(std::size_t at, std::size_t count, std::size_t pixels)
{
    return count == 0 ? 0 : at * pixels / count;
}

MapColumns mapColumns(const diff::Report& report, const trace::Run& reference,
                      const trace::Run& target)
{
    const auto afterReference = rowsAfterSplit(report, reference, &diff::SampleReport::reference);
    const auto afterTarget = rowsAfterSplit(report, target, &diff::SampleReport::target);
    MapColumns columns;
    const std::vector<std::string> names = sampleTexts(report);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
        MapColumns::Group group{names[i], columns.pairs.size(), 0};
        const diff::SampleReport& sample = report.samples[i];
        for (std::uint64_t n = 0; n < sample.rowsCompared && pair < report.rows.size(); ++n) {
            columns.positions.push_back(report.rows[pair].position);
            columns.pairs.push_back(pair++);
        }
        const std::size_t after = std::max(afterReference[i], afterTarget[i]);
        for (std::size_t n = 0; n < after; ++n) {
            columns.positions.push_back(*sample.split + static_cast<std::uint32_t>(n));
            columns.pairs.push_back(MapColumns::notComparable);
        }
        group.end = columns.pairs.size();
        columns.groups.push_back(group);
    }
    return columns;
}

std::string PooledMap::unmeasuredWords() const
{
    return std::string("bits differ, ")
           + (!hasNotFinite   ? "values not recorded"
              : hasUnmeasured ? "values not recorded or nothing finite"
                              : "nothing finite");
}

double PooledMap::xOf(std::size_t column) const
{
    return columnCount == 0
               ? 0
               : static_cast<double>(column) * picture.width / static_cast<double>(columnCount);
}

double PooledMap::yOf(std::size_t row) const
{
    return rowCount == 0
               ? 0
               : static_cast<double>(row) * picture.height / static_cast<double>(rowCount);
}

PooledMap tapMap(const diff::Report& report, const MapColumns& columns)
{
    RangeFinder finder;
    for (const diff::Site& site : report.sites)
        if (const Severity severity = severityOf(site); severity.kind == Severity::Measured)
            finder.add(severity.value);
    const DecadeRange range = finder.range();
    const LogScale scale(range);
    PooledMap map = coloured(pooled(columns, report.tapPairs.size(),
                                    [&](std::size_t pair, std::size_t tap) {
                                        return severityOf(report.site(pair, tap));
                                    }),
                             [&scale](double value) { return scale.levelOf(value); });
    map.lowText = "≤ " + decadeText(range.low);
    map.highText = "≥ " + decadeText(range.high);
    constexpr int digits = 2;
    const auto edge = [&range](std::size_t level) {
        const double place = static_cast<double>(level) / static_cast<double>(scaleLevels);
        return figure(std::pow(10.0, range.low + (range.high - range.low) * place), digits);
    };
    for (std::size_t level = 0; level < scaleLevels; ++level)
        map.levelTexts[level] = level == 0                 ? "below " + edge(1)
                                : level + 1 == scaleLevels ? edge(level) + " and more"
                                                           : edge(level) + " to " + edge(level + 1);
    return map;
}

PooledMap routeMap(const diff::Report& report, const MapColumns& columns)
{
    const std::size_t routers = report.routerPairs.size();
    std::size_t largest = 2;
    for (const diff::RouteCell& cell : report.routes)
        largest = std::max<std::size_t>(largest, cell.replaced);
    PooledMap map = coloured(
        pooled(columns, routers,
               [&](std::size_t pair, std::size_t router) {
                   return severityOf(report.routes[pair * routers + router]);
               }),
        [largest](double value) { return countLevel(static_cast<std::size_t>(value), largest); });
    map.lowText = "1 replaced";
    map.highText = std::to_string(largest);
    for (std::size_t count = largest; count > 0; --count) {
        std::string& text = map.levelTexts[countLevel(count, largest)];
        text = text.empty() ? std::to_string(count) : std::to_string(count) + " or more";
    }
    return map;
}

} // namespace moire::report
