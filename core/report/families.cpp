// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/families.h"

#include "core/base/shortened.h"
#include "core/report/number.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

namespace moire::report {

namespace {

/// The first of `ids` that has a value; else the first that is there at all.
const diff::Measure* firstOf(const diff::Report& report,
                             std::initializer_list<std::string_view> ids)
{
    const diff::Measure* found = nullptr;
    for (const std::string_view id : ids) {
        const diff::Measure* measure = findIn(report.measures, id);
        if (measure != nullptr && measure->value)
            return measure;
        if (found == nullptr)
            found = measure;
    }
    return found;
}

void appendPart(std::string& text, const std::string& part)
{
    if (!part.empty())
        text.append(text.empty() ? "" : " · ").append(part);
}

/// A second quantity for the detail line: "top-1 99.4 %".
std::string also(const diff::Report& report, std::string_view words, std::string_view id)
{
    const diff::Measure* measure = findIn(report.measures, id);
    if (measure == nullptr || !measure->value)
        return {};
    const bool counts = measure->unit == "samples"; // "flips 1 samples" would be no English
    return std::string(words) + ' '
           + (counts ? figure(*measure->value) : figureWithUnit(*measure->value, measure->unit));
}

Chip chipOf(std::string title, const diff::Measure* measure, std::string_view absent,
            const std::string& second)
{
    Chip chip{std::move(title), std::string(absent), {}, false};
    if (measure == nullptr)
        return chip;
    if (!measure->value) {
        // "no task" and "no task: …" below it would say it twice.
        chip.detail = measure->whyNull;
        if (chip.detail.starts_with(chip.value + ": "))
            chip.detail.erase(0, chip.value.size() + 2);
        return chip;
    }
    chip.known = true;
    chip.value = figureWithUnit(*measure->value, measure->unit);
    appendPart(chip.detail, intervalText(*measure));
    appendPart(chip.detail, second);
    return chip;
}

std::string leftOver(std::uint64_t count, std::string_view what, std::string_view whose)
{
    return countOf(count, what) + " of the " + std::string(whose)
           + (count == 1 ? " has no counterpart" : " have no counterpart");
}

/// The first few names: the JSON form has them all.
std::string namesOf(const std::vector<std::string>& names)
{
    constexpr std::size_t most = 8;
    constexpr std::size_t longest = 80;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += (i == 0 ? ": " : ", ") + base::shortened(names[i], longest);
    return names.size() > most ? text + " and " + grouped(names.size() - most) + " more" : text;
}

struct Side
{
    std::string_view name;
    const std::vector<std::string>&samples, &taps, &routers;
    std::uint64_t rows;
};

void sideLines(std::vector<std::string>& lines, const Side& side)
{
    const auto named = [&](const std::vector<std::string>& names, std::string_view singular) {
        if (!names.empty())
            lines.push_back(leftOver(names.size(), singular, side.name) + namesOf(names));
    };
    named(side.samples, "sample");
    if (side.rows > 0)
        lines.push_back(leftOver(side.rows, "row", side.name));
    named(side.taps, "tap");
    named(side.routers, "router");
}

/// Why rows of a sample that stands for another are not comparable.
std::string whyNotComparable(const diff::Report& report)
{
    const bool parted =
        std::any_of(report.samples.begin(), report.samples.end(),
                    [](const diff::SampleReport& sample) { return sample.split.has_value(); });
    const bool cut = report.alignment.tokenisedDifferently > 0;
    if (!cut)
        return "behind a split";
    return parted ? "behind a split or tokenised differently" : "tokenised differently";
}

} // namespace

std::vector<Chip> familyChips(const diff::Report& report)
{
    std::vector<Chip> chips;
    chips.push_back(chipOf("Bits equal", firstOf(report, {"A1"}), "not compared", "logits"));
    chips.push_back(chipOf("Logits, KL", firstOf(report, {"C1"}), "not compared",
                           also(report, "max |Δ|", "B2")));
    chips.push_back(chipOf("Top-5 sets equal", firstOf(report, {"E3", "E3[k=5]"}), "not compared",
                           also(report, "top-1", "E1")));
    const diff::Measure* free = findIn(report.measures, "G1");
    const bool replayed = free == nullptr || !free->value;
    chips.push_back(replayed ? chipOf("Best tokens agree", firstOf(report, {"E1", "G7", "G1"}),
                                      "not compared", {})
                             : chipOf("Responses equal", free, "not generated",
                                      also(report, "median split at response", "G2")));
    chips.push_back(
        chipOf("Task accuracy", firstOf(report, {"J1"}), "no task", also(report, "flips", "J3")));
    const diff::Measure* routes = firstOf(report, {"H1"});
    const bool asked = routes == nullptr || routes->whyNull != diff::onlyFirstAsked;
    chips.push_back(chipOf("Expert sets equal", routes, asked ? "dense model" : "not compared",
                           also(report, "replaced", "H3")));
    return chips;
}

std::string_view familyName(std::string_view letter)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names{
        {{"A", "Bitwise"},
         {"B", "Logit difference"},
         {"C", "Distribution"},
         {"D", "Chosen token"},
         {"E", "Top-K"},
         {"F", "Margins"},
         {"G", "Tokens"},
         {"H", "Routing"},
         {"I", "Layers"},
         {"J", "Task"},
         {"K", "Cost"},
         {"L", "Statistics"}}};
    for (const auto& [key, name] : names)
        if (key == letter)
            return name;
    return letter;
}

