// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/alignment.h"
#include "core/diff/comparison.h"
#include "core/diff/row_record.h"
#include "core/trace/run.h"

#include <optional>
#include <span>
#include <vector>

namespace moire::diff {

struct Criterion;

/// The row of a tap's values, from views that are asked for once and kept: consecutive rows cost
/// one look-up a piece. One thread.
class ValueCursor
{
public:
    explicit ValueCursor(const trace::Run& run)
        : m_run(&run)
        , m_views(run.header().taps.size())
    {}
    Result<const std::byte*> row(trace::TapIndex tap, trace::RowIndex r);

private:
    const trace::Run* m_run;
    std::vector<trace::ValueView> m_views; ///< empty (rowBegin = rowEnd) until asked for
};

/// Compares one row pair after the other. Keeps nothing of what it has compared. One thread.
class RowComparer
{
public:
    /// All three must outlive the comparer.
    RowComparer(const trace::Run& reference, const trace::Run& target, const Alignment& alignment,
                const ComparisonOptions& options);

    /// Errors: what the runs say; Damaged when values and digests of a site contradict each other.
    /// `sites`: fresh ones, one a tap pair, which the record then refers to.
    Result<RowRecord> compare(std::size_t rowPair, std::span<Site> sites);
    /// Whether roll-ups say that every tap of the pair is bitwise equal, and with them all that was
    /// recorded of the logits.
    bool equalByRollUp(std::size_t rowPair) const;

private:
    Result<void> compareSites(const RowPair& pair, RowRecord& record);
    Result<void> compareValues(const RowPair& pair, std::size_t tapPair, RowRecord& record);
    Result<void> checkTolerance(const RowPair& pair, std::size_t tapPair, RowRecord& record);
    Result<void> compareHead(const RowPair& pair, RowRecord& record);

    const trace::Run& m_reference;
    const trace::Run& m_target;
    const Alignment& m_alignment;
    bool m_hasValues;                  ///< both runs hold every value
    bool m_readsValues;                ///< and they are wanted
    std::optional<std::size_t> m_head; ///< the tap pair of lm_head.out
    bool m_rollUpsTell;                ///< the taps are the same ones in the same order
    bool m_comparesTables;             ///< both have top-K tables, and no filter leaves them out
    bool m_boundsTables;               ///< and what they bound is wanted, where no values are read
    numeric::LogitsDetail m_logitsDetail;
    std::vector<const Criterion*> m_elementwise; ///< by tap pair, null: none; empty: no tolerance
    ValueCursor m_referenceValues;
    ValueCursor m_targetValues;
};

/// The tap pair that holds the full-vocabulary logits, when it is compared.
std::optional<std::size_t> headPair(const trace::Run& reference, const Alignment& alignment);

} // namespace moire::diff
