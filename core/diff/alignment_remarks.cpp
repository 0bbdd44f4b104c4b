// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment_remarks.h"

#include "core/diff/left_over.h"
#include "core/diff/weight_fields.h"

#include <string>
#include <string_view>

namespace moire::diff {

namespace {

namespace env = trace::env;

std::string incompleteSentence(std::string_view side, const trace::Run& run)
{
    std::string text = "The " + std::string(side) + " capture is incomplete";
    const auto missing = run.missingRows();
    if (missing && *missing > 0)
        text += " (" + std::to_string(*missing) + (*missing == 1 ? " row" : " rows") + " missing)";
    return text + "; it is compared as far as its " + std::to_string(run.rowCount())
           + " committed rows go";
}

/// A remark when both runs know the field and do not agree.
void remarkField(const trace::Run& reference, const trace::Run& target, std::string_view key,
                 const std::string& what, std::vector<std::string>& remarks)
{
    const std::string a = reference.header().environment.text(key);
    const std::string b = target.header().environment.text(key);
    if (!a.empty() && !b.empty() && a != b)
        remarks.push_back(what + ": " + a + " in the reference, " + b + " in the target");
}

void remarkWeights(const trace::Run& reference, const trace::Run& target,
                   std::vector<std::string>& remarks)
{
    const trace::Environment& ours = reference.header().environment;
    const trace::Environment& theirs = target.header().environment;
    const auto types = [&] {
        return ours.text(weightTypeKey) + " in the reference, " + theirs.text(weightTypeKey)
               + " in the target";
    };
    switch (weightsDiffer(ours, theirs)) {
    case WeightsDiffer::No:
        return;
    case WeightsDiffer::InType:
        remarks.push_back("The weights have the same values and are stored as " + types());
        return;
    case WeightsDiffer::InTypeAtLeast:
        remarks.push_back("Weights are stored as " + types()
                          + "; whether their values are the same is not recorded");
        return;
    case WeightsDiffer::InValues:
        remarkField(reference, target, env::weightDigest, "Weights differ", remarks);
    }
}

void remarkDTypes(const trace::Run& reference, const trace::Run& target, Alignment& alignment)
{
    std::size_t count = 0;
    const TapPair* example = nullptr;
    for (const TapPair& pair : alignment.taps) {
        if (reference.header().taps[indexOf(pair.reference)].dtype
            == target.header().taps[indexOf(pair.target)].dtype)
            continue;
        ++count;
        if (example == nullptr)
            example = &pair;
    }
    if (example == nullptr)
        return;
    const trace::Tap& a = reference.header().taps[indexOf(example->reference)];
    const trace::Tap& b = target.header().taps[indexOf(example->target)];
    alignment.summary.remarks.push_back(
        std::to_string(count) + (count == 1 ? " tap was" : " taps were")
        + " recorded in different dtypes and compared by value (" + a.name + ": "
        + std::string(numeric::nameOf(a.dtype)) + " in the reference, "
        + std::string(numeric::nameOf(b.dtype)) + " in the target)");
}

std::string_view constructionText(trace::Construction construction)
{
    return construction == trace::Construction::Once ? "in one pass" : "step by step";
}

void remarkConstruction(const trace::Run& reference, const trace::Run& target, Alignment& alignment)
{
    std::size_t count = 0;
    trace::Construction a{};
    trace::Construction b{};
    for (const RowPair& pair : alignment.rows) {
        const trace::Construction first = reference.row(pair.reference).construction;
        const trace::Construction second = target.row(pair.target).construction;
        if (first == second)
            continue;
        if (count++ == 0) {
            a = first;
            b = second;
        }
    }
    if (count == 0)
        return;
    alignment.summary.remarks.push_back("Construction differs on " + std::to_string(count) + " of "
                                        + std::to_string(alignment.rows.size()) + " rows: computed "
                                        + std::string(constructionText(a)) + " in the reference, "
                                        + std::string(constructionText(b)) + " in the target");
}

} // namespace

void addRemarks(const trace::Run& reference, const trace::Run& target, Alignment& alignment)
{
    AlignmentSummary& summary = alignment.summary;
    summary.incompleteReference = !summary.growing && !reference.complete();
    summary.incompleteTarget = !summary.growing && !target.complete();
    summary.missingReference = reference.missingRows().value_or(0);
    summary.missingTarget = target.missingRows().value_or(0);
    std::vector<std::string> first;
    if (summary.growing)
        first.push_back("So far " + counted(summary.rows, "row")
                        + " of each run could be compared");
    if (summary.incompleteReference)
        first.push_back(incompleteSentence("reference", reference));
    if (summary.incompleteTarget)
        first.push_back(incompleteSentence("target", target));
    remarkField(reference, target, env::architecture, "Architectures differ", first);
    remarkWeights(reference, target, first);
    remarkField(reference, target, env::tokenizerDigest, "Tokenizers differ", first);
    // What the alignment itself found (prompts, widths) stands between these and the details.
    summary.remarks.insert(summary.remarks.begin(), first.begin(), first.end());
    remarkDTypes(reference, target, alignment);
    if (reference.header().level != target.header().level)
        summary.remarks.push_back("Levels differ: " + std::string(nameOf(reference.header().level))
                                  + " in the reference, "
                                  + std::string(nameOf(target.header().level))
                                  + " in the target; tensors are compared by what both hold");
    remarkConstruction(reference, target, alignment);
    remarkField(reference, target, env::logProbs, "Log-probabilities mean different things",
                summary.remarks);
}

} // namespace moire::diff
