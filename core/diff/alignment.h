// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

#include <memory>
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
        std::vector<TokenBlock> blocks;
        std::optional<std::uint32_t> targetSplit; ///< the same place in the target
        std::uint64_t notComparable = 0;          ///< rows of both runs that have another context
    };
    std::vector<SamplePair> samples;
};

class TapMapping;

/// A pair of positions of one sample that the user says stand for each other.
struct AlignmentPoint
{
    std::string sample; ///< name in the reference, see sampleName()
    std::uint32_t reference = 0;
    std::uint32_t target = 0;
};

struct AlignmentOptions
{
    std::vector<std::string> tapPatterns{};      ///< taps to compare; empty: all
    std::vector<std::string> samplePatterns{};   ///< samples to compare, by id; empty: all
    std::shared_ptr<const TapMapping> mapping{}; ///< the user's own; null: only what is built in
    std::vector<AlignmentPoint> points{};
    /// Rows of the reference to compare, by row number; null: all. A row left out so is neither
    /// compared nor missing.
    std::shared_ptr<const std::vector<bool>> rows{};
    /// Rows may still come: what has no counterpart yet is not missing, nor is a run incomplete.
    bool growing = false;
};

/// Samples by id and prompt whatever their order. Rows by position as long as the tokens up to and
/// including that position are equal; by the bytes of the text where the tokenizers differ or a
/// prompt was tokenised again; from a manual point on as long as the tokens are equal. Taps by
/// mapping, name, other engines' names, and slices of fused projections. Errors: Invalid for a
/// pattern, a mapping or a point that meets nothing; Damaged for a row at a position without a
/// token; Incomparable when no row or no tap aligns.
Result<Alignment> align(const trace::Run& reference, const trace::Run& target,
                        const AlignmentOptions& options);

} // namespace moire::diff
