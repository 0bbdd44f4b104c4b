// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/text_table.h"

#include "core/base/shortened.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace moire::report {

namespace {

/// More than any site of a real model takes; sentences stand at the end of a row.
constexpr std::size_t mostInColumn = 120;
constexpr std::size_t mostAtEnd = 500;

/// Code points, not bytes: what a terminal's column is for nearly all text.
std::size_t widthOf(const std::string& text)
{
    const auto startsCharacter = [](char c) {
        return (static_cast<std::uint8_t>(c) & 0xC0U) != 0x80;
    };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), startsCharacter));
}

} // namespace

TextTable::TextTable(std::vector<Align> columns)
    : m_columns(std::move(columns))
{}

void TextTable::add(std::vector<std::string> cells)
{
    assert(cells.size() <= m_columns.size());
    const std::size_t given = cells.size();
    for (std::size_t i = 0; i < given; ++i)
        cells[i] = base::shortened(cells[i], i + 1 < given ? mostInColumn : mostAtEnd);
    cells.resize(m_columns.size());
    m_rows.push_back({std::move(cells), given});
}

std::string TextTable::text() const
{
    std::vector<std::size_t> widths(m_columns.size(), 0);
    for (const Row& row : m_rows) {
        const bool overhangs = row.given < m_columns.size() && row.given > 1;
        for (std::size_t i = 0; i < row.given - (overhangs ? 1 : 0); ++i)
            widths[i] = std::max(widths[i], widthOf(row.cells[i]));
    }
    std::string out;
    for (const Row& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i < row.given; ++i) {
            const std::size_t width = widthOf(row.cells[i]);
            const std::string padding(widths[i] - std::min(widths[i], width), ' ');
            line += "  ";
            line += m_columns[i] == Align::Right ? padding + row.cells[i] : row.cells[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

} // namespace moire::report
