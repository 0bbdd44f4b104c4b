// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// A measure of the matrix: its id, and the id that is its value with the runs swapped.
struct MatrixMeasure
{
    std::string_view id;
    std::string_view swapped;
    bool largerIsCloser = false; ///< shares in percent
};
std::span<const MatrixMeasure> matrixMeasures();

/// One run against another, or against its own repeats.
struct MatrixCell
{
    std::vector<std::optional<double>> values; ///< parallel to matrixMeasures(); empty: `why`
    bool bitwiseEqual = false;
    std::string why; ///< why there is nothing to compare
};

/// Every run against every other.
struct RunMatrix
{
    std::vector<RunSummary> runs;
    std::vector<std::size_t> configuration; ///< one a run, counted from 0; equal: repeats
    /// runs × runs, row-major, row is the reference. The diagonal holds the noise floor: the worst
    /// against any repeat; empty values where there is none.
    std::vector<MatrixCell> cells;
    std::vector<std::vector<std::size_t>> clusters; ///< of bitwise equal runs, by their first
    std::vector<Measure> overAll;                   ///< G8, G9

    const MatrixCell& cell(std::size_t reference, std::size_t target) const
    {
        return cells[reference * runs.size() + target];
    }
};

/// Compares every pair once; what is not symmetric is taken from the measure with the runs swapped.
/// Runs whose environments are equal but for incidental fields are repeats of one configuration.
/// Errors: Invalid for fewer than two runs, Incomparable when no pair aligns, Cancelled, what
/// reading says. Progress counts pairs.
Result<RunMatrix> runMatrix(std::span<const trace::RunPointer> runs,
                            const AlignmentOptions& alignment, unsigned threads,
                            std::stop_token stop, base::Progress& progress);

} // namespace moire::diff
