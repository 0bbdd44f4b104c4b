// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/shortened.h"
#include "core/base/text.h"
#include "core/diff/cause.h"
#include "core/diff/first_divergence.h"
#include "core/diff/inspect.h"
#include "core/diff/left_over.h"
#include "core/diff/noise_floor.h"
#include "core/diff/report_parts.h"
#include "core/diff/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace moire::diff {

namespace {

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
    if (divergence.ulps == 0U && divergence.referenceValue)
        text += std::signbit(*divergence.referenceValue) ? " (−0 became +0)" : " (+0 became −0)";
    else if (divergence.ulps)
        text += " (" + std::to_string(*divergence.ulps) + " ulp)";
    else if (divergence.referenceValue && divergence.targetValue
             && std::isnan(*divergence.referenceValue) != std::isnan(*divergence.targetValue))
        text += " (NaN on one side)";
    return text;
}

std::string firstText(const FoldView& view, const Divergence& divergence)
{
    // A divergence is what the criterion calls one.
    const bool judged = view.options.tolerance != nullptr;
    std::string text = judged ? "First difference in bits: " : "First divergence: ";
    text += sampleWords(divergence.sample) + ", position " + std::to_string(divergence.position)
            + tokenText(view, divergence) + " (" + std::string(nameOf(divergence.phase)) + "), ";
    if (divergence.layer >= 0)
        text += "layer " + std::to_string(divergence.layer) + ", ";
    text += shortTap(divergence) + ": ";
    return text + (divergence.note.empty() ? originText(divergence) : divergence.note);
}

std::string placeOf(const Divergence& divergence)
{
    return "position " + std::to_string(divergence.position) + " of "
           + sampleWords(divergence.sample);
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

/// `left`: what has no counterpart; empty where nothing has none, or where that was said already.
std::string equalText(const FoldView& view, const Report& report, const std::string& left)
{
    const std::string size =
        counted(report.alignment.rows, "row") + " × " + counted(report.alignment.taps, "tap");
    if (const std::uint64_t open = undecided(view); open > 0)
        return "No difference found in " + size + "; " + counted(open, "site")
               + " could not be compared (other dtypes or slices of taps, no values)"
               + (left.empty() ? "." : "; " + left + '.');
    const std::string apart = notComparableText(report.alignment);
    if (!isPartial(report.alignment))
        return "Bitwise equal: " + size + '.';
    return "Equal in what was compared (" + size + ')' + (apart.empty() ? "" : "; " + apart)
           + (left.empty() ? "." : "; " + left + '.');
}

/// What a tolerance found, in numbers.
struct ToleranceCounts
{
    explicit ToleranceCounts(const std::vector<CriterionOutcome>& outcomes)
    {
        for (const CriterionOutcome& outcome : outcomes) {
            checked += outcome.checked;
            failed += outcome.failed;
            if (outcome.checked == 0 && outcome.undecided > 0)
                idle.push_back("“" + base::visibleText(outcome.criterion) + "”");
            else if (outcome.criterion.starts_with("floor"))
                withoutFloor += outcome.undecided;
            else
                open += outcome.undecided;
        }
    }
    std::uint64_t decided() const { return checked - open - withoutFloor; }
    /// What could not be decided, and why.
    std::vector<std::string> undecided() const
    {
        std::vector<std::string> parts;
        for (const std::string& criterion : idle)
            parts.push_back(criterion + " found nothing to check");
        if (open > 0)
            parts.push_back(counted(open, "check") + " could not be decided without values");
        if (withoutFloor > 0)
            parts.push_back(counted(withoutFloor, "check")
                            + " could not be decided without values and a noise floor there");
        return parts;
    }

    std::uint64_t checked = 0, failed = 0, open = 0, withoutFloor = 0;
    std::vector<std::string> idle; ///< criteria that met nothing
};

std::string joined(const std::vector<std::string>& parts)
{
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : "; ") + part;
    return text;
}

/// What no check reached, whether or not it may be missing.
std::vector<std::string> beyondReach(const AlignmentSummary& alignment)
{
    std::vector<std::string> parts;
    for (const std::string& part :
         {notComparableText(alignment), leftOverText(alignment), incompleteText(alignment)})
        if (!part.empty())
            parts.push_back(part);
    return parts;
}

