// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/shortened.h"
#include "core/base/text.h"
#include "core/diff/cause.h"
#include "core/diff/first_divergence.h"
#include "core/diff/inspect.h"
#include "core/diff/noise_floor.h"
#include "core/diff/report_parts.h"
#include "core/diff/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace moire::diff {

namespace {

std::string counted(std::uint64_t count, const std::string& noun)
{
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

/// One decimal; never rounds to 0 or 100 what is neither.
std::string percentText(double value)
{
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.1f %%", value);
    if (value < 100 && std::string_view(buffer) == "100.0 %")
        return "more than 99.9 %";
    if (value > 0 && std::string_view(buffer) == "0.0 %")
        return "less than 0.1 %";
    if (value == 100)
        return "100 %";
    if (value == 0)
        return "0 %";
    return buffer;
}

/// Without what the sentence says already: "self_attn.q_proj".
std::string shortTap(const Divergence& divergence)
{
    std::string name = divergence.tap;
    const std::string prefix = "model.layers." + std::to_string(divergence.layer) + '.';
    if (divergence.layer >= 0 && name.starts_with(prefix))
        name.erase(0, prefix.size());
    if (name.ends_with(".out"))
        name.erase(name.size() - 4);
    return name == "out" ? "output" : name;
}

std::string tokenText(const FoldView& view, const Divergence& divergence)
{
    const trace::Row row = view.reference.row(divergence.row);
    const auto tokens = view.reference.tokens(row.sample);
    if (divergence.position >= tokens.size())
        return {};
    const trace::Token& token = tokens[divergence.position];
    if (token.bytes.empty())
        return " <" + std::to_string(token.id) + '>';
    return " “" + base::shortened(base::visibleText(token.bytes), base::shownOfToken) + "”";
}

std::string originText(const Divergence& divergence)
{
    std::string text;
    switch (divergence.origin) {
    case Origin::Introduced:
        text = "introduced here";
        break;
    case Origin::Carried:
        text = "carried from its inputs";
        break;
    case Origin::Unknown:
        text = "its inputs are not all recorded";
        break;
    }
    if (divergence.ulps)
        text += " (" + std::to_string(*divergence.ulps) + " ulp)";
    else if (divergence.referenceValue && divergence.targetValue
             && std::isnan(*divergence.referenceValue) != std::isnan(*divergence.targetValue))
        text += " (NaN on one side)";
    return text;
}

std::string firstText(const FoldView& view, const Divergence& divergence)
{
    std::string text = "First divergence: " + sampleWords(divergence.sample) + ", token "
                       + std::to_string(divergence.position) + tokenText(view, divergence) + " ("
                       + std::string(nameOf(divergence.phase)) + "), ";
    if (divergence.layer >= 0)
        text += "layer " + std::to_string(divergence.layer) + ", ";
    text += shortTap(divergence) + ": ";
    return text + (divergence.note.empty() ? originText(divergence) : divergence.note);
}

std::string placeOf(const Divergence& divergence)
{
    return "token " + std::to_string(divergence.position) + " of " + sampleWords(divergence.sample);
}

/// "token 50 of sample code, 22 of its response": of the token that the row chose.
std::string chosenPlace(const FoldView& view, const Divergence& divergence)
{
    const std::uint32_t position = divergence.position + 1;
    const auto tokens = view.reference.tokens(view.reference.row(divergence.row).sample);
    const auto response = std::find_if(tokens.begin(), tokens.end(),
                                       [](const trace::Token& token) { return token.response; });
    std::string text =
        "token " + std::to_string(position) + " of " + sampleWords(divergence.sample);
    if (response != tokens.end() && position >= response - tokens.begin())
        text += " (" + std::to_string(position - (response - tokens.begin())) + " of its response)";
    return text;
}

/// What came of the first divergence: tokens, best tokens, experts, top-5 sets.
std::string consequences(const FoldView& view, const Report& report)
{
    std::vector<std::string> parts;
    const FirstDivergences& first = report.first;
    if (first.nonFinite)
        parts.push_back("NaN or Inf on one side first at " + placeOf(*first.nonFinite) + " in "
                        + first.nonFinite->tap);
    if (first.experts)
        parts.push_back("routing changes at " + placeOf(*first.experts));
    if (first.argmax)
        parts.push_back("top-1 flips at " + placeOf(*first.argmax));
    else if (const Measure* top = report.findMeasure("E1"); top != nullptr && top->value)
        parts.push_back("top-1 never flips");
    if (first.token)
        parts.push_back("the responses part at " + chosenPlace(view, *first.token));
    if (const Measure* sets = report.findMeasure("E3"); sets != nullptr && sets->value)
        parts.push_back(percentText(*sets->value) + " of top-5 sets equal");
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : "; ") + part;
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text.empty() ? text : text + '.';
}

/// "1 sample and 6 rows of the reference"; empty when nothing is left over on that side.
std::string leftOverOf(std::uint64_t samples, std::uint64_t rows, std::uint64_t taps,
                       const std::string& side)
{
    std::vector<std::string> parts;
    if (samples > 0)
        parts.push_back(counted(samples, "sample"));
    if (rows > 0)
        parts.push_back(counted(rows, "row"));
    if (taps > 0)
        parts.push_back(counted(taps, "tap"));
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text.empty() ? text : text + " of the " + side;
}

/// What has no counterpart, as counts; empty when nothing.
std::string leftOver(const AlignmentSummary& alignment)
{
    const std::string ours =
        leftOverOf(alignment.samplesOnlyReference.size(), alignment.rowsOnlyReference,
                   alignment.tapsOnlyReference.size(), "reference");
    const std::string theirs =
        leftOverOf(alignment.samplesOnlyTarget.size(), alignment.rowsOnlyTarget,
                   alignment.tapsOnlyTarget.size(), "target");
    const std::string text = ours + (ours.empty() || theirs.empty() ? "" : " and ") + theirs;
    if (text.empty())
        return text;
    const bool single = text.starts_with("1 ") && text.find(" and ") == std::string::npos;
    return text + (single ? " has no counterpart" : " have no counterpart");
}

bool isMissing(const AlignmentSummary& alignment)
{
    return !leftOver(alignment).empty() || alignment.incompleteReference
           || alignment.incompleteTarget;
}

bool splits(const FoldView& view)
{
    for (const Alignment::SamplePair& pair : view.alignment.samples)
        if (pair.split)
            return true;
    return false;
}

/// Sites of which neither digests nor values can tell whether they are equal.
std::uint64_t undecided(const FoldView& view)
{
    std::uint64_t count = 0;
    const RowRecord* last = nullptr; // rows passed over as equal share one record
    std::uint64_t ofLast = 0;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        if (&record != last)
            ofLast = static_cast<std::uint64_t>(
                std::count_if(record.sites.begin(), record.sites.end(), [](const Site& site) {
                    return site.state == Site::State::NotRecorded;
                }));
        last = &record;
        count += ofLast;
    });
    return count;
}

