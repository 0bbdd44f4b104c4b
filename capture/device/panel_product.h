// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/ordered_linear.h"
#include "capture/device/storage.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace moire::capture::device {

/// Steps of the inner index between which sums go through memory: keeps a panel in the first-level
/// cache. Does not change bits.
inline constexpr std::size_t blockDepth = 256;

constexpr std::size_t ceilDivide(std::size_t a, std::size_t b)
{
    return (a + b - 1) / b;
}

/// Some tiles of rows × some panels of outputs.
struct PanelProduct
{
    const PackedLinear* weight;
    const float* left;      ///< leftTiles() of all rows
    std::size_t rows;       ///< of all tiles
    std::size_t inputs;     ///< that `left` has
    std::size_t firstInput; ///< of the weight, which `left` begins with
    std::size_t tileBegin, tileEnd;
    std::size_t panelBegin, panelEnd;

    std::size_t rowBegin() const { return tileBegin * tileRows; }
    std::size_t rowEnd() const { return std::min(rows, tileEnd * tileRows); }
    std::size_t panels() const { return panelEnd - panelBegin; }
};

/// Rows (`inStride` elements apart, `inputs` wide) as tiles of six, inputs × 6, widened; the last
/// one is inputs × (rest).
std::unique_ptr<float[]> leftTiles(const void* in, numeric::DType inType, std::size_t inStride,
                                   std::size_t rows, std::size_t inputs, Workers& workers);

/// How a product is divided among threads. Does not change bits.
struct PieceGrid
{
    /// With at most `mostTiles` tiles and `mostPanels` panels in a piece.
    PieceGrid(std::size_t rows, std::size_t panels, std::size_t mostTiles, std::size_t mostPanels,
              unsigned threads);

    std::size_t count() const { return m_rowBlocks * m_panelBlocks; }
    /// Puts piece i into `product`; false where it is empty.
    bool place(std::size_t i, PanelProduct& product) const;

private:
    std::size_t m_tiles, m_panels;
    std::size_t m_rowBlocks, m_tilesEach;
    std::size_t m_panelBlocks, m_panelsEach;
};

} // namespace moire::capture::device
