// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/markup.h"

#include "core/base/shortened.h"
#include "core/base/text.h"

#include <cassert>

namespace moire::report {

namespace {

std::string_view classOf(Column::Kind kind)
{
    switch (kind) {
    case Column::Kind::Code:
        return " class=\"code\"";
    case Column::Kind::Number:
        return " class=\"number\"";
    case Column::Kind::Text:
        break;
    }
    return "";
}

/// Enough for the longest names of taps that models have, and for a site at them.
constexpr std::size_t mostInCell = 120;
constexpr std::size_t mostInTitle = 1000;

/// Escaped, with every blank seen.
std::string withBlanks(std::string_view visible)
{
    std::string out;
    for (const char c : escaped(visible)) {
        if (c == ' ')
            out += "·";
        else
            out += c;
    }
    return out;
}

} // namespace

std::string escaped(std::string_view bytes)
{
    std::string out;
    for (const char c : base::visibleText(bytes)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string cellMarkup(std::string_view bytes)
{
    const std::string text = base::visibleText(bytes);
    const std::string shown = base::shortened(text, mostInCell);
    if (shown == text)
        return escaped(text);
    return "<span title=\"" + escaped(base::shortened(text, mostInTitle)) + "\">" + escaped(shown)
           + "</span>";
}

std::string tokenMarkup(std::string_view bytes)
{
    return withBlanks(base::shortened(base::visibleText(bytes), base::shownOfToken));
}

std::string tokenTitle(std::string_view bytes)
{
    return withBlanks(base::shortened(base::visibleText(bytes), mostInTitle));
}

std::string element(std::string_view tag, std::string_view markup)
{
    return std::string("<").append(tag).append(">").append(markup).append("</").append(tag).append(
        ">");
}

std::string element(std::string_view tag, std::string_view cssClass, std::string_view markup)
{
    return std::string("<")
        .append(tag)
        .append(" class=\"")
        .append(cssClass)
        .append("\">")
        .append(markup)
        .append("</")
        .append(tag)
        .append(">");
}

MarkupTable::MarkupTable(std::string_view caption, std::vector<Column> columns)
    : m_caption(caption)
    , m_columns(std::move(columns))
{}

void MarkupTable::add(std::initializer_list<std::string> cells)
{
    assert(cells.size() > 0 && cells.size() <= m_columns.size());
    m_body += "<tr>";
    std::size_t i = 0;
    for (const std::string& cell : cells) {
        const std::string tag = i == 0 ? "th" : "td";
        m_body += '<' + tag + (i == 0 ? " scope=\"row\"" : "");
        m_body += classOf(m_columns[i].kind);
        ++i;
        if (i == cells.size() && i < m_columns.size())
            m_body += " colspan=\"" + std::to_string(m_columns.size() - i + 1) + '"';
        m_body += '>' + cell + "</" + tag + '>';
    }
    m_body += "</tr>\n";
}

std::string MarkupTable::markup() const
{
    std::string out = "<div class=\"scroll\"><table class=\"sortable\">\n"
                      + element("caption", "unseen", m_caption) + "\n<thead><tr>";
    for (const Column& column : m_columns)
        out.append("<th scope=\"col\"")
            .append(classOf(column.kind))
            .append(">")
            .append(column.title)
            .append("</th>");
    return out + "</tr></thead>\n<tbody>\n" + m_body + "</tbody>\n</table></div>\n";
}

std::string section(std::string_view id, std::string_view heading, std::string_view explanation,
                    std::string_view markup)
{
    const std::string name(id);
    std::string out = "<section id=\"" + name + "\" aria-labelledby=\"" + name
                      + "-title\">\n<h2 id=\"" + name + "-title\">";
    out.append(heading).append("</h2>\n");
    if (!explanation.empty())
        out.append(element("p", "dim", explanation)).append("\n");
    return out.append(markup).append("</section>\n");
}

} // namespace moire::report