/// Why a tolerance is not wholly met although no check fails: what its checks did not reach and
/// may not be missing. Rows behind a split may where a criterion speaks of tokens.
std::vector<std::string> unreached(const FoldView& view, const Report& report)
{
    if (view.options.allowMissing)
        return {};
    std::vector<std::string> reasons;
    const auto add = [&reasons](const std::string& reason) {
        if (!reason.empty())
            reasons.push_back(reason);
    };
    if (!view.options.tolerance->uses(Criterion::Kind::Tokens)) {
        const std::string apart = notComparableText(report.alignment);
        add(!splits(view)   ? apart
            : apart.empty() ? "the tokens part"
                            : "the tokens part, and " + apart);
    }
    add(leftOverText(report.alignment));
    if (reasons.empty()) // otherwise a remark of the alignment says it
        add(incompleteText(report.alignment));
    return reasons;
}

/// How the tolerance was met, what is not first; empty without one.
std::string toleranceText(const FoldView& view, const Report& report)
{
    if (report.toleranceProfile.empty())
        return {};
    const ToleranceCounts counts(report.tolerance);
    const std::string name = "tolerance (" + base::visibleText(report.toleranceProfile) + ")";
    std::vector<std::string> reasons = counts.undecided();
    if (counts.failed > 0) {
        std::string text = "Beyond " + name + " in " + std::to_string(counts.failed) + " of "
                           + counted(counts.checked, "check");
        if (report.first.tolerance)
            text += ", first at " + placeOf(*report.first.tolerance) + " in "
                    + report.first.tolerance->tap + " (" + report.first.tolerance->note + ')';
        return text + (reasons.empty() ? "." : "; " + joined(reasons) + '.');
    }
    for (const std::string& reason : unreached(view, report))
        reasons.push_back(reason);
    if (counts.open == 0 && !view.options.allowMissing && undecided(view) > 0)
        reasons.push_back(counted(undecided(view), "site")
                          + " could not be compared (other dtypes or slices of taps, no values)");
    if (reasons.empty() && !isPartial(report.alignment))
        return "Within " + name + ": " + counted(counts.decided(), "check") + '.';
    if (reasons.empty()) {
        const std::vector<std::string> beyond = beyondReach(report.alignment);
        return "Within " + name + " in what was compared: " + counted(counts.decided(), "check")
               + "; " + joined(beyond) + '.';
    }
    if (counts.decided() == 0)
        return "The " + name + " could not be decided: " + joined(reasons) + '.';
    return "Not wholly within " + name + ": " + joined(reasons) + "; "
           + counted(counts.decided(), "check") + (counts.decided() == 1 ? " holds." : " hold.");
}

bool isBeyondTolerance(const FoldView& view, const Report& report)
{
    return !unreached(view, report).empty()
           || std::any_of(report.tolerance.begin(), report.tolerance.end(),
                          [](const CriterionOutcome& outcome) {
                              return outcome.failed + outcome.undecided > 0;
                          });
}

/// Appends a sentence, which ends in a full stop or is empty.
void append(std::string& text, const std::string& sentence)
{
    if (!sentence.empty())
        text += (text.empty() ? "" : " ") + sentence;
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
        append(text, remark + '.');
    const std::string left = leftOverText(report.alignment);
    const std::string judged = toleranceText(view, report);
    append(text, judged);
    const bool told = !left.empty() && judged.find(left) != std::string::npos;
    const bool different = first.bitwise || first.topK || first.experts || first.argmax
                           || first.token || first.nonFinite || splits(view);
    if (first.bitwise)
        append(text, firstText(view, *first.bitwise) + '.');
    else if (different)
        append(text, "Every tensor compared is equal.");
    else
        append(text, equalText(view, report, told ? std::string() : left));
    if (different)
        append(text, consequences(view, report));
    if (different && !left.empty() && !told)
        append(text, "Beyond that, " + left + '.');
    report.verdict = text;
    const bool judgedByBits = view.options.tolerance == nullptr;
    const bool partial = judgedByBits && isPartial(report.alignment);
    const bool missing = (partial || undecided(view) > 0) && !view.options.allowMissing;
    const bool divergent = judgedByBits ? different : isBeyondTolerance(view, report);
    report.exit = divergent || missing ? 1 : 0;
    addCause(view, report);
}

} // namespace moire::diff
