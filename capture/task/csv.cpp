// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/csv.h"

namespace moire::capture {

namespace {

class CsvReader
{
public:
    CsvReader(std::string_view text, const std::string& place)
        : m_text(text)
        , m_place(place)
    {
        constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
        if (m_text.starts_with(byteOrderMark))
            m_text.remove_prefix(byteOrderMark.size());
    }

    Result<std::vector<CsvRow>> run()
    {
        std::vector<CsvRow> rows;
        while (m_at < m_text.size()) {
            CsvRow row{{}, m_line};
            if (auto read = readRow(row); !read)
                return read.error();
            if (row.cells.size() > 1 || !row.cells.front().empty())
                rows.push_back(std::move(row));
        }
        return rows;
    }

private:
    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\n'; }

    /// Takes a line break, or the end of the text.
    bool takeLineEnd()
    {
        if (m_at >= m_text.size())
            return true;
        const std::size_t size = m_text.substr(m_at).starts_with("\r\n") ? 2 : 1;
        if (size == 1 && m_text[m_at] != '\n')
            return false;
        m_at += size;
        ++m_line;
        return true;
    }

    Result<void> readRow(CsvRow& row)
    {
        for (;;) {
            std::string cell;
            if (peek() == '"') {
                if (auto read = readQuoted(cell); !read)
                    return read;
            } else {
                while (m_at < m_text.size() && m_text[m_at] != ',' && m_text[m_at] != '\n'
                       && !m_text.substr(m_at).starts_with("\r\n"))
                    cell += m_text[m_at++];
            }
            row.cells.push_back(std::move(cell));
            if (takeLineEnd())
                return {};
            if (m_text[m_at] != ',')
                return bad("has text behind a closing quote");
            ++m_at;
        }
    }

    Result<void> readQuoted(std::string& cell)
    {
        const std::size_t begin = m_line;
        for (++m_at; m_at < m_text.size(); ++m_at) {
            if (m_text[m_at] == '"') {
                if (++m_at >= m_text.size() || m_text[m_at] != '"')
                    return {};
            } else if (m_text[m_at] == '\n') {
                ++m_line;
            }
            cell += m_text[m_at];
        }
        m_line = begin;
        return bad("has a quote that is not closed");
    }

    Error bad(const std::string& sentence) const
    {
        return {Errc::Invalid, sentence, m_place + ", line " + std::to_string(m_line),
                "Write cells with commas or quotes in double quotes, and \"\" for a quote"};
    }

    std::string_view m_text;
    const std::string& m_place;
    std::size_t m_at = 0;
    std::size_t m_line = 1;
};

} // namespace

Result<std::vector<CsvRow>> readCsv(std::string_view text, const std::string& place)
{
    return CsvReader(text, place).run();
}

} // namespace moire::capture
