// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/markdown.h"

#include "core/base/text.h"
#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/number.h"
#include "core/report/reproduce.h"

#include <algorithm>
#include <initializer_list>

namespace moire::report {

namespace {

using base::visibleText;

constexpr std::size_t mostTaps = 12;

/// A span of code in a table's cell that shows the text as it is: a fence longer than any inside.
std::string code(std::string_view bytes)
{
    std::string text;
    std::size_t longest = 0;
    std::size_t run = 0;
    for (const char c : visibleText(bytes)) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
        text +=
            c == '|' ? std::string("\\|") : std::string(1, c); // would end the cell, also in code
    }
    if (text.empty())
        return "–";
    const std::string fence(longest + 1, '`');
    const std::string space = longest > 0 || text.front() == ' ' || text.back() == ' ' ? " " : "";
    return fence + space + text + space + fence;
}

std::string row(std::initializer_list<std::string> cells)
{
    std::string line = "|";
    for (const std::string& cell : cells)
        line += ' ' + cell + " |";
    return line + '\n';
}

std::string firstPart(const diff::Report& report)
{
    std::string text = "\n### First divergences\n\n";
    text += row({"kind", "site", "reference", "target", "ulps", "origin"});
    text += "|---|---|--:|--:|--:|---|\n";
    for (const FirstKind& kind : firstKinds) {
        const auto& found = report.first.*kind.member;
        if (!found) {
            text += row(
                {std::string(kind.words), std::string(absentText(kind, report)), "", "", "", ""});
            continue;
        }
        text +=
            row({std::string(kind.words), code(siteText(*found)),
                 sideText(kind, found->referenceValue, found->referenceBits, found->referenceType),
                 sideText(kind, found->targetValue, found->targetBits, found->targetType),
                 found->ulps ? grouped(*found->ulps) : std::string("–"),
                 markdownEscaped(originText(*found))});
    }
    return text;
}

std::string familiesPart(const diff::Report& report)
{
    std::string text = "\n### Families\n\n" + row({"family", "value", ""}) + "|---|--:|---|\n";
    for (const Chip& chip : familyChips(report))
        text += row({markdownEscaped(chip.title), markdownEscaped(chip.value),
                     markdownEscaped(chip.detail)});
    return text;
}

std::string causePart(const diff::Report& report)
{
    if (report.cause.empty())
        return {};
    std::string text = "\n### Cause\n\n" + markdownEscaped(report.cause) + "\n\n";
    for (const diff::CauseFinding& finding : report.causeFindings) {
        text += "- **" + markdownEscaped(finding.rule) + "**: " + markdownEscaped(finding.sentence)
                + '\n';
        for (const std::string& fact : finding.evidence)
            text += "  - " + markdownEscaped(fact) + '\n';
    }
    return text;
}

std::string tolerancePart(const diff::Report& report)
{
    if (!hasTolerance(report))
        return {};
    std::string text = "\n### Tolerance " + markdownEscaped(report.toleranceProfile) + "\n\n";
    text += row({"taps", "criterion", "", "failed", "undecided", "checked", "worst", "at"});
    text += "|---|---|---|--:|--:|--:|--:|---|\n";
    for (const diff::CriterionOutcome& outcome : report.tolerance)
        text +=
            row({code(outcome.pattern), code(outcome.criterion), std::string(outcomeWord(outcome)),
                 grouped(outcome.failed), grouped(outcome.undecided), grouped(outcome.checked),
                 outcome.worst ? figure(*outcome.worst) : std::string("–"), code(outcome.at)});
    return text;
}

std::string tapsPart(const diff::Report& report)
{
    const std::vector<std::size_t> order = tapsByDifference(report);
    if (order.empty())
        return {};
    std::string text = "\n<details><summary>" + grouped(order.size()) + " of "
                       + countOf(report.taps.size(), "tap")
                       + (order.size() == 1 ? " differs" : " differ") + "</summary>\n\n";
    text += row({"tap", "bits equal", "largest ulp", "max \\|Δ\\|", "relative L2"});
    text += "|---|--:|--:|--:|--:|\n";
    for (std::size_t i = 0; i < std::min(order.size(), mostTaps); ++i) {
        const diff::TapReport& tap = report.taps[order[i]];
        text += row({code(tap.name), valueIn(tap.measures, "A1"), valueIn(tap.measures, "A4"),
                     valueIn(tap.measures, "B2"), valueIn(tap.measures, "B4")});
    }
    return text + "\n</details>\n";
}

std::string environmentPart(const diff::Report& report)
{
    if (report.environmentDifferences.empty())
        return {};
    std::string text = "\n### Environment: what differs\n\n" + row({"field", "reference", "target"})
                       + "|---|---|---|\n";
    for (const diff::EnvironmentDifference& difference : report.environmentDifferences)
        text += row({code(difference.key), code(difference.reference), code(difference.target)});
    return text;
}

std::string runsPart(const diff::Report& report)
{
    std::string text = row({"", "file", "run"}) + "|---|---|---|\n";
    text +=
        row({"reference", code(report.reference.file), markdownEscaped(runLine(report.reference))});
    text += row({"target", code(report.target.file), markdownEscaped(runLine(report.target))});
    text += "\nCompared: ";
    const std::vector<std::string> lines = alignmentLines(report);
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += (i == 0 ? "" : "; ") + markdownEscaped(lines[i]);
    return text + ".\n";
}

} // namespace

std::string markdownEscaped(std::string_view bytes)
{
    std::string out;
    for (const char c : visibleText(bytes)) {
        if (std::string_view("\\`*_{}[]<>()#|!~&$@").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

std::string markdownText(const diff::Report& report)
{
    std::string text = "**" + markdownEscaped(report.verdict) + "**\n\n" + runsPart(report);
    text += familiesPart(report) + firstPart(report) + causePart(report) + tolerancePart(report);
    text += tapsPart(report) + environmentPart(report);
    text += "\n### How to reproduce\n\n~~~sh\n";
    for (const std::string& command : reproduceCommands(report))
        text += visibleText(command) + '\n';
    return text + "~~~\n";
}

} // namespace moire::report
