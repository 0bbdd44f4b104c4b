// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/report/palette.h"
#include "core/trace/run.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace moire::report {

/// The columns of a map: every compared row pair, sample after sample, and behind each sample as
/// many as follow its split, which stand for nothing.
struct MapColumns
{
    static constexpr std::size_t notComparable = static_cast<std::size_t>(-1);
    std::vector<std::size_t> pairs;       ///< index into report.rows, or notComparable
    std::vector<std::uint32_t> positions; ///< parallel to pairs
    struct Group
    {
        std::string sample;
        std::size_t begin, end; ///< columns, half-open
    };
    std::vector<Group> groups;
};
MapColumns mapColumns(const diff::Report& report, const trace::Run& reference,
                      const trace::Run& target);

/// A map made small: each cell is the worst of the cells it stands for, so that a difference never
/// vanishes.
struct PooledMap
{
    IndexedPicture picture;      ///< CellColour and up
    std::size_t columnCount = 0; ///< before pooling
    std::size_t rowCount = 0;
    std::string lowText, highText; ///< the ends of its scale
    /// Per level of the scale, what a cell of it holds: "1e-3 to 1.6e-3".
    std::array<std::string, scaleLevels> levelTexts;
    bool hasMeasured = false;
    bool hasUnmeasured = false;
    bool hasNotFinite = false;
    bool hasAbsent = false;

    /// Place of an original column or row in the picture, in pixels from its start.
    /// What a cell of cellUnmeasured means: its values were not recorded, or nothing in it is
    /// finite.
    std::string unmeasuredWords() const;
    double xOf(std::size_t column) const;
    double yOf(std::size_t row) const;
};

/// Taps × columns, coloured by relative L2 as in the window (where NaN or infinity meets another
/// class, the scale's top).
PooledMap tapMap(const diff::Report& report, const MapColumns& columns);

/// Routers × columns, coloured by the number of experts replaced as in the window.
PooledMap routeMap(const diff::Report& report, const MapColumns& columns);

/// Which of `count` columns or rows of a map with `pixels` belongs to place `at`.
std::size_t pooledPlace(std::size_t at, std::size_t count, std::size_t pixels);

} // namespace moire::report
