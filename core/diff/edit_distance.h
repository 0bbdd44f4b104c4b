// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

namespace moire::diff {

/// Levenshtein's distance of two id sequences: insertions, deletions and replacements, one each.
/// Bit-parallel in blocks of 64 (Myers 1999; Hyyrö 2003): |a|·|b|/64 steps after what both ends
/// share, memory linear in |a| + |b|.
std::uint64_t editDistance(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

} // namespace moire::diff
