// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// How far two repeats of the reference's configuration differ: what no other run can be asked to
/// undercut. Made from a comparison of the reference with its repeat. Immutable.
///
/// By tap and position, since error grows with length: the floor at a position is the largest
/// relative L2 of that tap over all samples at that and all earlier positions. A position beyond
/// the last at which the repeat was compared has none.
class NoiseFloor
{
public:
    /// `repeat` is the report of reference against repeat, with its grid.
    static NoiseFloor of(const Report& repeat);

    /// None where the repeat has no values of that tap up to that position, or ends before it.
    std::optional<double> relativeL2(std::string_view tap, std::uint32_t position) const;
    /// A measure of the repeat's comparison; null when it has none of that id.
    const Measure* findMeasure(std::string_view id) const;
    /// The repeat's file.
    const std::string& source() const { return m_source; }
    bool bitwiseEqual() const { return m_bitwiseEqual; } ///< the repeat's rows are the reference's
    /// In what the repeat was not made like the reference.
    const std::vector<EnvironmentDifference>& environmentDifferences() const
    {
        return m_environmentDifferences;
    }

private:
    struct Step
    {
        std::uint32_t position;
        double relativeL2;
    };
    struct Curve
    {
        std::vector<Step> steps; ///< rising in both
        std::uint32_t last = 0;  ///< position
    };
    std::map<std::string, Curve, std::less<>> m_curves; ///< by the tap's name
    std::vector<EnvironmentDifference> m_environmentDifferences;
    std::vector<Measure> m_measures;
    std::string m_source;
    bool m_bitwiseEqual = false;
};

/// Compares the reference with the repeat and makes the floor for a comparison with `target`.
/// Errors: Invalid where the repeat is the reference's or the target's own file, or a run of other
/// weights or of another architecture, or has nothing in common with the reference; what compare()
/// says otherwise.
Result<std::shared_ptr<const NoiseFloor>>
measureFloor(const trace::RunPointer& reference, const trace::Run& target,
             const trace::RunPointer& repeat, const AlignmentOptions& alignment, unsigned threads,
             std::stop_token stop, base::Progress& progress);

} // namespace moire::diff
