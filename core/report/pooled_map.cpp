// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/pooled_map.h"

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
    const bool beyond =
        site.classChanges > 0 || !(relative < std::numeric_limits<double>::infinity());
    return {Severity::Measured, beyond ? std::numeric_limits<double>::infinity() : relative};
}

Severity severityOf(const diff::RouteCell& cell)
{
    if (cell.chosen == 0)
        return {Severity::Absent, 0};
    if (cell.replaced == 0)
        return {Severity::Equal, 0};
    return {Severity::Measured, static_cast<double>(cell.replaced) / cell.chosen};
}

/// Pools `rows` × columns; cellAt(pair, row) gives the severity of an original cell.
template <class CellAt>
PooledMap pooled(const MapColumns& columns, std::size_t rows, CellAt cellAt)
{
    PooledMap map;
    map.columnCount = columns.pairs.size();
    map.rowCount = rows;
    const std::size_t width = std::min(map.columnCount, mostColumns);
    const std::size_t height = std::min(rows, mostRows);
    std::vector<Severity> cells(width * height);
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t column = 0; column < columns.pairs.size(); ++column) {
        const std::size_t pair = columns.pairs[column];
        const std::size_t x = pooledPlace(column, map.columnCount, width);
        for (std::size_t row = 0; row < rows && pair != MapColumns::notComparable; ++row) {
            const Severity severity = cellAt(pair, row);
            Severity& cell = cells[pooledPlace(row, rows, height) * width + x];
            cell = std::max(cell, severity);
            if (severity.kind == Severity::Measured && severity.value > 0
                && std::isfinite(severity.value)) {
                smallest = std::min(smallest, severity.value);
                largest = std::max(largest, severity.value);
            }
        }
    }
    map.scale = LogScale(smallest, largest);
    map.picture.width = static_cast<std::uint32_t>(width);
    map.picture.height = static_cast<std::uint32_t>(height);
    for (const Severity& cell : cells) {
        map.hasAbsent = map.hasAbsent || cell.kind == Severity::Absent;
        map.hasUnmeasured = map.hasUnmeasured || cell.kind == Severity::Unmeasured;
        const std::size_t index = cell.kind == Severity::Measured
                                      ? cellScale + map.scale.levelOf(cell.value)
                                      : static_cast<std::size_t>(cell.kind);
        map.picture.indices.push_back(static_cast<std::uint8_t>(index));
    }
    return map;
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
    std::size_t pair = 0;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
        MapColumns::Group group{report.samples[i].id, columns.pairs.size(), 0};
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
    return pooled(columns, report.tapPairs.size(), [&](std::size_t pair, std::size_t tap) {
        return severityOf(report.site(pair, tap));
    });
}

PooledMap routeMap(const diff::Report& report, const MapColumns& columns)
{
    const std::size_t routers = report.routerPairs.size();
    return pooled(columns, routers, [&](std::size_t pair, std::size_t router) {
        return severityOf(report.routes[pair * routers + router]);
    });
}

} // namespace moire::report
