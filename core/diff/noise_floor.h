// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// How far two repeats of the reference's configuration differ: what no other run can be asked to
/// undercut. Made from a comparison of the reference with its repeat. Immutable.
///
/// By tap and position, since error grows with length: the floor at a position is the largest
/// relative L2 of that tap over all samples at that and all earlier positions. A position beyond
/// the repeat's last has the floor of the last.
class NoiseFloor
{
public:
    /// `repeat` is the report of reference against repeat, with its grid.
    static NoiseFloor of(const Report& repeat);

    /// None where the repeat has no values of that tap up to that position.
    std::optional<double> relativeL2(std::string_view tap, std::uint32_t position) const;
    /// A measure of the repeat's comparison; null when it has none of that id.
    const Measure* findMeasure(std::string_view id) const;
    /// The repeat's file.
    const std::string& source() const { return m_source; }
    bool bitwiseEqual() const { return m_bitwiseEqual; } ///< the repeat's rows are the reference's

private:
    struct Step
    {
        std::uint32_t position;
        double relativeL2;
    };
    std::map<std::string, std::vector<Step>, std::less<>> m_steps; ///< rising in both
    std::vector<Measure> m_measures;
    std::string m_source;
    bool m_bitwiseEqual = false;
};

} // namespace moire::diff
