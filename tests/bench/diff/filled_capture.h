// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace moire::bench {

/// A capture of bf16 taps full of normal deviates, digests right: samples of `rowsPerSample` rows.
struct FilledShape
{
    std::uint64_t rows = 0;
    std::uint32_t taps = 0;
    std::uint32_t width = 0;
    std::uint32_t rowsPerSample = 32;
};

/// `noise`: standard deviation of what is added to the deviates, which are the same every time.
Result<void> writeFilledCapture(const std::filesystem::path& path, const FilledShape& shape,
                                float noise);

} // namespace moire::bench