std::string intervalText(const diff::Measure& measure)
{
    if (!measure.interval)
        return {};
    return '[' + figure(measure.interval->low, 3) + ", " + figure(measure.interval->high, 3) + ']';
}

const diff::Measure* findIn(const std::vector<diff::Measure>& measures, std::string_view id)
{
    for (const diff::Measure& measure : measures)
        if (measure.id == id)
            return &measure;
    return nullptr;
}

std::string valueIn(const std::vector<diff::Measure>& measures, std::string_view id)
{
    const diff::Measure* measure = findIn(measures, id);
    if (measure == nullptr || !measure->value)
        return "–";
    return figureWithUnit(*measure->value, measure->unit);
}

std::vector<std::size_t> tapsByDifference(const diff::Report& report)
{
    struct Entry
    {
        double relative;
        double equal;
        std::size_t tap;
    };
    constexpr double allEqual = 100;
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < report.taps.size(); ++i) {
        const auto valueOf = [&](std::string_view id, double otherwise) {
            const diff::Measure* measure = findIn(report.taps[i].measures, id);
            return measure != nullptr && measure->value ? *measure->value : otherwise;
        };
        const Entry entry{valueOf("B4", 0), valueOf("A1", allEqual), i};
        // NaN counts as a difference, and as the largest.
        if (!(entry.relative == 0) || !(entry.equal == allEqual))
            entries.push_back(entry);
    }
    const auto key = [](double x) { return x == x ? x : std::numeric_limits<double>::infinity(); };
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (key(a.relative) != key(b.relative))
            return key(a.relative) > key(b.relative);
        return a.equal < b.equal;
    });
    std::vector<std::size_t> taps;
    for (const Entry& entry : entries)
        taps.push_back(entry.tap);
    return taps;
}

std::string runLine(const diff::RunSummary& run)
{
    namespace env = trace::env;
    std::string text;
    for (const std::string_view key : {env::modelName, env::policy, env::arithmetic, env::device})
        appendPart(text, run.environment.text(key));
    appendPart(text, countOf(run.samples, "sample"));
    appendPart(text, countOf(run.rows, "row"));
    appendPart(text, countOf(run.taps, "tap"));
    if (!run.complete)
        appendPart(text, "incomplete");
    return text;
}

std::vector<std::string> alignmentLines(const diff::Report& report)
{
    const diff::AlignmentSummary& a = report.alignment;
    std::vector<std::string> lines{countOf(a.samples, "sample") + ", " + countOf(a.rows, "row")
                                   + ", " + countOf(a.taps, "tap")};
    if (a.missingReference > 0)
        lines.push_back(countOf(a.missingReference, "row")
                        + " known to be missing in the reference");
    if (a.missingTarget > 0)
        lines.push_back(countOf(a.missingTarget, "row") + " known to be missing in the target");
    sideLines(lines, {"reference", a.samplesOnlyReference, a.tapsOnlyReference,
                      a.routersOnlyReference, a.rowsOnlyReference});
    sideLines(lines, {"target", a.samplesOnlyTarget, a.tapsOnlyTarget, a.routersOnlyTarget,
                      a.rowsOnlyTarget});
    if (const auto apart = a.rowsNotComparableReference + a.rowsNotComparableTarget; apart > 0)
        lines.push_back(countOf(apart, "row") + ' ' + whyNotComparable(report)
                        + ": not comparable (" + grouped(a.rowsNotComparableReference)
                        + " of the reference, " + grouped(a.rowsNotComparableTarget)
                        + " of the target)");
    lines.insert(lines.end(), a.remarks.begin(), a.remarks.end());
    return lines;
}

} // namespace moire::report
