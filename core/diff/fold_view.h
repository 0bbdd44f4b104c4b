// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/alignment.h"
#include "core/diff/comparison.h"
#include "core/diff/row_record.h"
#include "core/trace/run.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moire::diff {

/// What the makers of a report read: the runs' metadata, the alignment, and one record a row pair
/// (null where the pair has not been compared yet). Everything outlives the view.
struct FoldView
{
    const trace::Run& reference;
    const trace::Run& target;
    const Alignment& alignment;
    const ComparisonOptions& options;
    std::vector<const RowRecord*> records; ///< parallel to alignment.rows
    std::optional<std::size_t> head;       ///< tap pair of lm_head.out
    std::size_t rowBegin = 0;              ///< the row pairs that measures are taken over
    std::size_t rowEnd = 0;                ///< half-open
    /// Of the reference's samples, as sites have them; by sample.
    std::shared_ptr<const std::vector<std::string>> sampleNames{};

    const std::string& nameOfSample(trace::SampleIndex sample) const
    {
        return (*sampleNames)[indexOf(sample)];
    }

    const trace::Tap& tap(std::size_t tapPair) const
    {
        return reference.header().taps[indexOf(alignment.taps[tapPair].reference)];
    }
    const trace::Tap& targetTap(std::size_t tapPair) const
    {
        return target.header().taps[indexOf(alignment.taps[tapPair].target)];
    }
    const trace::RouterLayer& router(std::size_t routerPair) const
    {
        return reference.header().routers[alignment.routers[routerPair].first];
    }
    const trace::Sample& sampleOf(std::size_t row) const
    {
        return reference.samples()[indexOf(alignment.rows[row].sample)];
    }
    /// SITE of a row and a tap name: sample/position/tap.
    std::string site(std::size_t row, const std::string& tapName) const
    {
        return nameOfSample(alignment.rows[row].sample) + '/'
               + std::to_string(alignment.rows[row].position) + '/' + tapName;
    }
    /// Calls visit(row, record) for every compared row pair of the range, in row order.
    template <class Visit>
    void forEachRow(Visit visit) const
    {
        for (std::size_t row = rowBegin; row < rowEnd; ++row)
            if (records[row] != nullptr)
                visit(row, *records[row]);
    }
};

} // namespace moire::diff
