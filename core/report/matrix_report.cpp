// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/matrix_report.h"

#include "core/base/text.h"
#include "core/diff/metric_catalogue.h"
#include "core/report/families.h"
#include "core/report/html_page.h"
#include "core/report/json_measure.h"
#include "core/report/json_value.h"
#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/palette.h"
#include "core/report/text_table.h"

#include <algorithm>

namespace moire::report {

namespace {

using base::visibleText;
using diff::RunMatrix;

constexpr double allEqual = 100;

/// The measures of which the matrix knows any value.
std::vector<std::size_t> knownMeasures(const RunMatrix& matrix)
{
    std::vector<std::size_t> known;
    for (std::size_t m = 0; m < diff::matrixMeasures().size(); ++m)
        if (std::any_of(matrix.cells.begin(), matrix.cells.end(),
                        [&](const diff::MatrixCell& cell) {
                            return m < cell.values.size() && cell.values[m];
                        }))
            known.push_back(m);
    return known;
}

std::string titleOf(std::size_t measure)
{
    const diff::Metric& metric = diff::metricOf(diff::matrixMeasures()[measure].id);
    std::string title = std::string(metric.id) + ", " + std::string(metric.name);
    return metric.unit.empty() ? title : title + ", " + std::string(metric.unit);
}

std::optional<double> valueOf(const diff::MatrixCell& cell, std::size_t measure)
{
    return measure < cell.values.size() ? cell.values[measure] : std::nullopt;
}

std::string cellText(const RunMatrix& matrix, std::size_t reference, std::size_t target,
                     std::size_t measure)
{
    const auto value = valueOf(matrix.cell(reference, target), measure);
    if (!value)
        return "–";
    constexpr int digits = 4;
    return reference == target ? '(' + figure(*value, digits) + ')' : figure(*value, digits);
}

std::string numberOfRun(std::size_t run)
{
    return std::to_string(run + 1);
}

std::string clusterWords(const RunMatrix& matrix)
{
    std::string text;
    std::string alone;
    for (const auto& cluster : matrix.clusters) {
        if (cluster.size() == 1) {
            alone += (alone.empty() ? "" : ", ") + numberOfRun(cluster.front());
            continue;
        }
        text += text.empty() ? "" : " · ";
        for (std::size_t i = 0; i < cluster.size(); ++i)
            text += (i == 0 ? "" : " = ") + numberOfRun(cluster[i]);
    }
    if (text.empty())
        return "no two of them";
    return text + (alone.empty() ? "" : "; " + alone + " like no other");
}

/// How far from equal, for the scale: 0 is equal. None where not known.
std::optional<double> distanceOf(const diff::MatrixCell& cell, std::size_t measure)
{
    const auto value = valueOf(cell, measure);
    if (!value)
        return std::nullopt;
    return diff::matrixMeasures()[measure].largerIsCloser ? (allEqual - *value) / allEqual : *value;
}

/// Fixed, so that a colour means the same in every matrix: shares from one in a million on, nats as
/// in the token strip, logits by what 16-bit types can tell apart.
LogScale scaleOf(std::size_t measure)
{
    const diff::MatrixMeasure& info = diff::matrixMeasures()[measure];
    if (info.largerIsCloser)
        return {1e-6, 1};
    if (info.id == "C1")
        return {1e-7, 1};
    return {1e-4, 10};
}

std::string cellMarkup(const RunMatrix& matrix, std::size_t reference, std::size_t target,
                       std::size_t measure, const LogScale& scale)
{
    const diff::MatrixCell& cell = matrix.cell(reference, target);
    const auto distance = distanceOf(cell, measure);
    if (!distance)
        return "<td class=\"number hatched\" title=\"" + escaped(cell.why) + "\">–</td>";
    const std::size_t colour =
        *distance > 0 ? cellScale + scale.levelOf(*distance) : std::size_t{cellEqual};
    return "<td class=\"number c" + std::to_string(colour) + "\">"
           + cellText(matrix, reference, target, measure) + "</td>";
}

std::string measureMarkup(const RunMatrix& matrix, std::size_t measure)
{
    const LogScale scale = scaleOf(measure);
    std::string body;
    for (std::size_t r = 0; r < matrix.runs.size(); ++r) {
        body += "<tr><th scope=\"row\">" + numberOfRun(r) + "</th>";
        for (std::size_t t = 0; t < matrix.runs.size(); ++t)
            body += cellMarkup(matrix, r, t, measure, scale);
        body += "</tr>\n";
    }
    std::string head = "<td></td>";
    for (std::size_t t = 0; t < matrix.runs.size(); ++t)
        head += "<th scope=\"col\" class=\"number\">" + numberOfRun(t) + "</th>";
    return "<div class=\"scroll\"><table class=\"matrix\">\n"
           + element("caption", escaped(titleOf(measure))) + "\n<thead><tr>" + head
           + "</tr></thead>\n<tbody>\n" + body + "</tbody>\n</table></div>\n";
}

std::string runsMarkup(const RunMatrix& matrix)
{
    using Kind = Column::Kind;
    MarkupTable table(
        "Captures",
        {{"", Kind::Number}, {"capture", Kind::Code}, {"run"}, {"configuration", Kind::Number}});
    for (std::size_t i = 0; i < matrix.runs.size(); ++i)
        table.add({numberOfRun(i), escaped(matrix.runs[i].file), escaped(runLine(matrix.runs[i])),
                   std::to_string(matrix.configuration[i] + 1)});
    return section(
        "captures", "Captures",
        "Captures of one configuration are repeats: their difference is the noise floor.",
        table.markup());
}

std::string overAllMarkup(const RunMatrix& matrix)
{
    using Kind = Column::Kind;
    MarkupTable table("Over all captures",
                      {{"id", Kind::Code}, {"measure"}, {"value", Kind::Number}, {"why not"}});
    for (const diff::Measure& measure : matrix.overAll)
        table.add({escaped(measure.id), escaped(measure.name),
                   measure.value ? escaped(figureWithUnit(*measure.value, measure.unit))
                                 : std::string("–"),
                   measure.whyNull.empty() ? std::string()
                                           : element("span", "faint", escaped(measure.whyNull))});
    return matrix.overAll.empty()
               ? std::string()
               : section("outputs", "Outputs over all captures", {}, table.markup());
}

} // namespace

std::string matrixVerdict(const RunMatrix& matrix)
{
    std::string text = countOf(matrix.runs.size(), "capture");
    const std::size_t groups = matrix.clusters.size();
    if (groups == 1)
        text += ", all bitwise equal";
    else if (groups == matrix.runs.size())
        text += ", no two of them bitwise equal";
    else
        text += " in " + countOf(groups, "group") + " of bitwise equal ones";
    for (const diff::Measure& measure : matrix.overAll)
        if (measure.id == "G8" && measure.value)
            text += "; " + figure(*measure.value, 3)
                    + (*measure.value == 1 ? " output" : " different outputs")
                    + " a sample on average";
    return text + '.';
}

std::string matrixText(const RunMatrix& matrix)
{
    std::string text = matrixVerdict(matrix) + "\n\n";
    TextTable runs({Align::Right, Align::Left, Align::Left, Align::Left});
    for (std::size_t i = 0; i < matrix.runs.size(); ++i)
        runs.add({numberOfRun(i), visibleText(matrix.runs[i].file),
                  "configuration " + std::to_string(matrix.configuration[i] + 1),
                  visibleText(runLine(matrix.runs[i]))});
    text += runs.text() + "\nBitwise equal\n  " + clusterWords(matrix) + '\n';
    for (const std::size_t measure : knownMeasures(matrix)) {
        std::vector<Align> columns(matrix.runs.size() + 1, Align::Right);
        TextTable table(columns);
        std::vector<std::string> head{""};
        for (std::size_t t = 0; t < matrix.runs.size(); ++t)
            head.push_back(numberOfRun(t));
        table.add(head);
        for (std::size_t r = 0; r < matrix.runs.size(); ++r) {
            std::vector<std::string> row{numberOfRun(r)};
            for (std::size_t t = 0; t < matrix.runs.size(); ++t)
                row.push_back(cellText(matrix, r, t, measure));
            table.add(row);
        }
        text += '\n' + titleOf(measure) + '\n' + table.text();
    }
    text +=
        "\n  Rows are the reference; in brackets: the noise floor, the worst against a repeat.\n";
    if (matrix.overAll.empty())
        return text;
    TextTable over({Align::Left, Align::Left, Align::Right, Align::Left});
    for (const diff::Measure& measure : matrix.overAll)
        over.add({measure.id, measure.name,
                  measure.value ? figureWithUnit(*measure.value, measure.unit) : "–",
                  visibleText(measure.whyNull)});
    return text + "\nOutputs over all captures\n" + over.text();
}

std::string matrixJson(const RunMatrix& matrix)
{
    Json out;
    out["schema"] = matrixSchema;
    out["verdict"] = stringOf(matrixVerdict(matrix));
    out["runs"] = Json::array();
    for (std::size_t i = 0; i < matrix.runs.size(); ++i)
        out["runs"].push_back({{"file", stringOf(matrix.runs[i].file)},
                               {"configuration", matrix.configuration[i]},
                               {"samples", matrix.runs[i].samples},
                               {"rows", matrix.runs[i].rows},
                               {"complete", matrix.runs[i].complete},
                               {"environment", environmentObject(matrix.runs[i].environment)}});
    out["clusters"] = matrix.clusters;
    out["measures"] = Json::object();
    for (const diff::Measure& measure : matrix.overAll)
        out["measures"][stringOf(measure.id)] = measureObject(measure);
    out["cells"] = Json::array();
    for (std::size_t r = 0; r < matrix.runs.size(); ++r)
        for (std::size_t t = 0; t < matrix.runs.size(); ++t) {
            const diff::MatrixCell& cell = matrix.cell(r, t);
            Json values = Json::object();
            for (std::size_t m = 0; m < cell.values.size(); ++m)
                values[std::string(diff::matrixMeasures()[m].id)] =
                    cell.values[m] ? numberOf(*cell.values[m]) : Json();
            Json entry{{"reference", r},
                       {"target", t},
                       {"floor", r == t},
                       {"bitwise_equal", cell.values.empty() ? Json() : Json(cell.bitwiseEqual)},
                       {"values", values}};
            if (!cell.why.empty())
                entry["why_null"] = stringOf(cell.why);
            out["cells"].push_back(entry);
        }
    return printed(out);
}

std::string matrixHtml(const RunMatrix& matrix)
{
    std::string tables;
    for (const std::size_t measure : knownMeasures(matrix))
        tables += measureMarkup(matrix, measure);
    const std::string page =
        verdictHeading(matrixVerdict(matrix), matrix.clusters.size() > 1) + runsMarkup(matrix)
        + section("equal", "Bitwise equal", {}, element("p", "lead", escaped(clusterWords(matrix))))
        + section(
            "pairs", "Every capture against every other",
            "Rows are the reference, columns the target; darker (on dark ground: brighter) is "
            "farther apart, log scale. In brackets on the diagonal: the noise floor, the "
            "worst against a repeat of the same configuration.",
            "<div class=\"matrices\">\n" + tables + "</div>\n")
        + overAllMarkup(matrix);
    return htmlPage("Moire: matrix of " + countOf(matrix.runs.size(), "capture"), page,
                    "Moire matrix. The same inputs give the same bytes.");
}

} // namespace moire::report
