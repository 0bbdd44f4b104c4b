// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/token_alignment.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace moire::diff {

namespace {

using Word = std::uint64_t;
using Ids = std::span<const std::int32_t>;
constexpr std::size_t wordBits = 64;
/// Below this many cells the plain table is cheaper than another halving.
constexpr std::size_t plainCells = 4096;

/// Where each id of a sequence stands: places in ascending order, by id.
class Places
{
public:
    explicit Places(Ids ids)
        : m_order(ids.size())
        , m_ids(ids)
    {
        std::iota(m_order.begin(), m_order.end(), 0U);
        std::stable_sort(m_order.begin(), m_order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
    }

    /// The places of `id` inside [begin, end).
    std::span<const std::uint32_t> of(std::int32_t id, std::size_t begin, std::size_t end) const
    {
        const auto at = [&](std::size_t place) {
            return std::partition_point(m_order.begin(), m_order.end(), [&](std::uint32_t p) {
                return m_ids[p] < id || (m_ids[p] == id && p < place);
            });
        };
        return {at(begin), at(end)};
    }

private:
    std::vector<std::uint32_t> m_order;
    Ids m_ids;
};

enum class Direction
{
    Forwards,
    Backwards
};

class Aligner
{
public:
    Aligner(Ids reference, Ids target)
        : m_reference(reference)
        , m_target(target)
        , m_places(target)
    {}

    std::vector<TokenMatch> run()
    {
        halve(0, m_reference.size(), 0, m_target.size());
        return std::move(m_matches);
    }

private:
    void halve(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin, std::size_t bEnd);
    void plain(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin, std::size_t bEnd);
    std::vector<Word> sweep(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin,
                            std::size_t bEnd, Direction direction) const;
    void match(std::size_t a, std::size_t b)
    {
        m_matches.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
    }

    Ids m_reference;
    Ids m_target;
    Places m_places;
    std::vector<TokenMatch> m_matches;
};

/// Hyyrö's recurrence for one id: V ← (V + (V & M)) | (V & ~M), M its places in b, which lie in the
/// words from first to last. Words before those, and behind once no carry is left, stay as they
/// are.
void addOccurrences(const std::vector<Word>& matches, std::size_t first, std::size_t last,
                    std::vector<Word>& state)
{
    Word carry = 0;
    for (std::size_t w = first; w < state.size() && (w <= last || carry != 0); ++w) {
        const Word v = state[w];
        const Word hit = v & matches[w];
        Word sum = 0;
        const bool over = __builtin_add_overflow(v, hit, &sum);
        const bool more = __builtin_add_overflow(sum, carry, &sum);
        carry = static_cast<Word>(over || more);
        state[w] = sum | (v & ~matches[w]);
    }
}

/// The recurrence over all of a. The zero bits of the result's first j count the longest common
/// subsequence of a and the first j of b (the last j, backwards).
std::vector<Word> Aligner::sweep(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin,
                                 std::size_t bEnd, Direction direction) const
{
    const std::size_t words = (bEnd - bBegin + wordBits - 1) / wordBits;
    std::vector<Word> state(words, ~Word{0});
    std::vector<Word> scratch(words, 0);
    std::unordered_map<std::int32_t, std::vector<Word>> frequent; // at most 64 ids, m/64 words each
    const bool forwards = direction == Direction::Forwards;
    const auto bitOf = [&](std::uint32_t place) {
        return forwards ? place - bBegin : bEnd - 1 - place;
    };
    for (std::size_t i = 0; i < aEnd - aBegin; ++i) {
        const std::int32_t id = m_reference[forwards ? aBegin + i : aEnd - 1 - i];
        const auto places = m_places.of(id, bBegin, bEnd);
        if (places.empty())
            continue;
        const bool keep = places.size() > words;
        std::vector<Word>& matches = keep ? frequent[id] : scratch;
        if (matches.empty() || !keep) {
            matches.resize(words, 0);
            for (const std::uint32_t place : places)
                matches[bitOf(place) / wordBits] |= Word{1} << (bitOf(place) % wordBits);
        }
        addOccurrences(matches, bitOf(forwards ? places.front() : places.back()) / wordBits,
                       bitOf(forwards ? places.back() : places.front()) / wordBits, state);
        if (!keep)
            for (const std::uint32_t place : places)
                matches[bitOf(place) / wordBits] = 0;
    }
    return state;
}

void Aligner::halve(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin, std::size_t bEnd)
{
    for (; aBegin < aEnd && bBegin < bEnd && m_reference[aBegin] == m_target[bBegin];
         ++aBegin, ++bBegin)
        match(aBegin, bBegin);
    std::size_t tail = 0;
    for (; aBegin < aEnd && bBegin < bEnd && m_reference[aEnd - 1] == m_target[bEnd - 1]; ++tail) {
        --aEnd;
        --bEnd;
    }
    const std::size_t rows = aEnd - aBegin;
    const std::size_t columns = bEnd - bBegin;
    if (rows > 0 && columns > 0 && (rows == 1 || rows * columns <= plainCells)) {
        plain(aBegin, aEnd, bBegin, bEnd);
    } else if (rows > 0 && columns > 0) {
        const std::size_t middle = aBegin + rows / 2;
        const auto before = sweep(aBegin, middle, bBegin, bEnd, Direction::Forwards);
        const auto after = sweep(middle, aEnd, bBegin, bEnd, Direction::Backwards);
        const auto zero = [](const std::vector<Word>& state, std::size_t bit) {
            return (state[bit / wordBits] >> (bit % wordBits) & 1U) == 0 ? 1U : 0U;
        };
        // `after` starts with all of b and loses what moves over to `before`.
        std::size_t length = 0;
        for (std::size_t j = 0; j < columns; ++j)
            length += zero(after, j);
        std::size_t best = length;
        std::size_t cut = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            length += zero(before, j);
            length -= zero(after, columns - 1 - j);
            if (length > best) {
                best = length;
                cut = j + 1;
            }
        }
        halve(aBegin, middle, bBegin, bBegin + cut);
        halve(middle, aEnd, bBegin + cut, bEnd);
    }
    for (std::size_t i = 0; i < tail; ++i)
        match(aEnd + i, bEnd + i);
}

/// The table of lengths and a walk through it.
void Aligner::plain(std::size_t aBegin, std::size_t aEnd, std::size_t bBegin, std::size_t bEnd)
{
    const std::size_t rows = aEnd - aBegin;
    const std::size_t columns = bEnd - bBegin;
    if (rows == 1) {
        const auto places = m_places.of(m_reference[aBegin], bBegin, bEnd);
        if (!places.empty())
            match(aBegin, places.front());
        return;
    }
    std::vector<std::uint16_t> length((rows + 1) * (columns + 1), 0); // of what is left from (i, j)
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
        return length[i * (columns + 1) + j];
    };
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;)
            at(i, j) = m_reference[aBegin + i] == m_target[bBegin + j]
                           ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                           : std::max(at(i + 1, j), at(i, j + 1));
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
        if (m_reference[aBegin + i] == m_target[bBegin + j])
            match(aBegin + i++, bBegin + j++);
        else if (at(i + 1, j) >= at(i, j + 1))
            ++i;
        else
            ++j;
    }
}

