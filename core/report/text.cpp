// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/text.h"

#include "core/base/text.h"
#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/number.h"
#include "core/report/text_table.h"

#include <algorithm>

namespace moire::report {

namespace {

using base::visibleText;

constexpr std::size_t mostTaps = 12;
constexpr std::size_t mostSamples = 20;

/// Weights only: a log or a pipe gets the same words without them.
class Ink
{
public:
    explicit Ink(bool on)
        : m_on(on)
    {}
    std::string strong(const std::string& text) const { return wrapped("\x1b[1m", text); }
    std::string faint(const std::string& text) const { return wrapped("\x1b[2m", text); }

private:
    std::string wrapped(const char* start, const std::string& text) const
    {
        return m_on ? start + text + "\x1b[0m" : text;
    }
    bool m_on;
};

std::string heading(const Ink& ink, const std::string& words)
{
    return '\n' + ink.strong(words) + '\n';
}

std::string runsPart(const diff::Report& report)
{
    TextTable table({Align::Left, Align::Left, Align::Left});
    table.add(
        {"reference", visibleText(report.reference.file), visibleText(runLine(report.reference))});
    table.add({"target", visibleText(report.target.file), visibleText(runLine(report.target))});
    std::string text = '\n' + table.text();
    bool firstLine = true;
    TextTable lines({Align::Left, Align::Left});
    for (const std::string& line : alignmentLines(report)) {
        lines.add({firstLine ? "compared " : "", visibleText(line)});
        firstLine = false;
    }
    return text + lines.text();
}

std::string environmentPart(const diff::Report& report, const Ink& ink)
{
    if (report.environmentDifferences.empty())
        return {};
    TextTable table({Align::Left, Align::Left, Align::Left});
    const auto orAbsent = [](const std::string& value) {
        return value.empty() ? std::string("–") : visibleText(value);
    };
    for (const auto& difference : report.environmentDifferences)
        table.add({visibleText(difference.key), orAbsent(difference.reference),
                   "→ " + orAbsent(difference.target)});
    return heading(ink, "Environment differs") + table.text();
}

std::string firstPart(const diff::Report& report, const Ink& ink)
{
    TextTable table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Right,
                     Align::Left, Align::Left});
    table.add({"kind", "site", "reference", "target", "ulps", "origin"});
    for (const FirstKind& kind : firstKinds) {
        const auto& found = report.first.*kind.member;
        if (!found) {
            table.add({std::string(kind.words), std::string(absentText(kind, report))});
            continue;
        }
        table.add(
            {std::string(kind.words), visibleText(siteText(*found)),
             sideText(kind, found->referenceValue, found->referenceBits, found->referenceType),
             sideText(kind, found->targetValue, found->targetBits, found->targetType),
             found->ulps ? grouped(*found->ulps) : "–", std::string(diff::nameOf(found->origin)),
             visibleText(found->note)});
    }
    return heading(ink, "First divergences") + table.text();
}

/// The cause in one sentence, then what each rule saw.
std::string causePart(const diff::Report& report, const Ink& ink)
{
    if (report.cause.empty())
        return {};
    std::string text = heading(ink, "Cause") + "  " + visibleText(report.cause) + '\n';
    TextTable table({Align::Left, Align::Left});
    for (const diff::CauseFinding& finding : report.causeFindings) {
        table.add({visibleText(finding.rule), visibleText(finding.sentence)});
        for (const std::string& fact : finding.evidence)
            table.add({"", "· " + visibleText(fact)});
    }
    return text + table.text();
}

std::string tolerancePart(const diff::Report& report, const Ink& ink)
{
    if (!hasTolerance(report))
        return {};
    TextTable table({Align::Left, Align::Left, Align::Left, Align::Right, Align::Right,
                     Align::Right, Align::Right, Align::Left});
    table.add({"", "taps", "criterion", "failed", "undecided", "checked", "worst", "at"});
    for (const diff::CriterionOutcome& outcome : report.tolerance)
        table.add({std::string(outcomeWord(outcome)), visibleText(outcome.pattern),
                   visibleText(outcome.criterion), grouped(outcome.failed),
                   grouped(outcome.undecided), grouped(outcome.checked),
                   outcome.worst ? figure(*outcome.worst) : "–", visibleText(outcome.at)});
    return heading(ink, "Tolerance"
                            + (report.toleranceProfile.empty()
                                   ? std::string()
                                   : ", profile " + visibleText(report.toleranceProfile)))
           + table.text();
}

