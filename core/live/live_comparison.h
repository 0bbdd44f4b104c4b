// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/diff/alignment.h"
#include "core/diff/comparison.h"
#include "core/trace/run.h"

#include <cstdint>
#include <memory>
#include <stop_token>

namespace moire::live {

/// Compares two runs while they grow. A pair of rows is compared once, when both are there and the
/// tokens that follow them are known. The report over two finished runs is the one that
/// diff::compare() makes of them. Synchronous; one thread at a time.
class LiveComparison
{
public:
    LiveComparison(diff::AlignmentOptions alignment, diff::ComparisonOptions options);
    ~LiveComparison();

    /// A snapshot, and whether more may come after it. A run may be null while nothing has come.
    struct Side
    {
        trace::RunPointer run;
        bool over = false;
    };
    struct Step
    {
        std::uint64_t compared = 0; ///< pairs of rows, in all
        std::uint64_t added = 0;    ///< by this step
        bool differs = false;       ///< some of them differs, or the tokens part
    };
    /// Takes the snapshots, which never are older than those before, and compares what is new in
    /// them. Errors: those that more rows cannot heal: a pattern or mapping that meets nothing, no
    /// tap in common, Damaged, Cancelled; and once both sides are over whatever diff::align() says.
    Result<Step> advance(const Side& reference, const Side& target, std::stop_token stop,
                         base::Progress& progress);

    /// Whether a report can be had: some pair of rows has been compared.
    bool hasReport() const;
    /// The report over what has been compared. While the runs grow it has no intervals. Costs
    /// O(rows × taps). Requires hasReport().
    diff::Report report() const;
    /// The snapshots that the report speaks of.
    trace::RunPointer reference() const;
    trace::RunPointer target() const;

    /// Nothing that can still come makes the exit status another one: something differs by the
    /// criterion, or both sides are over. Makes a report where a tolerance has to be asked.
    bool isCertain() const;

private:
    class State;
    std::unique_ptr<State> m_state;
};

} // namespace moire::live
