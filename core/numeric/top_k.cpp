// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/top_k.h"

#include "core/numeric/logits_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace moire::numeric {

bool ranksBefore(Ranked a, Ranked b)
{
    const bool nanA = std::isnan(a.value);
    const bool nanB = std::isnan(b.value);
    if (nanA != nanB)
        return nanB;
    if (!nanA && a.value != b.value)
        return a.value > b.value;
    return a.id < b.id;
}

std::vector<Ranked> topK(const float* values, std::size_t count, std::size_t k)
{
    std::vector<Ranked> heap;
    heap.reserve(std::min(count, k));
    for (std::size_t i = 0; i < count && k > 0; ++i) {
        const Ranked candidate{static_cast<std::int32_t>(i), values[i]};
        if (heap.size() < k) {
            heap.push_back(candidate);
            std::push_heap(heap.begin(), heap.end(), ranksBefore);
        } else if (ranksBefore(candidate, heap.front())) {
            std::pop_heap(heap.begin(), heap.end(), ranksBefore);
            heap.back() = candidate;
            std::push_heap(heap.begin(), heap.end(), ranksBefore);
        }
    }
    std::sort_heap(heap.begin(), heap.end(), ranksBefore);
    return heap;
}

namespace {

/// By the k-th largest of the chunks' largest elements: at least k elements are no smaller.
std::vector<Ranked> topKByChunks(const std::byte* data, DType dtype, std::size_t count,
                                 std::size_t k, std::span<const float> largest)
{
    std::vector<float> order(largest.begin(), largest.end());
    const auto bound = order.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(order.begin(), bound, order.end(), std::greater<>());
    std::vector<Ranked> found;
    collectAtLeast(data, dtype, count, largest.data(), *bound, found);
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(k), found.end(),
                      ranksBefore);
    found.resize(k);
    return found;
}

} // namespace

std::vector<Ranked> topK(const std::byte* data, DType dtype, std::size_t count, std::size_t k)
{
    const bool hasKernel = dtype == DType::BF16 || dtype == DType::FP16 || dtype == DType::FP32;
    if (hasKernel && k > 0 && count / logitsChunk >= k && allFinite(data, dtype, count)) {
        std::vector<float> largest((count + logitsChunk - 1) / logitsChunk);
        largestOfChunks(data, dtype, count, largest.data());
        return topKByChunks(data, dtype, count, k, largest);
    }
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(toDouble(bitsAt(data, dtype, i), dtype));
    return topK(values.data(), count, k);
}

namespace {

/// Ascending where values rank: the largest first, NaN last, −0 equal to +0.
std::uint32_t rankKey(float value)
{
    if (std::isnan(value))
        return std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint32_t sign = 1U << 31U;
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
    return (bits & sign) != 0 ? bits : ~(bits | sign);
}

} // namespace

/// Radix sort from the lowest digit on, each pass keeping the order of what is equal in it.
std::vector<std::int32_t> rankAll(std::span<const float> values)
{
    constexpr unsigned digitBits = 11;
    constexpr std::size_t digits = std::size_t{1} << digitBits;
    std::vector<std::int32_t> ids(values.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<std::int32_t> sorted(values.size());
    for (unsigned shift = 0; shift < 32; shift += digitBits) {
        const auto digitOf = [&](std::int32_t id) {
            return rankKey(values[static_cast<std::size_t>(id)]) >> shift & (digits - 1);
        };
        std::array<std::size_t, digits + 1> begin{};
        for (const std::int32_t id : ids)
            ++begin[digitOf(id) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        for (const std::int32_t id : ids)
            sorted[begin[digitOf(id)]++] = id;
        ids.swap(sorted);
    }
    return ids;
}

std::vector<Ranked> topK(const std::byte* data, DType dtype, std::size_t count, std::size_t k,
                         std::span<const float> peaks)
{
    return k > 0 && !peaks.empty() && count / logitsChunk >= k
               ? topKByChunks(data, dtype, count, k, peaks)
               : topK(data, dtype, count, k);
}

} // namespace moire::numeric
