// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/panel_product.h"

namespace moire::capture::device {

namespace {

/// Rows [first, first + height) as inputs × height, widened.
template <class T>
void packTile(const T* in, std::size_t stride, std::size_t first, std::size_t height,
              std::size_t inputs, float* tile)
{
    for (std::size_t m = 0; m < height; ++m) {
        const T* row = in + (first + m) * stride;
        for (std::size_t k = 0; k < inputs; ++k)
            tile[k * height + m] = widened(row[k]);
    }
}

} // namespace

std::unique_ptr<float[]> leftTiles(const void* in, numeric::DType inType, std::size_t inStride,
                                   std::size_t rows, std::size_t inputs, Workers& workers)
{
    auto left = std::make_unique_for_overwrite<float[]>(rows * inputs + 1);
    withStorage(inType, [&](auto t) {
        const auto* data = static_cast<const decltype(t)*>(in);
        workers.run(ceilDivide(rows, tileRows), [&](std::size_t i) {
            const std::size_t row = i * tileRows;
            packTile(data, inStride, row, std::min(tileRows, rows - row), inputs,
                     left.get() + row * inputs);
        });
    });
    return left;
}

PieceGrid::PieceGrid(std::size_t rows, std::size_t panels, std::size_t mostTiles,
                     std::size_t mostPanels, unsigned threads)
    : m_tiles(ceilDivide(rows, tileRows))
    , m_panels(panels)
    , m_rowBlocks(ceilDivide(m_tiles, mostTiles))
    , m_tilesEach(ceilDivide(m_tiles, m_rowBlocks))
{
    const std::size_t shares = 4UL * threads; // pieces a thread, so that they end together
    m_panelsEach = std::clamp<std::size_t>(panels / shares, 1, mostPanels);
    m_panelBlocks = ceilDivide(panels, m_panelsEach);
}

bool PieceGrid::place(std::size_t i, PanelProduct& product) const
{
    product.tileBegin = i % m_rowBlocks * m_tilesEach;
    product.tileEnd = std::min(m_tiles, product.tileBegin + m_tilesEach);
    product.panelBegin = i / m_rowBlocks * m_panelsEach;
    product.panelEnd = std::min(m_panels, product.panelBegin + m_panelsEach);
    return product.tileBegin < m_tiles;
}

} // namespace moire::capture::device
