// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/run.h"

#include <cstdint>
#include <filesystem>

namespace moire::bench {

/// What a large capture looks like; all taps but the last, lm_head.out, are of one width.
struct SparseShape
{
    std::uint64_t rows = 0;
    std::uint32_t taps = 0;
    std::uint32_t width = 0;
    std::uint32_t vocabulary = 0;
};

/// Writes a complete capture of level full whose values are all 0 and take no room on disk (the
/// places of their chunks are never written); all other tables are real: digests, roll-ups, counts,
/// statistics, top-K tables, tokens, the vocabulary. `different`: one element of the last row, in
/// the tap before the head, is not 0. Any chunking that the format allows.
Result<void> writeSparseCapture(const std::filesystem::path& path, const SparseShape& shape,
                                bool different);

} // namespace moire::bench