std::string chipsPart(const diff::Report& report, const Ink& ink)
{
    TextTable table({Align::Left, Align::Right, Align::Left});
    for (const Chip& chip : familyChips(report))
        table.add({chip.title, chip.value, visibleText(chip.detail)});
    return heading(ink, "Families") + table.text();
}

/// With --first no measure is taken; one line says so instead of one a measure.
bool tookNoMeasure(const diff::Report& report)
{
    return std::all_of(
        report.measures.begin(), report.measures.end(),
        [](const diff::Measure& measure) { return measure.whyNull == diff::onlyFirstAsked; });
}

std::string measuresPart(const diff::Report& report, const Ink& ink)
{
    if (report.measures.empty())
        return {};
    if (tookNoMeasure(report))
        return heading(ink, "Measures") + "  none: " + std::string(diff::onlyFirstAsked) + '\n';
    TextTable table(
        {Align::Left, Align::Left, Align::Right, Align::Left, Align::Right, Align::Left});
    table.add({"id", "measure", "value", "interval", "n"});
    std::string family;
    for (const diff::Measure& measure : report.measures) {
        if (measure.family != family) {
            family = measure.family;
            table.add({std::string(familyName(family))});
        }
        table.add({measure.id, measure.name,
                   measure.value ? figureWithUnit(*measure.value, measure.unit) : "–",
                   intervalText(measure), grouped(measure.n),
                   visibleText(!measure.value       ? measure.whyNull
                               : measure.at.empty() ? measure.whyNoInterval
                                                    : measure.at)});
    }
    return heading(ink, "Measures") + table.text();
}

std::string tapsPart(const diff::Report& report, const Ink& ink)
{
    const std::vector<std::size_t> order = tapsByDifference(report);
    if (order.empty())
        return {};
    TextTable table({Align::Left, Align::Right, Align::Right, Align::Right, Align::Right});
    table.add({"tap", "bits equal", "ulp", "max |Δ|", "relative L2"});
    for (std::size_t i = 0; i < std::min(order.size(), mostTaps); ++i) {
        const diff::TapReport& tap = report.taps[order[i]];
        table.add({visibleText(tap.name), valueIn(tap.measures, "A1"), valueIn(tap.measures, "A4"),
                   valueIn(tap.measures, "B2"), valueIn(tap.measures, "B4")});
    }
    std::string text = heading(ink, "Taps that differ most") + table.text();
    text += "  "
            + ink.faint(grouped(order.size()) + " of " + countOf(report.taps.size(), "tap")
                        + (order.size() == 1 ? " differs" : " differ"))
            + '\n';
    return text;
}

std::string samplesPart(const diff::Report& report, const Ink& ink)
{
    if (report.samples.empty())
        return {};
    TextTable table({Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                     Align::Right, Align::Right});
    table.add(
        {"sample", "rows", "first bitwise", "first top-1 flip", "split", "not comparable", "KL"});
    const auto place = [](const std::optional<std::uint32_t>& position) {
        return position ? std::to_string(*position) : std::string("–");
    };
    const std::vector<std::string> names = sampleTexts(report);
    for (std::size_t i = 0; i < std::min(report.samples.size(), mostSamples); ++i) {
        const diff::SampleReport& sample = report.samples[i];
        table.add({visibleText(names[i]), grouped(sample.rowsCompared), place(sample.firstBitwise),
                   place(sample.firstArgmax), place(sample.split), grouped(sample.notComparable),
                   valueIn(sample.measures, "C1")});
    }
    std::string text = heading(ink, "Samples") + table.text();
    if (report.samples.size() > mostSamples)
        text += "  " + ink.faint("and " + grouped(report.samples.size() - mostSamples) + " more")
                + '\n';
    return text;
}

} // namespace

std::string plainText(const diff::Report& report, const TextOptions& options)
{
    const Ink ink(options.colour);
    std::string text = ink.strong(visibleText(report.verdict)) + '\n';
    if (options.verdictOnly)
        return text;
    text += runsPart(report);
    text += environmentPart(report, ink);
    text += firstPart(report, ink);
    if (report.measures.empty() || !tookNoMeasure(report))
        text += chipsPart(report, ink);
    text += causePart(report, ink);
    text += tolerancePart(report, ink);
    text += tapsPart(report, ink);
    text += samplesPart(report, ink);
    text += measuresPart(report, ink);
    return text;
}

} // namespace moire::report
