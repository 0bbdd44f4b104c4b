// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/report/png.h"

#include <array>
#include <cstddef>
#include <string>

/// Colours of the divergence scale. Everything else's colours stand in resources/report/report.css.
namespace moire::report {

enum class Theme
{
    Light,
    Dark
};

/// What a cell of a map shows. The first three stand outside the scale; the scale's levels follow.
enum CellColour : std::uint8_t
{
    cellAbsent = 0, ///< not recorded or not comparable: transparent, the hatch shows through
    cellEqual = 1,
    cellUnmeasured = 2, ///< differs by its digest, size unknown
    cellScale = 3
};
inline constexpr std::size_t scaleLevels = paletteSize - cellScale;

std::array<Rgb, paletteSize> paletteOf(Theme theme);

/// "#e2eaf6".
std::string cssColour(Rgb colour);

/// Rules for the classes .c1 … .c15 (background and a text colour that can be read on it) and for
/// SVG fills .f1 … .f15, in both themes.
std::string scaleRules();

/// A logarithmic scale of whole decades over positive values.
class LogScale
{
public:
    /// From the smallest and largest value to show; at most `mostDecades` below the largest.
    LogScale(double smallest, double largest);
    /// Level of a value, 0 … scaleLevels − 1; what lies outside gets the nearest end, NaN the top.
    std::size_t levelOf(double value) const;
    int lowDecade() const { return m_low; }
    int highDecade() const { return m_high; }

private:
    static constexpr int mostDecades = 8;
    int m_low;
    int m_high;
};

} // namespace moire::report
