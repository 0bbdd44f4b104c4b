// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/heat_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::widgets {

namespace {

/// As a cell: never negative, and a size that underflows stays a size.
float rootMeanSquare(float norm, std::uint32_t width)
{
    if (!std::isfinite(norm))
        return std::numeric_limits<float>::infinity();
    if (norm == 0 || width == 0)
        return cell::equal;
    return std::max(norm / std::sqrt(static_cast<float>(width)), cell::least);
}

} // namespace

HeatGrid::HeatGrid(std::size_t rows, std::size_t columns, std::vector<float> cells)
    : m_rows(rows)
    , m_columns(columns)
{
    m_levels.push_back(std::move(cells));
    while (levelColumns(m_levels.size() - 1) > 1 && m_rows > 0) {
        const std::size_t level = m_levels.size();
        const std::size_t fine = levelColumns(level - 1);
        const std::size_t coarse = levelColumns(level);
        const std::vector<float>& from = m_levels.back();
        std::vector<float> to(m_rows * coarse);
        for (std::size_t row = 0; row < m_rows; ++row)
            for (std::size_t column = 0; column < coarse; ++column) {
                const float* pair = &from[row * fine + 2 * column];
                to[row * coarse + column] =
                    2 * column + 1 < fine ? std::max(pair[0], pair[1]) : pair[0];
            }
        m_levels.push_back(std::move(to));
    }
    m_columnMaxima.assign(m_columns, cell::notComparable);
    m_firstDifferent.assign(m_columns, m_rows);
    for (std::size_t row = m_rows; row-- > 0;)
        for (std::size_t column = 0; column < m_columns; ++column) {
            const float value = at(row, column);
            m_columnMaxima[column] = std::max(m_columnMaxima[column], value);
            m_notComparable = m_notComparable || value == cell::notComparable;
            m_notRecorded = m_notRecorded || value == cell::notRecorded;
            m_unsized = m_unsized || value == cell::unsized;
            m_notFinite = m_notFinite || value == cell::notFinite;
            m_sized = m_sized || value > cell::notFinite;
            if (value > cell::equal)
                m_firstDifferent[column] = row;
        }
}

HeatGrid HeatGrid::ofTaps(const Compared& compared, std::size_t sample, HeatMeasure measure,
                          std::stop_token stop)
{
    const SampleEntry& entry = compared.samples.at(sample);
    const std::size_t taps = compared.report.tapPairs.size();
    const std::size_t columns = entry.columns();
    std::vector<float> cells(taps * columns);
    for (std::size_t column = 0; column < columns; ++column) {
        if (stop.stop_requested())
            return {};
        const auto row = entry.rowAt(column);
        for (std::size_t tap = 0; tap < taps; ++tap)
            cells[tap * columns + column] =
                row ? cellOf(compared.report.site(*row, tap), measure) : entry.emptyCell(column);
    }
    return {taps, columns, std::move(cells)};
}

HeatGrid HeatGrid::ofRoutes(const Compared& compared, std::size_t sample)
{
    const SampleEntry& entry = compared.samples.at(sample);
    const std::size_t routers = compared.report.routerPairs.size();
    const std::size_t columns = entry.columns();
    std::vector<float> cells(routers * columns);
    for (std::size_t column = 0; column < columns; ++column) {
        const auto row = entry.rowAt(column);
        for (std::size_t router = 0; router < routers; ++router) {
            float value = entry.emptyCell(column);
            if (row) {
                const diff::RouteCell& route = compared.report.routes[*row * routers + router];
                value = route.chosen == 0 ? cell::notRecorded : static_cast<float>(route.replaced);
            }
            cells[router * columns + column] = value;
        }
    }
    return {routers, columns, std::move(cells)};
}

HeatGrid HeatGrid::ofValues(const Compared& compared, std::size_t sample, bool target,
                            std::stop_token stop)
{
    const SampleEntry& entry = compared.samples.at(sample);
    const trace::Run& run = target ? *compared.target : *compared.reference;
    const std::size_t taps = compared.report.tapPairs.size();
    const std::size_t columns = entry.columns();
    std::vector<float> cells(taps * columns);
    for (std::size_t column = 0; column < columns; ++column) {
        if (stop.stop_requested())
            return {};
        const auto row = entry.rowAt(column);
        std::span<const trace::Statistics> statistics;
        if (row)
            statistics = run.statistics(target ? compared.report.rows[*row].target
                                               : compared.report.rows[*row].reference);
        for (std::size_t tap = 0; tap < taps; ++tap) {
            const diff::TapPair& pair = compared.report.tapPairs[tap];
            const std::size_t index = trace::indexOf(target ? pair.target : pair.reference);
            float value = row ? cell::notRecorded : entry.emptyCell(column);
            if (index < statistics.size())
                value = rootMeanSquare(statistics[index].l2, run.header().taps[index].width);
            cells[tap * columns + column] = value;
        }
    }
    return {taps, columns, std::move(cells)};
}

std::size_t HeatGrid::levelColumns(std::size_t level) const
{
    return (m_columns + (std::size_t{1} << level) - 1) >> level;
}

std::size_t HeatGrid::levelFor(double columnsPerPixel) const
{
    std::size_t level = 0;
    while (level + 1 < m_levels.size()
           && static_cast<double>(std::size_t{2} << level) <= columnsPerPixel)
        ++level;
    return level;
}

void HeatGrid::poolRows(std::size_t level, std::size_t rowBegin, std::size_t rowEnd,
                        std::size_t begin, std::size_t end, std::vector<float>& out) const
{
    const std::size_t width = levelColumns(level);
    const std::vector<float>& cells = m_levels[level];
    out.resize(width);
    std::copy_n(&cells[rowBegin * width + begin], end - begin, &out[begin]);
    for (std::size_t row = rowBegin + 1; row < rowEnd; ++row) {
        const float* line = &cells[row * width];
        for (std::size_t column = begin; column < end; ++column)
            out[column] = std::max(out[column], line[column]);
    }
}

} // namespace moire::widgets
