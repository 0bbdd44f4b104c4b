// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Several targets against one reference: METRICS.md, Studies.
namespace moire::diff {

/// One target: its comparison with the reference and the run itself. Both outlive the call. What is
/// paired has to be over the same rows: make the comparisons with sharedRows().
struct StudyTarget
{
    const Report& report;
    const trace::Run& run;
    std::uint64_t rows = 0; ///< that it has in common with the reference; 0: those of the report
};

/// The rows of the reference that have a counterpart in every target.
struct SharedRows
{
    std::shared_ptr<const std::vector<bool>> rows; ///< for AlignmentOptions::rows
    std::uint64_t count = 0;
    std::vector<std::uint64_t> ofTarget; ///< rows each target has in common with the reference
};
/// Errors: as align(), with the target's name; Incomparable when no row stands in all of them.
Result<SharedRows> sharedRows(const trace::Run& reference,
                              std::span<const trace::Run* const> targets,
                              const AlignmentOptions& options);

struct StudyOptions
{
    unsigned resamples = 10'000;
    unsigned threads = 1;
    std::size_t baseline = 0;        ///< the target that the others are held against
    std::optional<std::size_t> full; ///< of K3: the target with everything in full; none: no K3
};

/// A number with its interval; absent when it is not known, `why` then says so.
struct Estimate
{
    std::optional<double> value;
    std::optional<Interval> interval;
    std::string why;
};

/// One measure over all targets.
struct StudyRow
{
    std::string id, name, unit;
    std::string changeUnit;       ///< "points", "%", or what changeUnitOf() says
    std::vector<Estimate> values; ///< one a target, each from the samples that all targets share
    /// Against the baseline, one a target, paired, in changeUnit: see ChangeKind.
    std::vector<Estimate> changes;
    /// The same as counts (Σ numerators), for shares only.
    std::vector<Estimate> countChanges;
    std::vector<Estimate> reductions; ///< K2, of the measures of reducedMeasures() only
    std::vector<Estimate> retained;   ///< K3, likewise
    std::vector<std::optional<double>> gainPerCost; ///< K5: K2 / (K1 − 1), likewise
};

/// K4: how two measures judge the targets.
struct Disagreement
{
    std::uint64_t compared = 0; ///< targets for which both K2 are known
    std::uint64_t signs = 0;    ///< of those, K2 has another sign
    std::uint64_t certain = 0;  ///< of those, neither interval holds 0
};

struct StudyReport
{
    std::string reference;
    std::vector<std::string> targets;
    std::uint64_t samples = 0;                    ///< that the reference shares with all targets
    std::vector<std::uint64_t> samplesOf, rowsOf; ///< that each target shares with the reference
    std::vector<std::uint64_t> rowsUsed;          ///< and the rows behind its numbers
    std::vector<StudyRow> rows;                   ///< in METRICS.md order
    std::vector<std::string> reduced;             ///< ids behind the matrix
    std::vector<std::vector<Disagreement>> disagreement; ///< K4: reduced × reduced
    std::vector<std::optional<double>> cost;             ///< K1, one a target
    std::vector<std::size_t> paretoFront; ///< K5: targets, cheapest first, that none beats in both
                                          ///< cost and forward KL
    std::vector<Measure> overAll;         ///< G8, G9, K4, L2, L6
};

/// The measures that K2 to K5 are made of.
std::span<const std::string_view> reducedMeasures();

/// Errors: Invalid without targets, for an index out of range, and for reports that were not made
/// against the same reference or without intervals' sums; Incomparable when no sample is shared.
Result<StudyReport> study(const trace::Run& reference, std::span<const StudyTarget> targets,
                          const StudyOptions& options);

/// G8 and G9 over runs of several configurations, the samples matched by id and repeat.
std::vector<Measure> measuresOverRuns(std::span<const trace::Run* const> runs);

/// The names that the paper's own code gives to measures of METRICS.md (its section Studies).
struct PaperName
{
    std::string_view name;
    std::string_view id;
};
std::span<const PaperName> paperNames();

} // namespace moire::diff
