// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace moire::diff {

std::string_view nameOf(Origin origin)
{
    switch (origin) {
    case Origin::Introduced:
        return "introduced";
    case Origin::Carried:
        return "carried";
    case Origin::Unknown:
        break;
    }
    return "unknown";
}

double Site::relativeL2() const
{
    if (sumSquares == 0)
        return 0;
    return std::sqrt(sumSquares / referenceSquares);
}

// With R = Σr², T = Σt², D = Σ(t−r)²: ‖r̂−t̂‖² = (D − (√R−√T)²) / √(RT). D is small where the rows
// are close, so nothing cancels that 1 − cos would lose.
double Site::oneMinusCosine() const
{
    const double reference = std::sqrt(referenceSquares);
    const double targetNorm = std::sqrt(targetSquares);
    if (reference == 0 || targetNorm == 0)
        return std::numeric_limits<double>::quiet_NaN();
    const double stretch = reference - targetNorm;
    const double value = (sumSquares - stretch * stretch) / (2 * reference * targetNorm);
    return value < 0 ? 0.0 : value; // NaN, where a sum has overflowed, stays
}

const Measure* Report::findMeasure(std::string_view id) const
{
    const auto find = [this](std::string_view wanted) -> const Measure* {
        const auto at = std::find_if(measures.begin(), measures.end(),
                                     [&](const Measure& m) { return m.id == wanted; });
        return at == measures.end() ? nullptr : &*at;
    };
    if (const Measure* measure = find(id))
        return measure;
    // Without brackets means k = 5, and the other way round.
    constexpr std::string_view five = "[k=5]";
    return id.ends_with(five) ? find(id.substr(0, id.size() - five.size())) : nullptr;
}

} // namespace moire::diff
