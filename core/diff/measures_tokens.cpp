// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace moire::diff {

namespace {

/// A pair of responses, as ids.
struct Responses
{
    std::vector<std::int32_t> reference, target;
    std::string sample;

    bool equal() const { return reference == target; }
    /// First index that differs; the shorter length where one is a prefix of the other.
    std::size_t firstDifference() const
    {
        const auto [a, b] =
            std::mismatch(reference.begin(), reference.end(), target.begin(), target.end());
        return static_cast<std::size_t>(a - reference.begin());
    }
};

std::vector<std::int32_t> responseIds(std::span<const trace::Token> tokens)
{
    std::vector<std::int32_t> ids;
    for (const trace::Token& token : tokens)
        if (token.response)
            ids.push_back(token.id);
    return ids;
}

/// False for a sample that an incomplete capture was cut off in: its response is not an answer.
bool isEnded(const trace::Run& run, trace::SampleIndex sample)
{
    return run.complete() || !run.samples()[indexOf(sample)].stopReason.empty();
}

std::vector<Responses> responsesOf(const FoldView& view)
{
    std::vector<Responses> all;
    for (const Alignment::SamplePair& pair : view.alignment.samples) {
        if (!isEnded(view.reference, pair.reference) || !isEnded(view.target, pair.target))
            continue;
        Responses responses{responseIds(view.reference.tokens(pair.reference)),
                            responseIds(view.target.tokens(pair.target)),
                            view.reference.samples()[indexOf(pair.reference)].id};
        if (!responses.reference.empty() || !responses.target.empty())
            all.push_back(std::move(responses));
    }
    return all;
}

/// Empty when both runs chose their own tokens.
std::string whyNoFreeRun(const FoldView& view)
{
    const auto given = [](const trace::Run& run) {
        const std::string replay = run.header().environment.text(trace::env::replay);
        return !replay.empty() && replay != "free";
    };
    if (given(view.target))
        return "the target scored given tokens; it did not choose its own";
    if (given(view.reference))
        return "the reference scored given tokens; it did not choose its own";
    return {};
}

void fillResponses(const std::vector<Responses>& all, std::array<Measure, 4>& made)
{
    auto& [equal, first, prefix, length] = made;
    double same = 0;
    double fractions = 0;
    std::vector<double> differences;
    std::vector<double> lengths;
    for (const Responses& responses : all) {
        const std::size_t longer = std::max(responses.reference.size(), responses.target.size());
        const std::size_t at = responses.firstDifference();
        same += responses.equal() ? 1 : 0;
        fractions += static_cast<double>(at) / static_cast<double>(longer);
        lengths.push_back(static_cast<double>(responses.target.size())
                          - static_cast<double>(responses.reference.size()));
        if (responses.equal())
            continue;
        if (differences.empty()
            || static_cast<double>(at) < *std::min_element(differences.begin(), differences.end()))
            first.at = responses.sample;
        differences.push_back(static_cast<double>(at));
    }
    const auto count = static_cast<double>(all.size());
    for (Measure& measure : made)
        measure.n = all.size();
    setValue(equal, percent(same, count));
    setValue(prefix, fractions / count);
    double sum = 0;
    for (const double value : lengths)
        sum += value;
    setValue(length, sum / count);
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    length.percentiles["min"] = *shortest;
    length.percentiles["max"] = *longest;
    first.parameters["censored"] = same;
    if (differences.empty()) {
        first.whyNull = "no response differs";
        return;
    }
    std::sort(differences.begin(), differences.end());
    setValue(first, quantile(differences, 0.5));
    first.percentiles["min"] = differences.front();
    first.percentiles["max"] = differences.back();
}

/// Right, wrong the same way, or wrong differently, counted by group.
struct Answers
{
    double total = 0, referenceRight = 0, targetRight = 0, same = 0;
    double toWrong = 0, toRight = 0, toOtherWrong = 0;

