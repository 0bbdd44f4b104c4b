// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace moire::capture {

/// The merge table of a byte pair encoding: which two neighbouring tokens become which one, and in
/// which order of preference. Immutable once filled; merge() may run on any thread.
class BpeMerges
{
public:
    /// A pair named twice keeps its last rank, as in Hugging Face's reader.
    void add(std::int32_t first, std::int32_t second, std::uint32_t rank, std::int32_t merged);
    std::size_t size() const { return m_table.size(); }

    /// Merges neighbours in `symbols`: always the pair of the lowest rank, of several the leftmost,
    /// until no pair is in the table. O(n log n) time in the number of symbols.
    void merge(std::vector<std::int32_t>& symbols) const;

private:
    struct Merge
    {
        std::uint32_t rank;
        std::int32_t merged;
    };
    const Merge* find(std::int32_t first, std::int32_t second) const;
    std::unordered_map<std::uint64_t, Merge> m_table;
};

} // namespace moire::capture
