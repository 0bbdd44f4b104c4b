// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/part_file.h"
#include "core/store/schema.h"
#include "core/trace/row_block.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace moire::store {

/// Blocks of rows kept as they came until they are written; nothing is copied.
class GatheredRows
{
public:
    explicit GatheredRows(const trace::RunHeader& header);
    void add(std::shared_ptr<const trace::RowBlock> block);
    void clear();
    std::uint64_t count() const { return m_count; }
    std::size_t rowBytes() const { return m_rowBytes; }
    std::size_t bytes() const { return m_count * m_rowBytes; }
    /// Running table digest of all row records ever added.
    std::uint64_t digest() const { return m_digest; }
    /// Where the gathered rows of a table lie, in order.
    void pieces(const TableSpec& table, std::vector<Piece>& out) const;

private:
    struct Gathered
    {
        std::shared_ptr<const trace::RowBlock> block;
        std::vector<RowRecord> records;
    };
    const std::byte* tableBytes(const Gathered& gathered, std::uint32_t table) const;

    std::vector<TableSpec> m_tables;
    std::size_t m_routers;
    std::size_t m_rowBytes = 0;
    std::vector<Gathered> m_blocks;
    std::uint64_t m_count = 0;
    std::uint64_t m_digested = 0; ///< rows in m_digest
    std::uint64_t m_digest = 0;
};

} // namespace moire::store
