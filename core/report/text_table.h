// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace moire::report {

enum class Align
{
    Left,
    Right
};

/// Rows of text in aligned columns, for a terminal or a file.
class TextTable
{
public:
    explicit TextTable(std::vector<Align> columns);

    /// Missing cells at the end are empty; there are never more than columns. The last cell of a
    /// row that ends early may be longer than its column. Cells longer than anybody would read in a
    /// table are cut and end in "…".
    void add(std::vector<std::string> cells);
    /// Each row indented by two blanks, columns two blanks apart, no blanks at the end of a line.
    std::string text() const;

private:
    std::vector<Align> m_columns;
    struct Row
    {
        std::vector<std::string> cells;
        std::size_t given; ///< the rest is empty
    };
    std::vector<Row> m_rows;
};

} // namespace moire::report
