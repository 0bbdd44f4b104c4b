// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/block_rows.h"

#include <algorithm>
#include <cstdint>

namespace moire::trace {

void BlockRows::add(std::shared_ptr<const RowBlock> block)
{
    if (block->rows.empty())
        return;
    m_ends.push_back(count() + block->rows.size());
    m_blocks.push_back(std::move(block));
}

RowIndex BlockRows::dropFirst(RowIndex rows)
{
    const auto keep = std::upper_bound(m_ends.begin(), m_ends.end(), rows);
    if (keep == m_ends.begin())
        return 0;
    const RowIndex gone = *(keep - 1);
    m_blocks.erase(m_blocks.begin(), m_blocks.begin() + (keep - m_ends.begin()));
    m_ends.erase(m_ends.begin(), keep);
    for (RowIndex& end : m_ends)
        end -= gone;
    return gone;
}

std::pair<std::size_t, std::size_t> BlockRows::locate(RowIndex r) const
{
    const auto block = static_cast<std::size_t>(std::upper_bound(m_ends.begin(), m_ends.end(), r)
                                                - m_ends.begin());
    const RowIndex begin = block == 0 ? 0 : m_ends[block - 1];
    return {block, static_cast<std::size_t>(r - begin)};
}

Row BlockRows::row(RowIndex r) const
{
    const auto [block, at] = locate(r);
    return m_blocks.at(block)->rows[at];
}

template <class T>
std::span<const T> BlockRows::tapTable(const std::vector<T> RowBlock::*table, RowIndex r,
                                       std::size_t taps) const
{
    const auto [block, at] = locate(r);
    const std::vector<T>& all = (*m_blocks.at(block)).*table;
    return all.empty() ? std::span<const T>() : std::span<const T>(all).subspan(at * taps, taps);
}

std::span<const std::uint64_t> BlockRows::digests(RowIndex r, std::size_t taps) const
{
    return tapTable(&RowBlock::digests, r, taps);
}

std::span<const Counts> BlockRows::counts(RowIndex r, std::size_t taps) const
{
    return tapTable(&RowBlock::counts, r, taps);
}

std::span<const Statistics> BlockRows::statistics(RowIndex r, std::size_t taps) const
{
    return tapTable(&RowBlock::statistics, r, taps);
}

ValueView BlockRows::values(const Tap& tap, TapIndex index, RowIndex rowBegin,
                            RowIndex rowEnd) const
{
    const auto [block, at] = locate(rowBegin);
    const std::size_t stride = tap.rowBytes();
    return {m_blocks.at(block)->values[indexOf(index)].data() + at * stride,
            stride,
            rowBegin,
            std::min(rowEnd, m_ends[block]),
            tap.dtype,
            tap.width};
}

TopKView BlockRows::topK(const LogitsInfo& logits, RowIndex r) const
{
    const auto [block, at] = locate(r);
    const TopKBlock& table = m_blocks.at(block)->topK;
    const std::size_t k = logits.topK;
    const std::size_t asked = logits.asked;
    return {std::span(table.ids).subspan(at * k, k),
            std::span(table.values).subspan(at * k, k),
            table.logSumExp[at],
            table.remainingMass[at],
            std::span(table.askedIds).subspan(at * asked, asked),
            std::span(table.askedValues).subspan(at * asked, asked)};
}

RoutingView BlockRows::routing(const RouterLayer& layer, std::size_t router, RowIndex r) const
{
    const auto [block, at] = locate(r);
    const RoutingBlock& table = m_blocks.at(block)->routing[router];
    return {std::span(table.ids).subspan(at * layer.chosen, layer.chosen),
            table.weights.data() + at * layer.chosen * numeric::sizeOf(layer.weightType),
            table.logits.data() + at * layer.experts * numeric::sizeOf(layer.logitType),
            table.scores.empty() ? nullptr : table.scores.data() + at * layer.experts};
}

} // namespace moire::trace
