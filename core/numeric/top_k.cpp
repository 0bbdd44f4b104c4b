// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/top_k.h"

#include <algorithm>
#include <cmath>

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

} // namespace moire::numeric
