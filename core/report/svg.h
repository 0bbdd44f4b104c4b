// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moire::report {

/// An inline SVG picture, written piece by piece. Lengths are in CSS pixels at full width. Classes
/// take their colours from resources/report/report.css, so that both themes are served.
class Svg
{
public:
    /// `title` is what a screen reader says; markup.
    Svg(double width, double height, const std::string& title);

    void rect(double x, double y, double width, double height, std::string_view cssClass);
    void line(double x1, double y1, double x2, double y2, std::string_view cssClass);
    void polyline(const std::vector<std::pair<double, double>>& points, std::string_view cssClass);
    void circle(double x, double y, double radius, std::string_view cssClass);
    void path(std::string_view d, std::string_view cssClass);
    /// `anchor`: start, middle or end; `text` is markup.
    void text(double x, double y, std::string_view anchor, std::string_view text,
              std::string_view cssClass = "tick");
    /// A picture stretched over the rectangle, pixels kept sharp; `bytes` is a PNG.
    void image(double x, double y, double width, double height, const std::string& bytes,
               std::string_view cssClass);
    std::string markup() const;

private:
    std::string m_markup;
};

/// Two decimals at most, no trailing zeros.
std::string coordinate(double value);

} // namespace moire::report
