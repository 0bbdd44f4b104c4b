// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/report/number.h"
#include "core/report/study_report.h"
#include "core/report/text_table.h"

#include <functional>

namespace moire::report {

namespace {

using base::visibleText;
using diff::Estimate;
using diff::StudyReport;
using diff::StudyRow;

std::string numberOfTarget(std::size_t target)
{
    return std::to_string(target + 1);
}

bool anyKnown(const std::vector<Estimate>& estimates)
{
    for (const Estimate& estimate : estimates)
        if (estimate.value)
            return true;
    return false;
}

/// Measures × targets of one kind of estimate, rows without any left out; empty without rows. The
/// column of `same`, which is held against itself, stays empty.
std::string estimatesPart(const StudyReport& study, const std::string& heading,
                          std::vector<Estimate> StudyRow::*estimates,
                          const std::function<std::string(const StudyRow&)>& unitOf, Signed kind,
                          std::optional<std::size_t> same)
{
    std::vector<Align> columns{Align::Left, Align::Left};
    columns.resize(2 + study.targets.size(), Align::Right);
    TextTable table(columns);
    std::vector<std::string> head{"id", "measure"};
    for (std::size_t t = 0; t < study.targets.size(); ++t)
        head.push_back(numberOfTarget(t));
    table.add(head);
    bool any = false;
    for (const StudyRow& row : study.rows) {
        const std::vector<Estimate>& values = row.*estimates;
        if (!isShown(row) || !anyKnown(values))
            continue;
        any = true;
        std::vector<std::string> cells{row.id, row.name};
        for (std::size_t t = 0; t < values.size(); ++t)
            cells.push_back(same == t ? "" : estimateText(values[t], unitOf(row), kind));
        table.add(cells);
    }
    return any ? '\n' + heading + '\n' + table.text() : std::string();
}

std::string disagreementPart(const StudyReport& study)
{
    if (study.reduced.empty())
        return {};
    TextTable table(std::vector<Align>(study.reduced.size() + 1, Align::Right));
    std::vector<std::string> head{""};
    head.insert(head.end(), study.reduced.begin(), study.reduced.end());
    table.add(head);
    for (std::size_t i = 0; i < study.reduced.size(); ++i) {
        std::vector<std::string> cells{study.reduced[i]};
        for (std::size_t j = 0; j < study.reduced.size(); ++j) {
            const diff::Disagreement& cell = study.disagreement[i][j];
            std::string text = "–";
            if (cell.compared > 0)
                text = std::to_string(cell.signs) + " of " + std::to_string(cell.compared);
            if (cell.certain > 0)
                text += ", " + std::to_string(cell.certain) + " certain";
            cells.push_back(text);
        }
        table.add(cells);
    }
    return "\nMeasures that disagree on which target is better (K4)\n" + table.text();
}

} // namespace

std::string gainForCost(const StudyReport& study, std::size_t target)
{
    for (const StudyRow& row : study.rows)
        if (row.id == "C1" && target < row.gainPerCost.size() && row.gainPerCost[target]) {
            const double gain = *row.gainPerCost[target];
            return (gain > 0 ? "+" : "") + figureWithUnit(gain == 0 ? 0 : gain, "%");
        }
    return "–";
}

namespace {

std::string costPart(const StudyReport& study)
{
    TextTable table({Align::Right, Align::Left, Align::Right, Align::Right, Align::Left});
    table.add({"", "target", "runtime", "KL gained", ""});
    bool any = false;
    for (std::size_t t = 0; t < study.targets.size(); ++t) {
        const auto& cost = t < study.cost.size() ? study.cost[t] : std::nullopt;
        any = any || cost.has_value();
        bool front = false;
        for (const std::size_t member : study.paretoFront)
            front = front || member == t;
        table.add({numberOfTarget(t), visibleText(study.targets[t]),
                   cost ? figure(*cost, 3) + " ×" : "–", gainForCost(study, t),
                   front ? "on the Pareto front" : ""});
    }
    return any ? "\nCost: runtime as a multiple of the reference's (K1), and how much of the "
                 "baseline's forward KL is gone for each reference's runtime more (K5)\n"
                     + table.text()
               : std::string();
}

} // namespace

std::string studyVerdict(const StudyReport& study)
{
    std::string text = countOf(study.targets.size(), "target") + " against "
                       + visibleText(study.reference) + " over "
                       + countOf(study.samples, "shared sample");
    if (!study.rowsUsed.empty())
        text += " and " + countOf(study.rowsUsed.front(), "shared row");
    if (!study.paretoFront.empty()) {
        text += "; nothing beats ";
        for (std::size_t i = 0; i < study.paretoFront.size(); ++i)
            text += (i == 0 ? "" : ", ") + visibleText(study.targets[study.paretoFront[i]]);
        text += " in both cost and forward KL";
    }
    return text + '.';
}

bool isShown(const StudyRow& row)
{
    return row.id.find('[') == std::string::npos;
}

std::string estimateText(const Estimate& estimate, std::string_view unit, Signed kind)
{
    if (!estimate.value)
        return "–";
    const auto sign = [kind](double value) {
        return kind == Signed::Yes && value > 0 ? std::string("+") : std::string();
    };
    const auto plain = [](double value) { return value == 0 ? 0 : value; }; // no "-0"
    std::string text = sign(*estimate.value) + figureWithUnit(plain(*estimate.value), unit);
    constexpr int digits = 3;
    const auto end = [&](double value) { return sign(value) + figure(plain(value), digits); };
    if (estimate.interval)
        text += " [" + end(estimate.interval->low) + ", " + end(estimate.interval->high) + ']';
    return text;
}

std::string sharedText(const StudyReport& study, std::size_t target)
{
    std::string text =
        countOf(study.rowsOf[target], "row") + " of " + countOf(study.samplesOf[target], "sample");
    if (study.rowsOf[target] > study.rowsUsed[target])
        text += ", " + grouped(study.rowsOf[target] - study.rowsUsed[target])
                + " left out: not in every target";
    return text;
}

std::string studyText(const StudyReport& study, std::size_t baseline)
{
    std::string text = studyVerdict(study) + "\n\n";
    TextTable runs({Align::Right, Align::Left, Align::Left});
    runs.add({"reference", visibleText(study.reference)});
    for (std::size_t t = 0; t < study.targets.size(); ++t)
        runs.add({numberOfTarget(t), visibleText(study.targets[t]), sharedText(study, t)});
    text += runs.text();
    const auto own = [](const StudyRow& row) { return row.unit; };
    const auto percent = [](const StudyRow&) { return std::string("%"); };
    const auto change = [](const StudyRow& row) { return row.changeUnit; };
    const std::string against = " against " + visibleText(study.targets[baseline]);
    text += estimatesPart(study, "Measures", &StudyRow::values, own, Signed::No, {});
    text += estimatesPart(study, "Change" + against + ", paired", &StudyRow::changes, change,
                          Signed::Yes, baseline);
    text += estimatesPart(study, "Reduction of the error" + against + " (K2)",
                          &StudyRow::reductions, percent, Signed::Yes, baseline);
    text += estimatesPart(study, "Gain retained (K3)", &StudyRow::retained, percent, Signed::No,
                          baseline);
    text += disagreementPart(study) + costPart(study);
    TextTable over({Align::Left, Align::Left, Align::Right, Align::Left});
    for (const diff::Measure& measure : study.overAll)
        over.add({measure.id, measure.name,
                  measure.value ? figureWithUnit(*measure.value, measure.unit) : "–",
                  visibleText(measure.whyNull)});
    return study.overAll.empty() ? text : text + "\nOver all targets\n" + over.text();
}

} // namespace moire::report
