// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"

#include <cstddef>
#include <stop_token>
#include <vector>

namespace moire::widgets {

/// Cells (see measure.h) of `rows` taps × `columns` token positions, with coarser levels for
/// drawing. Level n holds the maximum of 2ⁿ neighbouring columns; rows are few and stay as they
/// are. Immutable once made; made off the GUI thread.
class HeatGrid
{
public:
    HeatGrid() = default;
    /// `cells`: rows × columns, row-major.
    HeatGrid(std::size_t rows, std::size_t columns, std::vector<float> cells);

    /// The tap cells of one sample. Cancelled: an empty grid.
    static HeatGrid ofTaps(const Compared& compared, std::size_t sample, HeatMeasure measure,
                           std::stop_token stop);
    /// Experts replaced per MoE layer (rows) of one sample.
    static HeatGrid ofRoutes(const Compared& compared, std::size_t sample);

    std::size_t rows() const { return m_rows; }
    std::size_t columns() const { return m_columns; }
    bool isEmpty() const { return m_rows == 0 || m_columns == 0; }
    float at(std::size_t row, std::size_t column) const
    {
        return m_levels.front()[row * m_columns + column];
    }

    /// What one run's values measure at each site of a sample: their root mean square, 0 for all
    /// zeros, infinity where one is not finite. From the statistics that captures keep of each row.
    static HeatGrid ofValues(const Compared& compared, std::size_t sample, bool target,
                             std::stop_token stop);

    /// Whether any cell is `code`: cell::notComparable, cell::notRecorded, cell::unsized or
    /// cell::notFinite.
    bool holds(float code) const
    {
        return code == cell::notComparable ? m_notComparable
               : code == cell::unsized     ? m_unsized
               : code == cell::notFinite   ? m_notFinite
                                           : m_notRecorded;
    }
    /// Something differs and nothing has a size: bits are equal or not, and that is all.
    bool isOfBits() const { return (m_unsized || m_notFinite) && !m_sized; }

    /// Per token position the largest cell of its column.
    const std::vector<float>& columnMaxima() const { return m_columnMaxima; }
    /// Per token position the first row that differs; rows() where none does.
    const std::vector<std::size_t>& firstDifferent() const { return m_firstDifferent; }

    /// The finest level whose cells are no narrower than `columnsPerPixel` / 2.
    std::size_t levelFor(double columnsPerPixel) const;
    std::size_t levelColumns(std::size_t level) const;
    /// Into out[levelColumns(level)]: the maxima over rows [rowBegin, rowEnd), at most to column
    /// range [begin, end) of that level.
    void poolRows(std::size_t level, std::size_t rowBegin, std::size_t rowEnd, std::size_t begin,
                  std::size_t end, std::vector<float>& out) const;

private:
    std::size_t m_rows = 0;
    std::size_t m_columns = 0;
    std::vector<std::vector<float>> m_levels;
    bool m_notComparable = false, m_notRecorded = false, m_unsized = false, m_notFinite = false,
         m_sized = false;
    std::vector<float> m_columnMaxima;
    std::vector<std::size_t> m_firstDifferent;
};

} // namespace moire::widgets
