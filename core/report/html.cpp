// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/html.h"

#include "core/diff/inspect.h"
#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/html_findings.h"
#include "core/report/html_page.h"
#include "core/report/html_tables.h"
#include "core/report/layer_figure.h"
#include "core/report/map_figure.h"
#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/reproduce.h"
#include "core/report/token_strip.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace moire::report {

namespace {

bool differsIn(const diff::Report& report, std::string_view key)
{
    return std::any_of(report.environmentDifferences.begin(), report.environmentDifferences.end(),
                       [&](const diff::EnvironmentDifference& d) { return d.key == key; });
}

/// What tells one run from another, as small labels; those that differ are marked.
std::string runCard(const diff::Report& report, const diff::RunSummary& run, std::string_view side,
                    std::string_view title)
{
    namespace env = trace::env;
    const std::string model = run.environment.text(env::modelName);
    std::string card = "<div class=\"run " + std::string(side) + "\"><div><span class=\"side\">"
                       + std::string(title) + "</span> "
                       + (model.empty() ? element("span", "faint", "model not named")
                                        : element("strong", cellMarkup(model)))
                       + "</div>";
    std::string labels;
    for (const std::string_view key : {env::policy, env::arithmetic, env::vendor, env::device,
                                       env::arch, env::tpSize, env::replay, env::construction}) {
        const std::string text = run.environment.text(key);
        // "AMD" beside "AMD EPYC 9654" would say it twice.
        const bool saidAgain = key == env::vendor && !differsIn(report, key)
                               && run.environment.text(env::device).starts_with(text);
        if (!text.empty() && !saidAgain)
            labels += element("li", differsIn(report, key) ? "differs" : "same",
                              (key == env::tpSize ? "tp " : "") + escaped(text));
    }
    labels += element("li", "same", countOf(run.samples, "sample"));
    labels += element("li", "same", countOf(run.rows, "row"));
    labels += element("li", "same", countOf(run.taps, "tap"));
    if (!run.complete)
        labels += element("li", "differs", "incomplete");
    card += element("ul", labels);
    return card + element("div", "file", escaped(run.file)) + "</div>\n";
}

/// Interval, second quantity, …: a line each.
std::string detailMarkup(const std::string& detail)
{
    constexpr std::string_view mark = " · ";
    std::string markup = escaped(detail);
    for (std::size_t at = markup.find(mark); at != std::string::npos; at = markup.find(mark))
        markup.replace(at, mark.size(), "<br/>");
    return markup;
}

/// Links to the sections of a page, by their headings.
std::string navigation(const std::string& page)
{
    constexpr std::string_view before = "<h2 id=\"";
    constexpr std::string_view idEnd = "-title\">";
    constexpr std::string_view after = "</h2>";
    std::string links;
    for (std::size_t at = page.find(before); at != std::string::npos; at = page.find(before, at)) {
        at += before.size();
        const std::size_t idStop = page.find(idEnd, at);
        const std::size_t titleAt = idStop + idEnd.size();
        const std::size_t stop = page.find(after, titleAt);
        links += "<li><a href=\"#" + page.substr(at, idStop - at) + "\">"
                 + page.substr(titleAt, stop - titleAt) + "</a></li>";
    }
    return "<nav aria-label=\"Sections\"><ul>" + links + "</ul></nav>\n";
}

std::string chips(const diff::Report& report)
{
    std::string out = "<ul class=\"chips\">\n";
    for (const Chip& chip : familyChips(report))
        out += "<li class=\"" + std::string(chip.known ? "chip" : "chip unknown") + "\">"
               + element("span", "title", escaped(chip.title))
               + element("span", "value", escaped(chip.value))
               + element("span", "detail", chip.detail.empty() ? "–" : detailMarkup(chip.detail))
               + "</li>\n";
    return out + "</ul>\n";
}

std::string alignmentPart(const diff::Report& report)
{
    std::string items;
    for (const std::string& line : alignmentLines(report))
        items += element("li", escaped(line));
    return element("div", "compared", element("span", "side", "Compared") + element("ul", items))
           + '\n';
}

std::string mapSection(const diff::Report& report, const MapColumns& columns)
{
    if (report.tapPairs.empty() || columns.pairs.empty())
        return {};
    const std::string size =
        countOf(report.taps.size(), "tap") + " × " + countOf(report.rows.size(), "row") + ".";
    return section("map", "Taps × tokens: relative L2, log scale",
                   "Each cell is the worst of what it stands for; " + size,
                   tapMapFigure(report, columns));
}

/// Where bits first part and, where that is elsewhere, where the outcome does.
std::string stripSection(const diff::Report& report, const trace::Run& reference,
                         const trace::Run& target)
{
    std::string markup;
    std::vector<std::pair<std::string, std::uint32_t>> shown;
    for (const std::string_view key : {"bitwise", "argmax", "token"}) {
        const auto kind = std::find_if(firstKinds.begin(), firstKinds.end(),
                                       [&](const FirstKind& k) { return k.key == key; });
        const auto& found = report.first.*kind->member;
        if (!found)
            continue;
        const std::pair place(found->sample, found->position);
        if (std::find(shown.begin(), shown.end(), place) != shown.end())
            continue;
        shown.push_back(place);
        const std::string strip = tokenStrip(report, reference, target, *found);
        if (!strip.empty())
            markup += element("h3", "First by " + std::string(kind->words) + ": "
                                        + escaped(diff::sampleWords(found->sample)) + ", position "
                                        + std::to_string(found->position))
                      + '\n' + strip;
    }
    if (markup.empty())
        return {};
    return section("tokens", "Tokens around the first divergence",
                   "Background: forward KL of the row that the token belongs to, 1e-7 to 1 nat, "
                   "log scale; where logits were not compared, the largest relative L2 of its "
                   "taps on the same scale; hatched: no row compared.",
                   markup);
}

std::string layerSection(const diff::Report& report)
{
    const std::string figure = layerFigure(report);
    if (figure.empty())
        return {};
    return section("layers", "Error by layer", "Relative L2 over all rows, log scale.", figure);
}

std::string reproduceSection(const diff::Report& report)
{
    std::string lines;
    for (const std::string& command : reproduceCommands(report))
        lines += escaped(command) + '\n';
    return section("reproduce", "How to reproduce", {}, "<pre>" + lines + "</pre>\n");
}

} // namespace

std::string htmlText(const diff::Report& report, const trace::Run& reference,
                     const trace::Run& target)
{
    namespace fs = std::filesystem;
    const MapColumns columns = mapColumns(report, reference, target);
    const std::string head =
        "<div class=\"runs\">\n" + runCard(report, report.reference, "reference", "Reference")
        + runCard(report, report.target, "target", "Target") + "</div>\n"
        + verdictHeading(report.verdict, report.exit != 0) + chips(report) + alignmentPart(report);
    std::string page = mapSection(report, columns);
    page += firstSection(report) + causeSection(report) + toleranceSection(report);
    page += stripSection(report, reference, target);
    page += layerSection(report);
    page += tapsSection(report);
    page += routingSection(report, reference,
                           report.routerPairs.empty() ? std::string()
                                                      : routeMapFigure(report, reference, columns));
    page += samplesSection(report) + environmentSection(report) + measuresSection(report);
    page += reproduceSection(report);
    const std::string names = fs::path(report.reference.file).filename().string() + " – "
                              + fs::path(report.target.file).filename().string();
    return htmlPage("Moire: " + names, head + navigation(page) + page,
                    "Moire divergence report. The same inputs give the same bytes.");
}

} // namespace moire::report
