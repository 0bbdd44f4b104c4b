// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/html_page.h"

#include "core/report/html_style.h"
#include "core/report/markup.h"
#include "core/report/palette.h"

namespace moire::report {

namespace {

/// The pattern of what is not comparable, which every map's legend and ground refer to.
constexpr std::string_view hatching =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
    "<pattern id=\"hatching\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" "
    "class=\"hatching\"/></pattern></defs></svg>\n";

} // namespace

std::string htmlPage(std::string_view title, std::string_view main, std::string_view footer)
{
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                       "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                       // Nothing is loaded from anywhere, whatever a capture says.
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                       "'none'; img-src data:; style-src 'unsafe-inline'; script-src "
                       "'unsafe-inline'\"/>\n<title>";
    page.append(escaped(title)).append("</title>\n<style>\n").append(pageStyle());
    page.append(scaleRules()).append("</style>\n</head>\n<body>\n").append(hatching);
    page.append("<main>\n").append(main).append("</main>\n<footer>").append(escaped(footer));
    page.append("</footer>\n<script>\n").append(pageScript());
    return page + "</script>\n</body>\n</html>\n";
}

std::string verdictHeading(std::string_view verdict, bool differs)
{
    return "<header class=\"verdict\"><span class=\"mark\" aria-hidden=\"true\">"
           + std::string(differs ? "◆" : "●") + "</span>" + element("h1", escaped(verdict))
           + "</header>\n";
}

} // namespace moire::report
