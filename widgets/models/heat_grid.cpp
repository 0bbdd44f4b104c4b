// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/heat_grid.h"

#include <algorithm>

namespace moire::widgets {

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

bool HeatGrid::holds(float value) const
{
    const std::vector<float>& cells = m_levels.front();
    return std::find(cells.begin(), cells.end(), value) != cells.end();
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
