// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/diff/alignment.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <memory>
#include <span>
#include <stop_token>

namespace moire::diff {

class Tolerance;
class NoiseFloor;

struct ComparisonOptions
{
    bool allowMissing = false; ///< unmatched taps, rows, samples do not make exit 1
    bool firstOnly = false;    ///< digests, tokens and top-K tables only; no value is read but of
                               ///< experts whose slots stand in another order
    /// Report::sites, logits and routes are filled, for views. False: they stay empty, each site is
    /// kept once, and with firstOnly rows of equal roll-ups are passed over: no measure is taken.
    bool grid = true;
    /// False: of the measures only those of a matrix are taken, which are quickly had (KLs and
    /// total variation of 16-bit logits by tables of e^x); the others have no value.
    bool everyMeasure = true;
    std::shared_ptr<const Tolerance> tolerance{}; ///< null: no value criterion, exit 1 is bitwise
    std::shared_ptr<const NoiseFloor> floor{};    ///< null: no repeat was given
    unsigned resamples = 10'000;                  ///< of the cluster bootstrap; 0: no intervals
    unsigned threads = 1; ///< of the resampling; compare() sets it, no result depends on it
};

/// A fold over row pairs. Made from two runs, their alignment and options; add() any pieces in any
/// order, merge() partial folds, report() at the end. Knows nothing of files, threads or screens.
/// The report does not depend on how the pairs were cut or merged: what is kept per row is summed
/// in row order at the end. One row more costs one row's work. Not thread-safe; one object a
/// thread, merged.
class Comparison
{
public:
    Comparison(trace::RunPointer reference, trace::RunPointer target,
               std::shared_ptr<const Alignment> alignment, ComparisonOptions options);
    Comparison(Comparison&&) noexcept;
    Comparison& operator=(Comparison&&) noexcept;
    ~Comparison();

    /// Compares the row pairs [begin, end) of alignment->rows. Errors: what the runs' readers say.
    Result<void> add(std::size_t begin, std::size_t end);
    /// Takes over what `other` (same runs, alignment and options) has compared. A pair compared in
    /// both is counted once.
    void merge(Comparison&& other);
    /// The report over the pairs added so far. Expensive parts are O(rows × taps).
    Report report() const&;
    /// The same, with the grid moved into it: nothing more can be added.
    Report report() &&;

    /// An empty fold over the same runs that keeps its sites in this one's memory: both may add
    /// different rows at the same time, and merging them copies nothing.
    Comparison sibling() const;

private:
    struct State;
    explicit Comparison(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

/// Aligns, compares everything with up to `threads` workers and reports. Cancelled when stopped.
Result<Report> compare(trace::RunPointer reference, trace::RunPointer target,
                       const AlignmentOptions& alignment, const ComparisonOptions& options,
                       unsigned threads, std::stop_token stop, base::Progress& progress);

} // namespace moire::diff
