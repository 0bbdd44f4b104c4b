// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/edit_distance.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace moire::diff {

namespace {

constexpr std::size_t blockBits = 64;

void dropCommonEnds(std::span<const std::int32_t>& a, std::span<const std::int32_t>& b)
{
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
        a = a.subspan(1);
        b = b.subspan(1);
    }
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        a = a.first(a.size() - 1);
        b = b.first(b.size() - 1);
    }
}

/// The vertical differences of one block of the pattern in one column of the matrix.
struct Block
{
    std::uint64_t up = ~std::uint64_t{0}; ///< places where the column rises by one
    std::uint64_t down = 0;               ///< where it falls by one

    /// One column on: `equal` marks the pattern's places that hold the text's token, `in` is the
    /// horizontal difference above the block; returns the one at `last`, the block's last place.
    int step(std::uint64_t equal, int in, std::uint64_t last)
    {
        const std::uint64_t x = equal | (in < 0 ? 1U : 0U);
        const std::uint64_t vertical = equal | down;
        const std::uint64_t horizontal = (((x & up) + up) ^ up) | x;
        std::uint64_t rises = down | ~(horizontal | up);
        std::uint64_t falls = up & horizontal;
        const int out = ((rises & last) != 0 ? 1 : 0) - ((falls & last) != 0 ? 1 : 0);
        rises = (rises << 1U) | (in > 0 ? 1U : 0U);
        falls = (falls << 1U) | (in < 0 ? 1U : 0U);
        up = falls | ~(vertical | rises);
        down = rises & vertical;
        return out;
    }
};

} // namespace

std::uint64_t editDistance(std::span<const std::int32_t> a, std::span<const std::int32_t> b)
{
    dropCommonEnds(a, b);
    if (a.empty() || b.empty())
        return std::max(a.size(), b.size());
    // Tokens as small numbers; 0 stands for those of b that a does not have.
    std::unordered_map<std::int32_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> pattern;
    std::vector<std::uint32_t> text;
    for (const std::int32_t id : a)
        pattern.push_back(
            numbers.try_emplace(id, static_cast<std::uint32_t>(numbers.size() + 1)).first->second);
    for (const std::int32_t id : b) {
        const auto at = numbers.find(id);
        text.push_back(at == numbers.end() ? 0 : at->second);
    }
    std::vector<std::uint64_t> places(numbers.size() + 1); ///< of each token in the block
    std::vector<signed char> carried(text.size(), 1);      ///< the block's upper edge, per column
    std::int64_t distance = static_cast<std::int64_t>(a.size());
    for (std::size_t begin = 0; begin < pattern.size(); begin += blockBits) {
        const std::size_t count = std::min(blockBits, pattern.size() - begin);
        const bool isLast = begin + count == pattern.size();
        for (std::size_t i = 0; i < count; ++i)
            places[pattern[begin + i]] |= std::uint64_t{1} << i;
        Block block;
        for (std::size_t column = 0; column < text.size(); ++column) {
            const int out =
                block.step(places[text[column]], carried[column], std::uint64_t{1} << (count - 1));
            carried[column] = static_cast<signed char>(out);
            distance += isLast ? out : 0;
        }
        for (std::size_t i = 0; i < count; ++i)
            places[pattern[begin + i]] = 0;
    }
    return static_cast<std::uint64_t>(distance);
}

} // namespace moire::diff
