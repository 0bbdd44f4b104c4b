// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/run_tables.h"
#include "core/trace/records.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moire::store {

/// Something that a row's bytes contradict.
struct RowFault
{
    std::string place; ///< dataset
    std::string sentence;
};

/// The row tables of an open capture, and how many rows of them may be shown.
class RowPlaces
{
public:
    /// Checks that every chunk of the shown rows lies in the file. A complete file must hold all
    /// committed rows, an incomplete one shows those before the first that it does not hold.
    static Result<RowPlaces> find(CaptureFile& file, const RunTables& tables);

    std::uint64_t rowCount() const { return m_rows; }
    /// Shows fewer rows.
    void limit(std::uint64_t rows) { m_rows = std::min(m_rows, rows); }
    std::uint64_t rowsPerChunk() const { return m_rowsPerChunk; }
    const std::vector<TableSpec>& tables() const { return m_tables; }

    /// Line r of a table, null when the run does not have that table. Requires r < rowCount().
    const std::byte* line(std::uint32_t table, std::uint64_t r) const
    {
        const Place& place = m_places[table];
        return place.addresses == nullptr ? nullptr
                                          : m_bytes + place.addresses[r / m_rowsPerChunk]
                                                + r % m_rowsPerChunk * place.lineBytes;
    }
    RowRecord record(std::uint64_t r) const;
    /// Asks the system for all shown lines of a table at once, before they are read in order: its
    /// chunks lie far apart, and reading ahead from each would fetch what nobody asked for.
    void prefetch(std::uint32_t table) const;
    /// Bytes of values a row.
    std::uint64_t valueBytes() const { return m_valueBytes; }
    /// The byte behind everything that is shown.
    std::uint64_t end() const;

    /// Sample, phase and construction are known ones.
    std::optional<RowFault> recordFault(std::uint64_t r) const;
    /// Roll-up and side digest hold.
    std::optional<RowFault> digestFault(std::uint64_t r) const;
    /// Every tap's values give its row digest (level full).
    std::optional<RowFault> valuesFault(std::uint64_t r) const;

private:
    struct Place
    {
        const std::uint64_t* addresses = nullptr;
        std::size_t lineBytes = 0;
    };
    std::vector<TableSpec> m_tables;
    std::vector<Place> m_places; ///< by table number
    const std::byte* m_bytes = nullptr;
    const trace::RunHeader* m_header = nullptr;
    std::uint64_t m_samples = 0;
    std::uint64_t m_rows = 0;
    std::uint64_t m_rowsPerChunk = 1;
    std::uint64_t m_valueBytes = 0;
};

} // namespace moire::store
