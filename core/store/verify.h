// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::store {

/// Something in a capture file that disagrees with something else in it.
struct Finding
{
    std::string place;    ///< "/values/model.layers.3.out, row 17"
    std::string sentence; ///< "the values do not give the recorded row digest"
};

struct VerifyOptions
{
    std::size_t limit = 100; ///< of findings; the walk ends early there
    unsigned threads = 1;    ///< no finding depends on it
};

/// Reads a whole capture file and holds it against itself: table digests, roll-ups, side digests,
/// row digests, counts and statistics from the values, the top-K table and ranks from the logits,
/// experts and their weights from the router's logits (router_checks.h), every index in range.
/// Empty: sound (an incomplete file is, as far as its committed rows go). In row order. Error: the
/// file cannot be read as a capture at all, or Cancelled. Progress counts rows.
Result<std::vector<Finding>> verify(const std::filesystem::path& path, std::stop_token stop,
                                    base::Progress& progress, const VerifyOptions& options = {});

} // namespace moire::store
