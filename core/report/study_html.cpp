// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/html_page.h"
#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/study_report.h"
#include "core/report/svg.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace moire::report {

namespace {

using diff::Estimate;
using diff::StudyReport;
using diff::StudyRow;

std::string headOf(const StudyReport& study)
{
    std::string head = "<th scope=\"col\" class=\"code\">id</th><th scope=\"col\">measure</th>";
    for (std::size_t t = 0; t < study.targets.size(); ++t)
        head += "<th scope=\"col\" class=\"number\" title=\"" + escaped(study.targets[t]) + "\">"
                + std::to_string(t + 1) + "</th>";
    return head;
}

/// "80.88 %" over its interval; what an interval without 0 says is certain and marked.
std::string estimateCell(const Estimate& estimate, std::string_view unit, bool signed_)
{
    if (!estimate.value)
        return "<td class=\"number faint\" title=\"" + escaped(estimate.why) + "\">–</td>";
    const Signed kind = signed_ ? Signed::Yes : Signed::No;
    std::string cell = escaped(estimateText({estimate.value, {}, {}}, unit, kind));
    if (estimate.interval) {
        const std::string whole = estimateText(estimate, unit, kind);
        const bool certain = signed_ && (estimate.interval->low > 0 || estimate.interval->high < 0);
        cell = (certain ? element("strong", cell) : cell) + "<br/>"
               + element("span", "dim", whole.substr(whole.find('[')));
    }
    return "<td class=\"number\">" + cell + "</td>";
}

std::string estimatesSection(const StudyReport& study, std::string_view id,
                             const std::string& heading, const std::string& words,
                             std::vector<Estimate> StudyRow::*estimates,
                             const std::function<std::string(const StudyRow&)>& unitOf,
                             bool signed_)
{
    std::string body;
    for (const StudyRow& row : study.rows) {
        const std::vector<Estimate>& values = row.*estimates;
        if (!isShown(row)
            || std::none_of(values.begin(), values.end(),
                            [](const Estimate& estimate) { return estimate.value.has_value(); }))
            continue;
        body += "<tr><th scope=\"row\" class=\"code\">" + escaped(row.id) + "</th><td>"
                + escaped(row.name) + "</td>";
        for (const Estimate& estimate : values)
            body += estimateCell(estimate, unitOf(row), signed_);
        body += "</tr>\n";
    }
    if (body.empty())
        return {};
    return section(id, heading, words,
                   "<div class=\"scroll\"><table>\n" + element("caption", "unseen", heading)
                       + "\n<thead><tr>" + headOf(study) + "</tr></thead>\n<tbody>\n" + body
                       + "</tbody>\n</table></div>\n");
}

std::string targetsSection(const StudyReport& study)
{
    using Kind = Column::Kind;
    MarkupTable table("Targets", {{"", Kind::Number},
                                  {"target", Kind::Code},
                                  {"shares with the reference"},
                                  {"runtime", Kind::Number},
                                  {"KL gained", Kind::Number},
                                  {"Pareto front"}});
    for (std::size_t t = 0; t < study.targets.size(); ++t) {
        const auto& front = study.paretoFront;
        const bool member = std::find(front.begin(), front.end(), t) != front.end();
        std::string runtime = "–";
        if (t < study.cost.size() && study.cost[t])
            runtime = figure(*study.cost[t], 3) + " ×";
        table.add({std::to_string(t + 1), escaped(study.targets[t]), escaped(sharedText(study, t)),
                   runtime, gainForCost(study, t), member ? "● on it" : ""});
    }
    return section(
        "targets", "Targets",
        "Runtime as a multiple of the reference's; KL gained: how much of the baseline's forward "
        "KL "
        "is gone for each reference's runtime more (K5). On the front: no other target is both "
        "cheaper and closer.",
        table.markup());
}

std::string disagreementSection(const StudyReport& study)
{
    if (study.reduced.empty())
        return {};
    std::string body;
    std::string head = "<td></td>";
    for (std::size_t i = 0; i < study.reduced.size(); ++i) {
        head += "<th scope=\"col\" class=\"number\">" + escaped(study.reduced[i]) + "</th>";
        body += "<tr><th scope=\"row\" class=\"code\">" + escaped(study.reduced[i]) + "</th>";
        for (const diff::Disagreement& cell : study.disagreement[i]) {
            std::string text = cell.compared == 0 ? "–"
                                                  : std::to_string(cell.signs) + " of "
                                                        + std::to_string(cell.compared);
            if (cell.certain > 0)
                text = element("strong", text + " ◆");
            body += "<td class=\"number\">" + text + "</td>";
        }
        body += "</tr>\n";
    }
    return section("disagreement", "Where the measures disagree (K4)",
                   "For how many targets two measures judge the change with opposite signs; ◆: for "
                   "at least one of them neither interval holds 0.",
                   "<div class=\"scroll\"><table class=\"matrix\">\n"
                       + element("caption", "unseen", "Disagreement of the measures")
                       + "\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + body
                       + "</tbody>\n</table></div>\n");
}

/// Cost to the right, reduction of forward KL upwards, one numbered dot a target.
std::string costSection(const StudyReport& study)
{
    const auto row = std::find_if(study.rows.begin(), study.rows.end(),
                                  [](const StudyRow& r) { return r.id == "C1"; });
    struct Dot
    {
        std::size_t target;
        double cost, gain;
    };
    std::vector<Dot> dots;
    for (std::size_t t = 0; row != study.rows.end() && t < row->reductions.size(); ++t)
        if (study.cost[t] && row->reductions[t].value)
            dots.push_back({t, *study.cost[t], *row->reductions[t].value});
    if (dots.size() < 2)
        return {};
    constexpr double width = 720, height = 280, left = 64, bottom = 44, margin = 20;
    double leastCost = std::numeric_limits<double>::infinity(), mostCost = 0;
    double leastGain = 0, mostGain = 0;
    for (const Dot& dot : dots) {
        leastCost = std::min(leastCost, dot.cost);
        mostCost = std::max(mostCost, dot.cost);
        leastGain = std::min(leastGain, dot.gain);
        mostGain = std::max(mostGain, dot.gain);
    }
    const auto x = [&](double cost) {
        const double span = mostCost > leastCost ? mostCost - leastCost : 1;
        return left + margin + (width - left - 2 * margin) * (cost - leastCost) / span;
    };
    const auto y = [&](double gain) {
        const double span = mostGain > leastGain ? mostGain - leastGain : 1;
        return height - bottom - margin
               - (height - bottom - 2 * margin) * (gain - leastGain) / span;
    };
    Svg svg(width, height, "Reduction of forward KL against runtime, one dot a target");
    svg.line(left, y(0), width, y(0), "gridline");
    constexpr double baseline = 4, radius = 5, labelGap = 9;
    for (const double gain : {leastGain, mostGain})
        svg.text(left - 8, y(gain) + baseline, "end", figure(gain, 3) + " %");
    for (const double cost : {leastCost, mostCost})
        svg.text(x(cost), height - bottom + 16, "middle", figure(cost, 3) + " ×");
    for (const Dot& dot : dots) {
        const auto& front = study.paretoFront;
        const bool member = std::find(front.begin(), front.end(), dot.target) != front.end();
        svg.circle(x(dot.cost), y(dot.gain), radius, member ? "dot three" : "dot one");
        svg.text(x(dot.cost), y(dot.gain) - labelGap, "middle",
                 std::to_string(dot.target + 1) + (member ? " ●" : ""));
    }
    svg.text(width, height - 6, "end", "runtime →");
    return section("cost", "Gain against cost (K5)",
                   "Upwards: how much of the baseline's forward KL is gone; ● marks the Pareto "
                   "front.",
                   svg.markup());
}

} // namespace

