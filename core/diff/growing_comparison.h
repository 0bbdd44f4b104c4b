// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/diff/comparison.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstddef>
#include <memory>

namespace moire::diff {

/// The fold of Comparison over two runs that still grow: each row pair is compared once, and stays
/// so in the snapshots that follow. Its report is Comparison's over the same pairs. One thread at a
/// time.
class GrowingComparison
{
public:
    explicit GrowingComparison(ComparisonOptions options);
    ~GrowingComparison();

    /// Takes later snapshots of the same runs, and their alignment. Pairs that stand in it too stay
    /// compared, others are forgotten: their values are read once more. O(rows). Errors: what the
    /// runs' readers say.
    Result<void> goOn(trace::RunPointer reference, trace::RunPointer target,
                      std::shared_ptr<const Alignment> alignment);

    /// Of the alignment's row pairs. Requires goOn().
    bool isCompared(std::size_t rowPair) const;
    /// Compares it, unless it has been. Errors: what the runs' readers say.
    Result<void> add(std::size_t rowPair);
    std::size_t count() const; ///< pairs compared
    /// Something that was compared differs: a tap, a table, a choice.
    bool differs() const;

    /// The report over the pairs compared, with `resamples` behind each interval. O(rows × taps).
    /// Requires goOn().
    Report report(unsigned resamples) const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace moire::diff
