// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moire::numeric {

/// One entry of a top-K list.
struct Ranked
{
    std::int32_t id;
    float value;
};

/// The k largest of `values[0..count)`, descending; equal values rank by ascending id, −0 equals
/// +0; NaN ranks below −Inf (and by ascending id among themselves). Fewer when count < k.
/// O(count·log k).
std::vector<Ranked> topK(const float* values, std::size_t count, std::size_t k);

/// The same of a row of any dtype, by its elements rounded to fp32. Finite rows of bf16, fp16 and
/// fp32 are read twice at the speed of memory and hardly sorted.
std::vector<Ranked> topK(const std::byte* data, DType dtype, std::size_t count, std::size_t k);

/// The same of a finite row whose chunks' largest elements are known (LogitsPeaks); empty: they are
/// not.
std::vector<Ranked> topK(const std::byte* data, DType dtype, std::size_t count, std::size_t k,
                         std::span<const float> peaks);

/// The ids of the whole row in the order of topK, in linear time however many tie.
std::vector<std::int32_t> rankAll(std::span<const float> values);

/// True when a ranks before b in the order of topK.
bool ranksBefore(Ranked a, Ranked b);

} // namespace moire::numeric
