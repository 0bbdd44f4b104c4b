// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/row_places.h"
#include "core/store/verify.h"

#include <cstdint>
#include <vector>

namespace moire::store {

/// Holds rows of an open capture against themselves, each by itself: what verify() says of rows.
/// Only reads; any number of threads may ask for different rows at once.
class RowChecks
{
public:
    /// Both must outlive the checks. Looks through all rows once for positions that come twice.
    RowChecks(const RunTables& tables, const RowPlaces& rows);

    /// Appends what of row r contradicts itself, always in the same order.
    void check(std::uint64_t r, std::vector<Finding>& findings) const;
    /// The row's part of the table's digest; the table's is the sum over all rows, modulo 2⁶⁴.
    std::uint64_t recordDigest(std::uint64_t r) const;

private:
    class Row;
    const RunTables& m_tables;
    const RowPlaces& m_rows;
    std::vector<std::uint64_t> m_repeated; ///< rows whose position an earlier row has, ascending
};

} // namespace moire::store