    void add(const trace::Sample& reference, const trace::Sample& target)
    {
        const bool first = reference.prediction == reference.label;
        const bool second = target.prediction == reference.label;
        const bool agree = reference.prediction == target.prediction;
        ++total;
        referenceRight += first ? 1 : 0;
        targetRight += second ? 1 : 0;
        same += agree ? 1 : 0;
        toWrong += first && !second ? 1 : 0;
        toRight += !first && second ? 1 : 0;
        toOtherWrong += !first && !second && !agree ? 1 : 0;
    }
};

} // namespace

void addTokenMeasures(const FoldView& view, Measures& measures)
{
    std::string why = whyNoFreeRun(view);
    const std::vector<Responses> all = why.empty() ? responsesOf(view) : std::vector<Responses>();
    if (why.empty() && all.empty())
        why = view.reference.complete() && view.target.complete()
                  ? "no response tokens were generated"
                  : "no response ended in both runs";
    std::array<Measure, 4> made{named("G1", why), named("G2", why), named("G4", why),
                                named("G5", why)};
    if (!all.empty())
        fillResponses(all, made);
    measures.insert(measures.end(), made.begin(), made.end());
}

void addTaskMeasures(const FoldView& view, Measures& measures)
{
    Answers answers;
    std::map<std::string, Answers> groups;
    for (const Alignment::SamplePair& pair : view.alignment.samples) {
        const trace::Sample& ours = view.reference.samples()[indexOf(pair.reference)];
        const trace::Sample& theirs = view.target.samples()[indexOf(pair.target)];
        if (ours.label.empty() || (ours.prediction.empty() && theirs.prediction.empty()))
            continue;
        answers.add(ours, theirs);
        groups[ours.category].add(ours, theirs);
    }
    const std::string why = "no task: the samples have no label or no prediction";
    Measure accuracy = named("J1", why);
    Measure agreement = named("J2", why);
    Measure flips = named("J3", why);
    accuracy.n = agreement.n = flips.n = static_cast<std::uint64_t>(answers.total);
    if (answers.total > 0) {
        const double reference = percent(answers.referenceRight, answers.total);
        setValue(accuracy, percent(answers.targetRight, answers.total));
        accuracy.parameters["reference"] = reference;
        accuracy.parameters["difference"] = *accuracy.value - reference;
        setValue(agreement, percent(answers.same, answers.total));
        agreement.parameters["different"] = answers.total - answers.same;
        setValue(flips, answers.toWrong);
        flips.parameters["wrong_to_correct"] = answers.toRight;
        flips.parameters["wrong_to_other_wrong"] = answers.toOtherWrong;
        for (const auto& [category, group] : groups) {
            accuracy.byGroup[category] = percent(group.targetRight, group.total);
            flips.byGroup[category] = group.toWrong;
        }
    }
    measures.insert(measures.end(), {accuracy, agreement, flips});
}

void addCostMeasures(const FoldView& view, Measures& measures)
{
    const auto ratio = [&](std::string_view key) -> std::optional<double> {
        const auto number = [key](const trace::Run& run) -> double {
            const auto* value = run.header().environment.find(key);
            if (value == nullptr)
                return 0;
            if (const auto* real = std::get_if<double>(value))
                return *real;
            if (const auto* whole = std::get_if<std::int64_t>(value))
                return static_cast<double>(*whole);
            return 0;
        };
        const double ours = number(view.reference);
        const double theirs = number(view.target);
        return ours > 0 && theirs > 0 ? std::optional(theirs / ours) : std::nullopt;
    };
    Measure cost = named("K1", "the runs do not both hold their wall time");
    if (const auto time = ratio(trace::env::wallSeconds)) {
        cost.n = 1;
        setValue(cost, *time);
    }
    if (const auto memory = ratio(trace::env::peakBytes))
        cost.parameters["memory"] = *memory;
    measures.push_back(std::move(cost));
}

} // namespace moire::diff
