// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/edit_distance.h"
#include "core/diff/free_run.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/quantile.h"
#include "core/diff/statistics/survival.h"

#include <algorithm>
#include <cmath>

namespace moire::diff {

namespace {

/// A pair of responses.
struct Responses
{
    std::vector<std::int32_t> reference, target;
    std::string referenceText, targetText;
    std::size_t samplePair = 0;
    std::string sample;

    bool equal() const { return reference == target; }
    std::size_t longer() const { return std::max(reference.size(), target.size()); }
    /// First index that differs from `begin` on; the shorter length where there is none.
    std::size_t differenceFrom(std::size_t begin) const
    {
        const std::size_t shorter = std::min(reference.size(), target.size());
        while (begin < shorter && reference[begin] == target[begin])
            ++begin;
        return begin;
    }
};

std::vector<std::int32_t> responseIds(std::span<const trace::Token> tokens, std::string& text)
{
    std::vector<std::int32_t> ids;
    for (const trace::Token& token : tokens) {
        if (!token.response)
            continue;
        ids.push_back(token.id);
        text += token.bytes;
    }
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
    for (std::size_t i = 0; i < view.alignment.samples.size(); ++i) {
        const Alignment::SamplePair& pair = view.alignment.samples[i];
        if (!isEnded(view.reference, pair.reference) || !isEnded(view.target, pair.target))
            continue;
        Responses responses;
        responses.reference =
            responseIds(view.reference.tokens(pair.reference), responses.referenceText);
        responses.target = responseIds(view.target.tokens(pair.target), responses.targetText);
        responses.samplePair = i;
        responses.sample = view.nameOfSample(pair.reference);
        if (!responses.reference.empty() || !responses.target.empty())
            all.push_back(std::move(responses));
    }
    return all;
}

/// Empty when both runs chose their own tokens.
std::string whyNoFreeRun(const FoldView& view)
{
    if (!choseOwnTokens(view.target))
        return "the target scored given tokens; it did not choose its own";
    if (!choseOwnTokens(view.reference))
        return "the reference scored given tokens; it did not choose its own";
    return {};
}

/// One number a response as a ratio over samples; `of` may leave one out.
template <class Quantity>
void setPerResponse(Measure& measure, const FoldView& view, const std::vector<Responses>& all,
                    RatioForm form, Quantity of)
{
    std::vector<SampleShare> shares(view.alignment.samples.size());
    for (const Responses& responses : all)
        if (const std::optional<double> value = of(responses))
            shares[responses.samplePair] = {*value, 1};
    setSampleRatio(measure, std::move(shares), form);
}

Measure wholeEqual(const FoldView& view, const std::vector<Responses>& all, const std::string& why)
{
    Measure equal = named("G1", why);
    setPerResponse(equal, view, all, RatioForm::Percent, [](const Responses& responses) {
        return std::optional(responses.equal() ? 1.0 : 0.0);
    });
    if (equal.value) {
        const auto n = static_cast<double>(equal.n);
        const double same = std::round(*equal.value / percent(1, 1) * n);
        const statistics::Bounds bounds = statistics::wilson(same, n);
        equal.interval =
            Interval{percent(bounds.low, 1), percent(bounds.high, 1), std::string(wilsonMethod)};
    }
    return equal;
}

/// The order statistics that hold the median with at least 95 %: X₍l₎ and X₍n+1−l₎ with the largest
/// l for which P[Bin(n, ½) < l] ≤ 2.5 %.
std::optional<Interval> medianInterval(const std::vector<double>& sorted)
{
    const auto n = static_cast<double>(sorted.size());
    const double tail = (1 - statistics::usualConfidence) / 2;
    double term = std::exp2(-n);
    double below = term;
    std::size_t l = 0;
    while (below <= tail && l < sorted.size()) {
        term *= (n - static_cast<double>(l)) / static_cast<double>(l + 1);
        below += term;
        ++l;
    }
    // Beyond a thousand values 2⁻ⁿ is too small for fp64; the normal approximation is good then.
    constexpr double many = 1000;
    if (n > many)
        l = static_cast<std::size_t>(n / 2 + statistics::normalQuantile(tail) * std::sqrt(n) / 2);
    if (l == 0)
        return std::nullopt;
    return Interval{sorted[l - 1], sorted[sorted.size() - l], "order statistics"};
}

void setMedian(Measure& measure, std::vector<double> values)
{
    if (values.empty())
        return;
    std::sort(values.begin(), values.end());
    setValue(measure, statistics::quantile(values, 0.5));
    measure.interval = medianInterval(values);
    if (!measure.interval)
        measure.whyNoInterval = "fewer than six values: no order statistics bound the median";
    setPercentiles(measure, std::move(values));
}

/// G2, with the survival of equality by index as the curve.
Measure firstDifference(const std::vector<Responses>& all, const std::string& why)
{
    Measure first = named("G2", why);
    if (all.empty())
        return first;
    std::vector<double> differences;
    std::vector<statistics::Duration> durations;
    std::size_t longest = 0;
    for (const Responses& responses : all) {
        const auto at = static_cast<double>(responses.differenceFrom(0));
        durations.push_back({at, !responses.equal()});
        longest = std::max(longest, responses.longer());
        if (responses.equal())
            continue;
        if (differences.empty() || at < *std::min_element(differences.begin(), differences.end()))
            first.at = responses.sample;
        differences.push_back(at);
    }
    first.n = all.size();
    first.parameters["censored"] = static_cast<double>(all.size() - differences.size());
    first.whyNull = "no response differs";
    setMedian(first, std::move(differences));
    const statistics::SurvivalCurve curve = statistics::kaplanMeier(std::move(durations));
    const auto setIf = [&](const char* key, const std::optional<double>& value) {
        if (value)
            first.parameters[key] = *value;
    };
    const statistics::MedianBounds bounds = statistics::medianBounds(curve);
    setIf("kaplan_meier_median", curve.median());
    setIf("kaplan_meier_low", bounds.low);
    setIf("kaplan_meier_high", bounds.high);
    double survival = 1;
    std::size_t step = 0;
    for (std::size_t i = 0; i < longest; ++i) {
        while (step < curve.steps.size() && curve.steps[step].time <= static_cast<double>(i))
            survival = curve.steps[step++].survival;
        first.byPosition.emplace_back(survival);
    }
    return first;
}

/// G3: from the first index that differs to the next one that does, where there is one.
Measure secondSpan(const std::vector<Responses>& all, const std::string& why)
{
    Measure span = named("G3", why);
    std::vector<double> spans;
    double none = 0;
    double next = 0;
    for (const Responses& responses : all) {
        const std::size_t shorter = std::min(responses.reference.size(), responses.target.size());
        const std::size_t first = responses.differenceFrom(0);
        if (first >= shorter)
            continue;
        const std::size_t second = responses.differenceFrom(first + 1);
        if (second >= shorter) {
            ++none;
            continue;
        }
        spans.push_back(static_cast<double>(second - first));
        next += second == first + 1 ? 1 : 0;
    }
    if (all.empty())
        return span;
    span.n = spans.size();
    span.whyNull = "no pair of responses differs twice";
    span.parameters["no_second_difference"] = none;
    if (!spans.empty())
        span.parameters["next_token_percent"] = percent(next, static_cast<double>(spans.size()));
    setMedian(span, std::move(spans));
    return span;
}

/// G6: edit distance, and how soon the alignment finds blocks it trusts again after the split.
Measure editDistances(const FoldView& view, const std::vector<Responses>& all,
                      const std::string& why)
{
    Measure distance = named("G6", why);
    std::vector<double> values;
    setPerResponse(distance, view, all, RatioForm::Quotient, [&](const Responses& responses) {
        const auto edits = static_cast<double>(editDistance(responses.reference, responses.target));
        values.push_back(edits / static_cast<double>(responses.longer()));
        return std::optional(values.back());
    });
    setPercentiles(distance, std::move(values));
    double split = 0;
    std::vector<double> waits;
    for (const Alignment::SamplePair& pair : view.alignment.samples) {
        if (!pair.split)
            continue;
        ++split;
        const auto found =
            std::find_if(pair.blocks.begin(), pair.blocks.end(), [&](const TokenBlock& block) {
                return block.referenceBegin >= *pair.split;
            });
        if (found != pair.blocks.end())
            waits.push_back(static_cast<double>(found->referenceBegin - *pair.split));
    }
    if (distance.value && split > 0) {
        distance.parameters["found_again_percent"] =
            percent(static_cast<double>(waits.size()), split);
        if (!waits.empty()) {
            std::sort(waits.begin(), waits.end());
            distance.parameters["found_again_after"] = statistics::quantile(waits, 0.5);
        }
    }
    return distance;
}

Measure sameText(const FoldView& view, const std::vector<Responses>& all, const std::string& why)
{
    Measure text = named("G11", why);
    const bool recorded = std::any_of(all.begin(), all.end(), [](const Responses& responses) {
        return !responses.referenceText.empty() || !responses.targetText.empty();
    });
    if (all.empty())
        return text;
    if (!recorded) {
        text.whyNull = "what the tokens decode to was not recorded";
        return text;
    }
    double otherIds = 0;
    setPerResponse(text, view, all, RatioForm::Percent, [&](const Responses& responses) {
        const bool same = responses.referenceText == responses.targetText;
        otherIds += same && !responses.equal() ? 1 : 0;
        return std::optional(same ? 1.0 : 0.0);
    });
    text.parameters["same_text_other_ids"] = otherIds;
    return text;
}

/// G10: how often a row's best token flips, and when one would therefore expect a split.
Measure hazard(const FoldView& view, const Measure& firstSplit)
{
    Measure measure = named("G10", "the best tokens are not known on both sides");
    Terms flips;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if ((record.logits.row.known & 1U) != 0)
            flips.push_back({row, (record.logits.row.setEqual & 1U) != 0 ? 0.0 : 1.0, 1});
    });
    setRatio(measure, view, flips, RatioForm::Quotient);
    if (measure.value && *measure.value > 0)
        measure.parameters["expected_split"] = 1 / *measure.value;
    const auto observed = firstSplit.parameters.find("kaplan_meier_median");
    if (measure.value && observed != firstSplit.parameters.end())
        measure.parameters["observed_split"] = observed->second;
    return measure;
}

} // namespace

