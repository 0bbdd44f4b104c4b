// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moire::trace {

/// Routing of `rows` rows of one MoE layer, row-major.
struct RoutingBlock
{
    std::vector<std::int32_t> ids;  ///< rows × k
    std::vector<std::byte> weights; ///< rows × k of RouterLayer::weightType
    std::vector<std::byte> logits;  ///< rows × E of RouterLayer::logitType
    std::vector<float> scores;      ///< rows × E, or empty
};

/// The top-K tables of `rows` rows, row-major.
struct TopKBlock
{
    std::vector<std::int32_t> ids;     ///< rows × K
    std::vector<float> values;         ///< rows × K
    std::vector<double> logSumExp;     ///< rows
    std::vector<double> remainingMass; ///< rows
    std::vector<std::int32_t> askedIds;
    std::vector<float> askedValues;
};

/// Some rows on their way into a run, made by a TapSink, an importer or a test, consumed once.
/// Everything is row-major with rows.size() rows.
struct RowBlock
{
    std::vector<Row> rows;
    std::vector<std::vector<std::byte>>
        values; ///< one entry a tap, rows × rowBytes(); all empty below level full
    std::vector<std::uint64_t> digests; ///< rows × taps
    std::vector<Counts> counts;         ///< rows × taps
    std::vector<Statistics> statistics; ///< rows × taps; empty at level digest
    std::vector<RoutingBlock> routing;  ///< one entry a router
    TopKBlock topK;                     ///< empty when header.logits.vocabulary is 0
};

/// Digest, counts and statistics of one row of a tap, on the host (the device kernels' CPU twin).
/// Mean and L2: fp64 sums in element order, rounded once to fp32.
struct RowSummary
{
    std::uint64_t digest;
    Counts counts;
    Statistics statistics;
};
RowSummary summarise(const std::byte* data, numeric::DType dtype, std::size_t width);

/// Fills digests, counts, statistics from values, and every rollUp from the digests. For makers of
/// blocks that hold values (importers, tests); the engine computes these on its device.
void summariseBlock(const RunHeader& header, RowBlock& block);

/// Fills every rows[i].rollUp from block.digests.
void rollUpBlock(const RunHeader& header, RowBlock& block);

/// Checks every size of `block` against `header`; Invalid names the first that is wrong.
Result<void> checkBlock(const RunHeader& header, const RowBlock& block);

/// The top-K table entries, log-sum-exp (fp64, max subtracted, element order) and remaining mass of
/// one row of logits, appended to `block`; and the score of `nextToken` (−1: none).
TokenScore appendTopK(const LogitsInfo& info, const std::byte* logits, std::int32_t nextToken,
                      TopKBlock& block);

} // namespace moire::trace
