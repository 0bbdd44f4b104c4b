// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/gathered_rows.h"

#include <utility>

namespace moire::store {

namespace {

template <class T>
const std::byte* bytesOf(const std::vector<T>& table)
{
    return reinterpret_cast<const std::byte*>(table.data());
}

RowRecord recordOf(const trace::Row& row, std::uint64_t side)
{
    return {static_cast<std::uint32_t>(row.sample),
            row.position,
            row.step,
            row.batchSlot,
            row.score.id,
            row.score.rank,
            row.score.logit,
            static_cast<std::uint8_t>(row.phase),
            static_cast<std::uint8_t>(row.construction),
            {},
            row.score.logProb,
            row.rollUp,
            side};
}

} // namespace

GatheredRows::GatheredRows(const trace::RunHeader& header)
    : m_tables(rowTables(header))
    , m_routers(header.routers.size())
{
    for (const TableSpec& table : m_tables)
        m_rowBytes += table.recordBytes;
}

void GatheredRows::add(std::shared_ptr<const trace::RowBlock> block)
{
    if (block->rows.empty())
        return;
    Gathered gathered{std::move(block), {}};
    const std::size_t rows = gathered.block->rows.size();
    gathered.records.reserve(rows);
    for (std::size_t r = 0; r < rows; ++r) {
        const std::uint64_t side = sideDigest(m_tables, [&](const TableSpec& table) {
            return tableBytes(gathered, table.number) + r * table.recordBytes;
        });
        gathered.records.push_back(recordOf(gathered.block->rows[r], side));
    }
    constexpr std::uint64_t wordsPerRow = sizeof(RowRecord) / 8;
    m_digest += digestFrom(bytesOf(gathered.records), rows * sizeof(RowRecord), 8,
                           m_digested * wordsPerRow);
    m_digested += rows;
    m_count += rows;
    m_blocks.push_back(std::move(gathered));
}

void GatheredRows::clear()
{
    m_blocks.clear();
    m_count = 0;
}

void GatheredRows::pieces(const TableSpec& table, std::vector<Piece>& out) const
{
    out.clear();
    for (const Gathered& gathered : m_blocks)
        out.push_back(
            {tableBytes(gathered, table.number), gathered.records.size() * table.recordBytes});
}

const std::byte* GatheredRows::tableBytes(const Gathered& gathered, std::uint32_t table) const
{
    const trace::RowBlock& block = *gathered.block;
    switch (table) {
    case Rows:
        return bytesOf(gathered.records);
    case Digests:
        return bytesOf(block.digests);
    case CountsTable:
        return bytesOf(block.counts);
    case StatisticsTable:
        return bytesOf(block.statistics);
    case TopKIds:
        return bytesOf(block.topK.ids);
    case TopKValues:
        return bytesOf(block.topK.values);
    case LogSumExp:
        return bytesOf(block.topK.logSumExp);
    case RemainingMass:
        return bytesOf(block.topK.remainingMass);
    case AskedIds:
        return bytesOf(block.topK.askedIds);
    case AskedValues:
        return bytesOf(block.topK.askedValues);
    default:
        break;
    }
    const std::size_t place = table - FirstRouter;
    if (place >= tablesPerRouter * m_routers)
        return block.values[place - tablesPerRouter * m_routers].data();
    const trace::RoutingBlock& routing = block.routing[place / tablesPerRouter];
    switch (place % tablesPerRouter) {
    case 0:
        return bytesOf(routing.ids);
    case 1:
        return routing.weights.data();
    case 2:
        return routing.logits.data();
    default:
        return bytesOf(routing.scores);
    }
}

} // namespace moire::store
