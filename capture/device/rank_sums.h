// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <span>

namespace moire::capture::device {

/// Partial sums of several ranks, buffers of one dtype, put together element by element; sums are
/// made in fp32 and rounded to nearest, ties to even, NaN to its one form. `out` is of the same
/// dtype. On one thread: callers divide the elements.

/// Elements [begin, end): ((p₀ + p₁) + p₂) + … in the order given, rounded after each sum, or once
/// after the last.
enum class RankRounding
{
    Each,
    Once
};
void sumInOrder(std::span<const void* const> partials, numeric::DType type, std::size_t begin,
                std::size_t end, RankRounding rounding, void* out);

/// Elements [begin, end): (p₀ + p₁) + (p₂ + p₃), …, rounded after each sum. A power of two of them.
void sumAsTree(std::span<const void* const> partials, numeric::DType type, std::size_t begin,
               std::size_t end, void* out);

/// Elements [begin, end) of fp32 values rounded to `outType`.
void narrowElements(const float* in, numeric::DType outType, std::size_t begin, std::size_t end,
                    void* out);

} // namespace moire::capture::device