void addTokenMeasures(const FoldView& view, Measures& measures)
{
    std::string why = whyNoFreeRun(view);
    const std::vector<Responses> all = why.empty() ? responsesOf(view) : std::vector<Responses>();
    if (why.empty() && all.empty())
        why = view.reference.complete() && view.target.complete()
                  ? "no response tokens were generated"
                  : "no response ended in both runs";
    measures.push_back(wholeEqual(view, all, why));
    Measure first = firstDifference(all, why);
    measures.push_back(secondSpan(all, why));
    Measure prefix = named("G4", why);
    setPerResponse(prefix, view, all, RatioForm::Quotient, [](const Responses& responses) {
        return std::optional(static_cast<double>(responses.differenceFrom(0))
                             / static_cast<double>(responses.longer()));
    });
    measures.push_back(std::move(prefix));
    Measure length = named("G5", why);
    std::vector<double> lengths;
    setPerResponse(length, view, all, RatioForm::Quotient, [&](const Responses& responses) {
        lengths.push_back(static_cast<double>(responses.target.size())
                          - static_cast<double>(responses.reference.size()));
        return std::optional(lengths.back());
    });
    setPercentiles(length, std::move(lengths));
    measures.push_back(std::move(length));
    measures.push_back(editDistances(view, all, why));
    measures.push_back(
        named("G8", "needs the captures of several configurations: moire-diff study"));
    measures.push_back(
        named("G9", "needs the captures of several configurations: moire-diff study"));
    measures.push_back(hazard(view, first));
    measures.push_back(sameText(view, all, why));
    measures.push_back(std::move(first));
}

} // namespace moire::diff
