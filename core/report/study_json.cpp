// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/json_measure.h"
#include "core/report/json_value.h"
#include "core/report/study_report.h"

namespace moire::report {

namespace {

Json numberOrNull(const std::optional<double>& value)
{
    return value ? numberOf(*value) : Json();
}

Json estimateObject(const diff::Estimate& estimate)
{
    Json out;
    out["value"] = numberOrNull(estimate.value);
    out["interval"] = estimate.interval ? Json{{"low", numberOf(estimate.interval->low)},
                                               {"high", numberOf(estimate.interval->high)},
                                               {"method", stringOf(estimate.interval->method)}}
                                        : Json();
    if (!estimate.why.empty())
        out["why_null"] = stringOf(estimate.why);
    return out;
}

Json estimatesArray(const std::vector<diff::Estimate>& estimates)
{
    Json out = Json::array();
    for (const diff::Estimate& estimate : estimates)
        out.push_back(estimateObject(estimate));
    return out;
}

Json numbersArray(const std::vector<std::optional<double>>& values)
{
    Json out = Json::array();
    for (const auto& value : values)
        out.push_back(numberOrNull(value));
    return out;
}

Json rowObject(const diff::StudyRow& row)
{
    Json out{{"name", stringOf(row.name)},
             {"unit", stringOf(row.unit)},
             {"change_unit", stringOf(row.changeUnit)},
             {"values", estimatesArray(row.values)},
             {"changes", estimatesArray(row.changes)}};
    if (!row.countChanges.empty())
        out["count_changes"] = estimatesArray(row.countChanges);
    if (!row.reductions.empty())
        out["reductions"] = estimatesArray(row.reductions);
    if (!row.retained.empty())
        out["retained"] = estimatesArray(row.retained);
    if (!row.gainPerCost.empty())
        out["gain_per_cost"] = numbersArray(row.gainPerCost);
    return out;
}

} // namespace

std::string studyJson(const diff::StudyReport& study, std::size_t baseline)
{
    Json out;
    out["schema"] = studySchema;
    out["verdict"] = stringOf(studyVerdict(study));
    out["reference"] = stringOf(study.reference);
    out["targets"] = Json::array();
    for (const std::string& target : study.targets)
        out["targets"].push_back(stringOf(target));
    out["baseline"] = baseline;
    out["samples"] = study.samples;
    out["target_samples"] = study.samplesOf;
    out["target_rows"] = study.rowsOf;
    out["rows_used"] = study.rowsUsed;
    out["measures"] = Json::object();
    for (const diff::StudyRow& row : study.rows)
        out["measures"][stringOf(row.id)] = rowObject(row);
    out["reduced"] = study.reduced;
    out["disagreement"] = Json::array();
    for (const auto& row : study.disagreement) {
        Json cells = Json::array();
        for (const diff::Disagreement& cell : row)
            cells.push_back(
                {{"compared", cell.compared}, {"signs", cell.signs}, {"certain", cell.certain}});
        out["disagreement"].push_back(cells);
    }
    out["cost"] = numbersArray(study.cost);
    out["pareto_front"] = study.paretoFront;
    out["over_all"] = Json::object();
    for (const diff::Measure& measure : study.overAll)
        out["over_all"][stringOf(measure.id)] = measureObject(measure);
    return printed(out);
}

} // namespace moire::report
