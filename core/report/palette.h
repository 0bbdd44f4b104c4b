// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/report/decades.h"
#include "core/report/png.h"

#include <array>
#include <cstddef>
#include <string>

/// Colours of the divergence scale, the page's and the window's. All other colours stand in
/// resources: report/report.css and palettes/.
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
    cellUnmeasured = 2, ///< differs by its digest, size unknown; or nothing finite, so no size
    cellScale = 3
};
inline constexpr std::size_t scaleLevels = paletteSize - cellScale;

/// What a theme colours cells with.
struct MapColours
{
    Rgb equal;                ///< outside the scale
    Rgb unmeasured;           ///< likewise
    std::array<Rgb, 6> scale; ///< small to large differences; straight between them
};
const MapColours& mapColours(Theme theme);

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
    explicit LogScale(DecadeRange range)
        : m_low(range.low)
        , m_high(range.high)
    {}
    /// Level of a value, 0 … scaleLevels − 1; what lies outside gets the nearest end, NaN the top.
    std::size_t levelOf(double value) const;
    int lowDecade() const { return m_low; }
    int highDecade() const { return m_high; }

private:
    static constexpr int mostDecades = 8;
    int m_low;
    int m_high;
};

/// Where 1 stands on a scale of counts, from 0 to 1: one replaced expert is no small thing.
inline constexpr double firstCount = 0.4;
/// Level of a count from 1 to `largest`, in equal steps from `firstCount` to the top.
std::size_t countLevel(std::size_t count, std::size_t largest);

} // namespace moire::report
