// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/grid.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace moire::diff {

/// Two places of two sequences that hold the same id.
struct TokenMatch
{
    std::uint32_t reference = 0;
    std::uint32_t target = 0;
    friend bool operator==(const TokenMatch&, const TokenMatch&) = default;
};

/// A longest common subsequence of two id sequences, exact, in ascending order; of several as long
/// one in which equal neighbours stay together. Bit-parallel (Hyyrö 2004: one addition a 64-bit
/// word) in linear space by halving (Hirschberg 1975): about 2·n·m/64 word steps and 12 bytes a
/// token.
std::vector<TokenMatch> longestCommonSubsequence(std::span<const std::int32_t> reference,
                                                 std::span<const std::int32_t> target);

/// After a split shorter runs of equal ids mean nothing.
inline constexpr std::uint32_t trustedRun = 8;

/// How the tokens of one sample correspond by their ids.
struct TokenAlignment
{
    std::optional<std::uint32_t> split; ///< first index whose ids differ; none: one is a prefix
    std::optional<std::uint32_t> targetSplit; ///< the same place in the target
    /// The equal beginning, then runs of at least trustedRun ids found by re-alignment.
    std::vector<TokenBlock> blocks;
};
TokenAlignment alignTokens(std::span<const std::int32_t> reference,
                           std::span<const std::int32_t> target);

} // namespace moire::diff
