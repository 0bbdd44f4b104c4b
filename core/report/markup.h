// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace moire::report {

/// Text out of a file, for HTML text and attribute values: control characters, bidirectional marks
/// and broken UTF-8 made visible (base::visibleText), then & < > " ' escaped.
std::string escaped(std::string_view bytes);

/// escaped(), but what would fill a table alone is cut and ends in "…", with more of it in the
/// title that a browser shows under the mouse.
std::string cellMarkup(std::string_view bytes);

/// A token's text: escaped, with blanks as "·" so that they are seen; a long one cut, with "…".
std::string tokenMarkup(std::string_view bytes);
/// The same for an attribute that holds more of it.
std::string tokenTitle(std::string_view bytes);

/// `<tag>` + markup + `</tag>`; markup is taken as it is.
std::string element(std::string_view tag, std::string_view markup);
std::string element(std::string_view tag, std::string_view cssClass, std::string_view markup);

/// A column of an HTML table.
struct Column
{
    std::string_view title;
    enum class Kind
    {
        Text,
        Code,  ///< monospaced
        Number ///< monospaced, to the right
    } kind = Kind::Text;
};

/// A table with a caption (which only a screen reader says) and a head; cells are markup, the first
/// of a row is its head. A row shorter than the columns has its last cell widened.
class MarkupTable
{
public:
    MarkupTable(std::string_view caption, std::vector<Column> columns);
    void add(std::initializer_list<std::string> cells);
    std::string markup() const;

private:
    std::string m_caption;
    std::vector<Column> m_columns;
    std::string m_body;
};

/// `<section>` with a heading, a line of explanation (left out when empty) and its content.
std::string section(std::string_view id, std::string_view heading, std::string_view explanation,
                    std::string_view markup);

} // namespace moire::report