std::string equalText(const FoldView& view, const Report& report)
{
    const std::string size =
        counted(report.alignment.rows, "row") + " × " + counted(report.alignment.taps, "tap");
    const std::string left = leftOver(report.alignment);
    if (const std::uint64_t open = undecided(view); open > 0)
        return "No difference found in " + size + "; " + counted(open, "site")
               + " could not be compared (other dtypes or slices of taps, no values)"
               + (left.empty() ? "." : "; " + left + '.');
    if (left.empty())
        return "Bitwise equal: " + size + '.';
    return "Equal in what was compared (" + size + "); " + left + '.';
}

/// How the tolerance was met; empty without one.
std::string toleranceText(const Report& report)
{
    if (report.toleranceProfile.empty())
        return {};
    std::uint64_t checked = 0;
    std::uint64_t failed = 0;
    std::uint64_t open = 0;
    for (const CriterionOutcome& outcome : report.tolerance) {
        checked += outcome.checked;
        failed += outcome.failed;
        open += outcome.undecided;
    }
    const std::string name = "tolerance (" + base::visibleText(report.toleranceProfile) + ")";
    const std::string undecidedText =
        open == 0 ? "" : "; " + counted(open, "check") + " could not be decided without values";
    if (failed == 0 && open < checked)
        return "Within " + name + ": " + counted(checked - open, "check") + undecidedText + ". ";
    if (failed == 0)
        return "The " + name + " could not be decided" + undecidedText + ". ";
    std::string text = "Beyond " + name + " in " + std::to_string(failed) + " of "
                       + counted(checked, "check") + undecidedText;
    if (report.first.tolerance)
        text += ", first at " + placeOf(*report.first.tolerance) + " in "
                + report.first.tolerance->tap + " (" + report.first.tolerance->note + ')';
    return text + ". ";
}

/// Whether the tolerance leaves anything to complain about; free runs that part do unless a
/// criterion speaks of tokens.
bool isBeyondTolerance(const FoldView& view, const Report& report)
{
    const bool open = std::any_of(
        report.tolerance.begin(), report.tolerance.end(),
        [](const CriterionOutcome& outcome) { return outcome.failed + outcome.undecided > 0; });
    return open
           || (splits(view) && !view.options.allowMissing
               && !view.options.tolerance->uses(Criterion::Kind::Tokens));
}

} // namespace

void addVerdict(const FoldView& view, Report& report)
{
    addTolerance(view, report);
    nameFlip(view, report);
    if (view.options.floor != nullptr)
        report.noiseFloor = view.options.floor->source();
    const FirstDivergences& first = report.first;
    std::string text;
    for (const std::string& remark : report.alignment.remarks)
        text += remark + ". ";
    text += toleranceText(report);
    const bool different = first.bitwise || first.topK || first.experts || first.argmax
                           || first.token || first.nonFinite || splits(view);
    if (first.bitwise) {
        text += firstText(view, *first.bitwise) + ". " + consequences(view, report);
        if (const std::string left = leftOver(report.alignment); !left.empty())
            text += " Beyond that, " + left + '.';
    } else if (different) {
        text += "Every tensor compared is equal. " + consequences(view, report);
    } else {
        text += equalText(view, report);
    }
    report.verdict = text;
    const bool missing =
        (isMissing(report.alignment) || undecided(view) > 0) && !view.options.allowMissing;
    const bool divergent =
        view.options.tolerance == nullptr ? different : isBeyondTolerance(view, report);
    report.exit = divergent || missing ? 1 : 0;
    addCause(view, report);
}

} // namespace moire::diff
