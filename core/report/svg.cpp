// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/svg.h"

#include "core/report/png.h"

#include <array>
#include <charconv>

namespace moire::report {

namespace {

void attribute(std::string& out, std::string_view name, double value)
{
    out.append(" ").append(name).append("=\"").append(coordinate(value)).append("\"");
}

void cssClassOf(std::string& out, std::string_view cssClass)
{
    out.append(" class=\"").append(cssClass).append("\"");
}

} // namespace

std::string coordinate(double value)
{
    std::array<char, 64> buffer{};
    constexpr int decimals = 2;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::fixed, decimals);
    std::string text(buffer.data(), end.ptr);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, const std::string& title)
    : m_markup("<svg viewBox=\"0 0 " + coordinate(width) + ' ' + coordinate(height)
               + "\" role=\"img\" aria-label=\"" + title + "\">\n")
{}

void Svg::rect(double x, double y, double width, double height, std::string_view cssClass)
{
    m_markup += "<rect";
    attribute(m_markup, "x", x);
    attribute(m_markup, "y", y);
    attribute(m_markup, "width", width);
    attribute(m_markup, "height", height);
    cssClassOf(m_markup, cssClass);
    m_markup += "/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view cssClass)
{
    m_markup += "<line";
    attribute(m_markup, "x1", x1);
    attribute(m_markup, "y1", y1);
    attribute(m_markup, "x2", x2);
    attribute(m_markup, "y2", y2);
    cssClassOf(m_markup, cssClass);
    m_markup += "/>\n";
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view cssClass)
{
    m_markup += "<polyline points=\"";
    for (const auto& [x, y] : points)
        m_markup += coordinate(x) + ',' + coordinate(y) + ' ';
    m_markup += '"';
    cssClassOf(m_markup, cssClass);
    m_markup += "/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view cssClass)
{
    m_markup += "<circle";
    attribute(m_markup, "cx", x);
    attribute(m_markup, "cy", y);
    attribute(m_markup, "r", radius);
    cssClassOf(m_markup, cssClass);
    m_markup += "/>\n";
}

void Svg::path(std::string_view d, std::string_view cssClass)
{
    m_markup.append("<path d=\"").append(d).append("\"");
    cssClassOf(m_markup, cssClass);
    m_markup += "/>\n";
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text,
               std::string_view cssClass)
{
    m_markup += "<text";
    attribute(m_markup, "x", x);
    attribute(m_markup, "y", y);
    m_markup.append(" text-anchor=\"").append(anchor).append("\"");
    cssClassOf(m_markup, cssClass);
    m_markup.append(">").append(text).append("</text>\n");
}

void Svg::image(double x, double y, double width, double height, const std::string& bytes,
                std::string_view cssClass)
{
    m_markup += "<image";
    attribute(m_markup, "x", x);
    attribute(m_markup, "y", y);
    attribute(m_markup, "width", width);
    attribute(m_markup, "height", height);
    m_markup += " preserveAspectRatio=\"none\"";
    cssClassOf(m_markup, cssClass);
    m_markup += " href=\"data:image/png;base64," + base64(bytes) + "\"/>\n";
}

std::string Svg::markup() const
{
    return m_markup + "</svg>\n";
}

} // namespace moire::report
