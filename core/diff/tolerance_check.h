// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"
#include "core/diff/site_values.h"
#include "core/diff/tolerance.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace moire::diff {

/// Whether a tolerance can be asked of these runs at all. Errors: Invalid for a pattern that
/// matches no tap, a criterion that can speak of none of its taps, a floor without a repeat, values
/// asked for where only digests are looked at.
Result<void> checkTolerance(const trace::Run& reference, const trace::Run& target,
                            const ComparisonOptions& options);

/// The element-wise criterion of every tap pair, null where it has none: what has to be read again
/// where a site differs. Empty without a tolerance.
std::vector<const Criterion*> elementwiseCriteria(const trace::Run& reference,
                                                  const Alignment& alignment,
                                                  const Tolerance* tolerance);

/// |t − r| ≤ atol + rtol·|r| over all elements that differ. NaN on both sides and equal infinities
/// pass; an element without counterpart is not judged.
ElementwiseCell checkElements(const SiteValues& values, const Criterion& criterion);

/// What the records say of a tolerance.
struct ToleranceFindings
{
    std::vector<CriterionOutcome> outcomes; ///< one a criterion, in the profile's order

    /// The first thing beyond the tolerance: a site, or a row's logits or router.
    struct First
    {
        std::size_t row = 0;
        std::optional<std::size_t> tapPair; ///< none: told by ids, below
        std::optional<std::size_t> router;  ///< router pair; neither: the logits
        std::string criterion;
    };
    std::optional<First> first;
    std::vector<GridPlace> beyond; ///< see Report::beyondTolerance
};
ToleranceFindings judge(const FoldView& view);

/// Sites that differ and of which the repeat tells no floor.
std::uint64_t sitesWithoutFloor(const FoldView& view);

/// The first site that differs by more than the noise floor; row and tap pair.
std::optional<std::pair<std::size_t, std::size_t>> firstBeyondFloor(const FoldView& view);

} // namespace moire::diff