std::string studyHtml(const StudyReport& study, std::size_t baseline)
{
    const auto own = [](const StudyRow& row) { return row.unit; };
    const auto percent = [](const StudyRow&) { return std::string("%"); };
    const auto change = [](const StudyRow& row) { return row.changeUnit; };
    const std::string against = "against " + escaped(study.targets[baseline]);
    const std::string certain = "Bold: the interval does not hold 0.";
    const std::string page =
        verdictHeading(studyVerdict(study), false) + targetsSection(study)
        + estimatesSection(study, "measures", "Measures",
                           "Each against the reference, over the rows that all targets share.",
                           &StudyRow::values, own, false)
        + estimatesSection(study, "changes", "Change " + against,
                           "Paired: the same resampled samples on both sides. " + certain,
                           &StudyRow::changes, change, true)
        + estimatesSection(study, "reductions", "Reduction of the error " + against + " (K2)",
                           certain, &StudyRow::reductions, percent, true)
        + estimatesSection(study, "retained", "Gain retained (K3)", certain, &StudyRow::retained,
                           percent, true)
        + costSection(study) + disagreementSection(study);
    return htmlPage("Moire: study of " + countOf(study.targets.size(), "target"), page,
                    "Moire study. The same inputs give the same bytes.");
}

} // namespace moire::report
