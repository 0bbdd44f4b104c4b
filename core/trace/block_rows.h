// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/row_block.h"
#include "core/trace/run.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace moire::trace {

/// Rows of a run that lie in memory: blocks that never change, shared by every copy. Row numbers
/// count from 0 here. What a function reads of a row has to be there: callers check row numbers.
class BlockRows
{
public:
    void add(std::shared_ptr<const RowBlock> block);
    /// Takes the first blocks off whose rows all are among the first `rows`; returns how many rows
    /// went, which the others' numbers go down by.
    RowIndex dropFirst(RowIndex rows);

    RowIndex count() const { return m_ends.empty() ? 0 : m_ends.back(); }
    Row row(RowIndex r) const;
    std::span<const std::uint64_t> digests(RowIndex r, std::size_t taps) const;
    std::span<const Counts> counts(RowIndex r, std::size_t taps) const;
    /// Empty at level digest.
    std::span<const Statistics> statistics(RowIndex r, std::size_t taps) const;
    /// At level full.
    ValueView values(const Tap& tap, TapIndex index, RowIndex rowBegin, RowIndex rowEnd) const;
    TopKView topK(const LogitsInfo& logits, RowIndex r) const;
    RoutingView routing(const RouterLayer& layer, std::size_t router, RowIndex r) const;

private:
    /// The block that holds row r, and r's place in it.
    std::pair<std::size_t, std::size_t> locate(RowIndex r) const;
    template <class T>
    std::span<const T> tapTable(const std::vector<T> RowBlock::*table, RowIndex r,
                                std::size_t taps) const;

    std::vector<std::shared_ptr<const RowBlock>> m_blocks;
    std::vector<RowIndex> m_ends; ///< first row after each block
};

} // namespace moire::trace