bool follows(const TokenMatch& before, const TokenMatch& here)
{
    return before.reference + 1 == here.reference && before.target + 1 == here.target;
}

/// Moves a match next to the run behind it where the ids allow it and the run that it leaves is no
/// longer than the one that it joins; the number of matches stays.
void joinRuns(Ids reference, Ids target, std::vector<TokenMatch>& matches)
{
    std::size_t run = 1; // matches in a row from k on
    for (std::size_t k = matches.size(); k-- > 1; ++run) {
        const TokenMatch here = matches[k];
        if (follows(matches[k - 1], here))
            continue;
        std::size_t left = 0;
        while (left <= run && left + 1 < k && follows(matches[k - 2 - left], matches[k - 1 - left]))
            ++left;
        if (here.reference > 0 && here.target > 0 && left < run
            && reference[here.reference - 1] == target[here.target - 1])
            matches[k - 1] = {here.reference - 1, here.target - 1};
        else
            run = 0;
    }
}

} // namespace

std::vector<TokenMatch> longestCommonSubsequence(std::span<const std::int32_t> reference,
                                                 std::span<const std::int32_t> target)
{
    auto matches = Aligner(reference, target).run();
    joinRuns(reference, target, matches);
    return matches;
}

TokenAlignment alignTokens(std::span<const std::int32_t> reference,
                           std::span<const std::int32_t> target)
{
    const auto [ours, theirs] =
        std::mismatch(reference.begin(), reference.end(), target.begin(), target.end());
    const auto equal = static_cast<std::uint32_t>(ours - reference.begin());
    TokenAlignment alignment;
    if (equal > 0)
        alignment.blocks.push_back({0, 0, equal, equal});
    if (ours == reference.end() || theirs == target.end())
        return alignment;
    alignment.split = alignment.targetSplit = equal;
    const auto matches = longestCommonSubsequence(reference.subspan(equal), target.subspan(equal));
    for (std::size_t begin = 0; begin < matches.size();) {
        std::size_t end = begin + 1;
        while (end < matches.size() && matches[end].reference == matches[end - 1].reference + 1
               && matches[end].target == matches[end - 1].target + 1)
            ++end;
        const auto run = static_cast<std::uint32_t>(end - begin);
        if (run >= trustedRun)
            alignment.blocks.push_back(
                {equal + matches[begin].reference, equal + matches[begin].target, run, run});
        begin = end;
    }
    return alignment;
}

} // namespace moire::diff
