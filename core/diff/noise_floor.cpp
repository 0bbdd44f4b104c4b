// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"

#include <algorithm>
#include <cmath>

namespace moire::diff {

NoiseFloor NoiseFloor::of(const Report& repeat)
{
    NoiseFloor floor;
    floor.m_measures = repeat.measures;
    floor.m_source = repeat.target.file;
    floor.m_bitwiseEqual = !repeat.first.bitwise;
    if (repeat.sites.size() != repeat.rows.size() * repeat.tapPairs.size())
        return floor; // made without its grid: nothing is known by position
    for (std::size_t tap = 0; tap < repeat.tapPairs.size(); ++tap) {
        std::map<std::uint32_t, double> largest; // by position
        for (std::size_t row = 0; row < repeat.rows.size(); ++row) {
            const Site& site = repeat.site(row, tap);
            if (!site.valuesCompared)
                continue;
            const double here = site.relativeL2();
            double& known = largest.try_emplace(repeat.rows[row].position, 0.0).first->second;
            if (std::isfinite(here))
                known = std::max(known, here);
        }
        std::vector<Step>& steps = floor.m_steps[repeat.taps[tap].name];
        for (const auto& [position, value] : largest)
            if (steps.empty() || value > steps.back().relativeL2)
                steps.push_back({position, value});
    }
    return floor;
}

std::optional<double> NoiseFloor::relativeL2(std::string_view tap, std::uint32_t position) const
{
    const auto found = m_steps.find(tap);
    if (found == m_steps.end())
        return std::nullopt;
    const std::vector<Step>& steps = found->second;
    const auto after =
        std::partition_point(steps.begin(), steps.end(),
                             [position](const Step& step) { return step.position <= position; });
    return after == steps.begin() ? std::nullopt : std::optional((after - 1)->relativeL2);
}

const Measure* NoiseFloor::findMeasure(std::string_view id) const
{
    const auto at = std::find_if(m_measures.begin(), m_measures.end(),
                                 [id](const Measure& measure) { return measure.id == id; });
    return at == m_measures.end() ? nullptr : &*at;
}

} // namespace moire::diff
