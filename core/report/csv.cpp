// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/csv.h"

#include "core/base/text.h"
#include "core/report/first_kinds.h"
#include "core/report/number.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace moire::report {

namespace {

using base::visibleText;

/// One line of the table; what is empty has nothing to say there.
struct Line
{
    std::string scope, name, id, measure, value, unit, n, low, high, method, at, note;
    std::string text() const
    {
        return csvLine(
            {scope, name, id, measure, value, unit, n, low, high, method, at, visibleText(note)});
    }
};

std::string measureLine(const std::string& scope, const std::string& name,
                        const diff::Measure& measure)
{
    Line line;
    line.scope = scope;
    line.name = name;
    line.id = measure.id;
    line.measure = measure.name;
    line.value = measure.value ? shortest(*measure.value) : std::string();
    line.unit = measure.unit;
    line.n = std::to_string(measure.n);
    if (measure.interval) {
        line.low = shortest(measure.interval->low);
        line.high = shortest(measure.interval->high);
        line.method = measure.interval->method;
    }
    line.at = visibleText(measure.at);
    line.note = !measure.value     ? measure.whyNull
                : measure.interval ? std::string()
                                   : measure.whyNoInterval;
    std::string text = line.text();
    for (const auto& [key, value] : measure.parameters) {
        Line parameter;
        parameter.scope = scope;
        parameter.name = name;
        parameter.id = measure.id + '.' + key;
        parameter.measure = measure.name;
        parameter.value = shortest(value);
        text += parameter.text();
    }
    return text;
}

std::string firstLine(const FirstKind& kind, const diff::Report& report)
{
    Line line;
    line.scope = "first";
    line.name = kind.key;
    line.measure = kind.words;
    const auto& found = report.first.*kind.member;
    if (!found) {
        line.note = absentText(kind, report);
        return line.text();
    }
    if (found->ulps) {
        line.value = std::to_string(*found->ulps);
        line.unit = "ulp";
    }
    line.at = visibleText(siteText(*found));
    line.note = std::string(diff::nameOf(found->origin)) + ": "
                + sideText(kind, found->referenceValue, found->referenceBits, found->referenceType)
                + " → " + sideText(kind, found->targetValue, found->targetBits, found->targetType);
    if (!found->note.empty())
        line.note += ", " + found->note;
    return line.text();
}

std::string toleranceLine(const diff::CriterionOutcome& outcome)
{
    Line line;
    line.scope = "tolerance";
    line.name = visibleText(outcome.pattern);
    line.id = visibleText(outcome.criterion);
    line.measure = "failed";
    line.value = std::to_string(outcome.failed);
    line.n = std::to_string(outcome.checked);
    line.at = visibleText(outcome.at);
    line.note = outcome.worst ? "worst " + shortest(*outcome.worst) : std::string();
    if (outcome.undecided > 0)
        line.note +=
            (line.note.empty() ? "" : ", ") + std::to_string(outcome.undecided) + " undecided";
    return line.text();
}

/// See csvLine().
bool looksLikeAFormula(std::string_view field)
{
    if (field.empty() || std::string_view("=+-@").find(field.front()) == std::string_view::npos)
        return false;
    double number = 0;
    const char* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, number);
    const bool isNumber = stop == end && error != std::errc::invalid_argument;
    return !isNumber;
}

std::string quoted(const std::string& field)
{
    std::string out = "\"";
    for (const char c : field)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

} // namespace

std::string csvLine(const std::vector<std::string>& fields)
{
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0)
            line += ',';
        const std::string field = (looksLikeAFormula(fields[i]) ? "'" : "") + fields[i];
        line += field.find_first_of(",\"\r\n") == std::string::npos ? field : quoted(field);
    }
    return line + '\n';
}

std::string csvText(const diff::Report& report)
{
    std::string text = csvLine({"scope", "name", "id", "measure", "value", "unit", "n", "low",
                                "high", "method", "at", "note"});
    Line verdict;
    verdict.scope = "verdict";
    verdict.measure = "exit status";
    verdict.value = std::to_string(report.exit);
    verdict.note = report.verdict;
    text += verdict.text();
    for (const diff::CauseFinding& finding : report.causeFindings) {
        Line line;
        line.scope = "cause";
        line.name = finding.rule;
        line.note = finding.sentence;
        text += line.text();
    }
    for (const FirstKind& kind : firstKinds)
        text += firstLine(kind, report);
    for (const diff::CriterionOutcome& outcome : report.tolerance)
        text += toleranceLine(outcome);
    for (const diff::Measure& measure : report.measures)
        text += measureLine("all", {}, measure);
    for (const diff::TapReport& tap : report.taps)
        for (const diff::Measure& measure : tap.measures)
            text += measureLine("tap", visibleText(tap.name), measure);
    const std::vector<std::string> samples = sampleTexts(report);
    for (std::size_t i = 0; i < samples.size(); ++i)
        for (const diff::Measure& measure : report.samples[i].measures)
            text += measureLine("sample", visibleText(samples[i]), measure);
    return text;
}

} // namespace moire::report
