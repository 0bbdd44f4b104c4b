// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <string>
#include <vector>

namespace moire::diff {

/// How two runs are laid over each other: which rows, taps and routers stand for the same thing,
/// and what is left over. Depends on metadata and tokens only, never on values.
struct Alignment
{
    std::vector<RowPair> rows; ///< sample order of the reference, then position
    std::vector<TapPair> taps; ///< execution order of the reference
    std::vector<std::pair<std::size_t, std::size_t>> routers;
    bool comparesLogits = false; ///< both have top-K tables and no pattern leaves lm_head.out out
    AlignmentSummary summary;
    /// Per compared sample of the reference: both sample indices and where the tokens part.
    struct SamplePair
    {
        trace::SampleIndex reference{};
        trace::SampleIndex target{};
        std::optional<std::uint32_t> split; ///< first position whose tokens differ
    };
    std::vector<SamplePair> samples;
};

/// Patterns of the taps to compare; empty: all.
struct AlignmentOptions
{
    std::vector<std::string> tapPatterns;
};

/// Identity alignment: samples by id and repeat, rows by position as long as the tokens up to and
/// including that position are equal, taps by name and width. Errors: Invalid for a pattern that
/// matches no tap of either run; Incomparable when no row or no tap aligns.
Result<Alignment> align(const trace::Run& reference, const trace::Run& target,
                        const AlignmentOptions& options);

} // namespace moire::diff
