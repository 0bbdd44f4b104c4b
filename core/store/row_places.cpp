// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/row_places.h"

#include "core/numeric/digest.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace moire::store {

Result<RowPlaces> RowPlaces::find(CaptureFile& file, const RunTables& tables)
{
    RowPlaces rows;
    rows.m_tables = rowTables(tables.header);
    rows.m_bytes = file.at(0);
    rows.m_header = &tables.header;
    rows.m_samples = tables.samples.size();
    rows.m_rows = file.commit().tables[Rows].count;
    rows.m_rowsPerChunk = tables.rowsPerChunk;
    rows.m_places.resize(tableOfTap(tables.header, tables.header.taps.size()));
    for (const TableSpec& table : rows.m_tables) {
        if (table.number >= tableOfTap(tables.header, 0))
            rows.m_valueBytes += table.recordBytes;
        const TablePlace* place = file.place(table.number);
        if (place != nullptr && place->chunkRecords != tables.rowsPerChunk)
            return file.damaged("has chunks of another size than the other row tables", table.path);
        const std::uint64_t present =
            rows.m_rows == 0 ? 0 : file.presentRecords(table, rows.m_rows);
        if (file.complete() && present < rows.m_rows)
            return file.damaged("does not hold all rows", table.path);
        rows.m_rows = std::min(rows.m_rows, present);
        if (place != nullptr)
            rows.m_places[table.number] = {place->addresses.data(), table.recordBytes};
    }
    return rows;
}

RowRecord RowPlaces::record(std::uint64_t r) const
{
    RowRecord record;
    std::memcpy(&record, line(Rows, r), sizeof record);
    return record;
}

void RowPlaces::prefetch(std::uint32_t table) const
{
    static const auto pageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const Place& place = m_places[table];
    if (place.addresses == nullptr)
        return;
    for (std::uint64_t r = 0; r < m_rows; r += m_rowsPerChunk) {
        const std::uint64_t rows = std::min(m_rowsPerChunk, m_rows - r);
        const auto begin = reinterpret_cast<std::uintptr_t>(line(table, r));
        const std::uintptr_t page = begin / pageBytes * pageBytes;
        ::madvise(reinterpret_cast<void*>(page), begin - page + rows * place.lineBytes,
                  MADV_WILLNEED); // advice only: reading goes on without it
    }
}

std::uint64_t RowPlaces::end() const
{
    std::uint64_t end = 0;
    for (const TableSpec& table : m_tables)
        for (std::uint64_t r = m_rows; r > 0; r = (r - 1) / m_rowsPerChunk * m_rowsPerChunk) {
            const auto lineEnd =
                static_cast<std::uint64_t>(line(table.number, r - 1) - m_bytes) + table.recordBytes;
            end = std::max(end, lineEnd);
        }
    return end;
}

std::optional<RowFault> RowPlaces::recordFault(std::uint64_t r) const
{
    const RowRecord row = record(r);
    if (row.sample >= m_samples)
        return RowFault{"/rows", "names a sample that is not there"};
    if (!trace::phaseFromNumber(row.phase) || !trace::constructionFromNumber(row.construction))
        return RowFault{"/rows", "has an unknown phase or construction"};
    return std::nullopt;
}

std::optional<RowFault> RowPlaces::digestFault(std::uint64_t r) const
{
    const RowRecord row = record(r);
    const std::size_t taps = m_header->taps.size();
    const std::uint64_t rollUp = taps == 0 ? 0 : digestFrom(line(Digests, r), taps * 8, 8, 0);
    if (rollUp != row.rollUp)
        return RowFault{"/digests", "the row digests do not give the roll-up"};
    const std::uint64_t side =
        sideDigest(m_tables, [&](const TableSpec& table) { return line(table.number, r); });
    if (side != row.side)
        return RowFault{"/rows",
                        "counts, statistics, top-K or routing do not give the side digest"};
    return std::nullopt;
}

std::optional<RowFault> RowPlaces::valuesFault(std::uint64_t r) const
{
    if (m_header->level != trace::Level::Full)
        return std::nullopt;
    for (std::size_t t = 0; t < m_header->taps.size(); ++t) {
        const trace::Tap& tap = m_header->taps[t];
        std::uint64_t recorded = 0;
        std::memcpy(&recorded, line(Digests, r) + t * sizeof recorded, sizeof recorded);
        if (numeric::rowDigest(line(tableOfTap(*m_header, t), r), tap.dtype, tap.width) != recorded)
            return RowFault{"/values/" + tap.name, "the values do not give the row digest"};
    }
    return std::nullopt;
}

} // namespace moire::store
