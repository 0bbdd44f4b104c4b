// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/flip_class.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/noise_floor.h"
#include "core/diff/rows_known.h"
#include "core/diff/statistics/agreement.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};
/// Which of crowdWidths is the value of F2: one logit.
constexpr std::size_t plainWidth = 2;
constexpr double nearTieQuantile = 0.99;

/// The 99th percentile of |B9| between two repeats, where one was given, else over the rows whose
/// best tokens agree.
std::optional<double> nearTieBound(const FoldView& view)
{
    if (view.options.floor != nullptr)
        if (const Measure* noise = view.options.floor->findMeasure("B9");
            noise != nullptr && noise->parameters.contains("abs_99_percent"))
            return noise->parameters.at("abs_99_percent");
    std::vector<double> errors;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.row.referenceTop == logits.row.targetTop && logits.directionalError)
            errors.push_back(std::fabs(*logits.directionalError));
    });
    if (errors.empty())
        return std::nullopt;
    std::sort(errors.begin(), errors.end());
    return statistics::quantile(errors, nearTieQuantile);
}

void addFlips(const FoldView& view, Measures& measures)
{
    Measure flips = named("F4", whyNoList(view, 1));
    const std::optional<double> bound = nearTieBound(view);
    std::array<std::uint64_t, 5> counts{}; // by FlipClass
    std::uint64_t total = 0;
    bool gapsKnown = true;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        ++flips.n;
        if (logits.row.referenceTop == logits.row.targetTop)
            return;
        if (total++ == 0)
            flips.at = view.site(row, headName);
        // In a table the target's choice may be missing: then the class is not known.
        gapsKnown = gapsKnown && (logits.full || logits.flipGap || logits.topNotFinite);
        ++counts[static_cast<std::size_t>(flipClassOf(logits, bound))];
    });
    if (flips.n > 0)
        setValue(flips, static_cast<double>(total));
    flips.whyNoInterval = "a count; E1 is its share of the rows and has an interval";
    if (flips.n > 0 && gapsKnown) {
        constexpr std::array keys{"exact_tie", "up_to_2_ulp", "near_tie", "moderate",
                                  "defect_suspect"};
        for (std::size_t i = 0; i < keys.size(); ++i)
            flips.parameters[keys[i]] = static_cast<double>(counts[i]);
        if (bound)
            flips.parameters["near_tie_bound"] = *bound;
    }
    measures.push_back(std::move(flips));
}

void addMargins(const FoldView& view, Measures& measures)
{
    Measure margin = named("F1", whyNoList(view, 2));
    RowValues ours;
    std::vector<double> theirs;
    std::vector<double> ourUlps;
    std::vector<double> theirUlps;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.row.referenceTop < 0 || !std::isfinite(logits.row.referenceMargin))
            return;
        ours.push_back({row, logits.row.referenceMargin});
        if (std::isfinite(logits.row.targetMargin))
            theirs.push_back(logits.row.targetMargin);
        if (logits.referenceMarginUlps)
            ourUlps.push_back(static_cast<double>(*logits.referenceMarginUlps));
        if (logits.targetMarginUlps)
            theirUlps.push_back(static_cast<double>(*logits.targetMarginUlps));
    });
    setMean(margin, view, ours, headName, Curve::None);
    const auto addMedian = [&](const char* key, std::vector<double>& values) {
        if (values.empty())
            return;
        std::sort(values.begin(), values.end());
        margin.parameters[key] = statistics::quantile(values, 0.5);
    };
    if (!theirs.empty()) {
        double sum = 0;
        for (const double value : theirs)
            sum += value;
        margin.parameters["target"] = sum / static_cast<double>(theirs.size());
    }
    addMedian("median_ulps", ourUlps);
    addMedian("target_median_ulps", theirUlps);
    measures.push_back(std::move(margin));
}

/// F2: how many tokens stand within Δ of the reference's best, itself included.
void addCrowd(const FoldView& view, Measures& measures)
{
    Measure crowd = named("F2", whyNoLogits(view));
    std::array<double, crowdWidths.size()> sums{};
    std::array<double, 2> byOutcome{};
    std::array<double, 2> rows{};
    Terms terms;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (!logits.full || logits.topNotFinite)
            return;
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += logits.spread.crowd[i];
        terms.push_back({row, static_cast<double>(logits.spread.crowd[plainWidth]), 1});
        const std::size_t flipped = logits.row.referenceTop != logits.row.targetTop ? 1 : 0;
        byOutcome[flipped] += terms.back().numerator;
        ++rows[flipped];
    });
    setRatio(crowd, view, terms, RatioForm::Quotient);
    if (crowd.value) {
        constexpr std::array keys{"within_0.25", "within_0.5", "within_1", "within_2"};
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (i != plainWidth)
                crowd.parameters[keys[i]] = sums[i] / static_cast<double>(terms.size());
        if (rows[0] > 0)
            crowd.parameters["stable"] = byOutcome[0] / rows[0];
        if (rows[1] > 0)
            crowd.parameters["flipped"] = byOutcome[1] / rows[1];
    }
    measures.push_back(std::move(crowd));
}

/// F3: rows whose best token provably keeps its place.
void addCertificates(const FoldView& view, Measures& measures)
{
    Measure certified = named("F3", whyNoLogits(view));
    Terms stable;
    double largest = 0;
    std::optional<double> noise;
    if (view.options.floor != nullptr)
        if (const Measure* floor = view.options.floor->findMeasure("F3");
            floor != nullptr && floor->parameters.contains("half_range"))
            noise = floor->parameters.at("half_range");
    double predicted = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const SpreadRecord& spread = record.logits.spread;
        if (!record.logits.full || !std::isfinite(spread.slack))
            return;
        stable.push_back({row, spread.slack > 0 ? 1.0 : 0.0, 1});
        largest = std::max(largest, spread.halfRange);
        predicted += noise && record.logits.row.referenceMargin > 2 * *noise ? 1 : 0;
    });
    setRatio(certified, view, stable, RatioForm::Percent);
    if (certified.value) {
        certified.parameters["half_range"] = largest;
        if (noise)
            certified.parameters["predicted_from_noise"] =
                percent(predicted, static_cast<double>(stable.size()));
    }
    measures.push_back(std::move(certified));
}

/// A row with a margin of the reference, and whether its best token flips.
struct Margin
{
    std::size_t row;
    double margin;
    bool flipped;
};

std::vector<Margin> marginsOf(const FoldView& view)
{
    std::vector<Margin> margins;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        if (std::isfinite(logits.row.referenceMargin))
            margins.push_back(
                {row, logits.row.referenceMargin, logits.row.referenceTop != logits.row.targetTop});
    });
    return margins;
}

/// F5: how well a small margin tells that the best token flips.
void addMarginCurve(const FoldView& view, const std::vector<Margin>& margins, Measures& measures)
{
    Measure curve = named("F5", margins.empty() ? whyNoList(view, 2)
                                                : "the best tokens flip in no row, or in all");
    std::vector<statistics::Scored> cases;
    for (const Margin& margin : margins)
        cases.push_back(
            {-margin.margin, margin.flipped,
             static_cast<std::uint32_t>(indexOf(view.alignment.rows[margin.row].sample))});
    if (const auto found = statistics::rocCurve(std::move(cases))) {
        curve.n = margins.size();
        setValue(curve, found->area);
        curve.parameters["average_precision"] = found->averagePrecision;
        if (found->bounds)
            curve.interval = Interval{found->bounds->low, found->bounds->high,
                                      "Obuchowski, clustered by sample"};
        else
            curve.whyNoInterval = "flips and stable rows do not each come from two samples";
    }
    measures.push_back(std::move(curve));
}

/// 1.4826 · median |x − median x|: the standard deviation of a normal with that median deviation.
double robustDeviation(std::vector<double> values)
{
    constexpr double normalFactor = 1.482602218505602;
    std::sort(values.begin(), values.end());
    const double middle = statistics::quantile(values, 0.5);
    for (double& value : values)
        value = std::fabs(value - middle);
    std::sort(values.begin(), values.end());
    return normalFactor * statistics::quantile(values, 0.5);
}

/// F6: the flips that margins and the spread of B9 would predict.
void addPredictedFlips(const FoldView& view, const std::vector<Margin>& margins, Measures& measures)
{
    Measure predicted = named("F6", whyNoLogits(view));
    std::vector<double> errors;
    bool missed = false;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        missed = missed || record.logits.directionMissed;
        if (record.logits.directionalError)
            errors.push_back(*record.logits.directionalError);
    });
    if (missed) {
        predicted.whyNull = whyTableMisses;
    } else if (!errors.empty() && !margins.empty()) {
        const double deviation = robustDeviation(std::move(errors));
        double expected = 0;
        double observed = 0;
        for (const Margin& margin : margins) {
            if (deviation > 0)
                expected += statistics::normalBelow(-margin.margin / deviation);
            else
                expected += margin.margin == 0 ? statistics::normalBelow(0) : 0;
            observed += margin.flipped ? 1 : 0;
        }
        predicted.n = margins.size();
        setValue(predicted, expected);
        predicted.whyNoInterval = "its spread is the robust one of all rows";
        predicted.parameters["observed"] = observed;
        predicted.parameters["deviation"] = deviation;
        if (expected > 0)
            predicted.parameters["observed_over_expected"] = observed / expected;
    }
    measures.push_back(std::move(predicted));
}

} // namespace

void addMarginMeasures(const FoldView& view, Measures& measures)
{
    addMargins(view, measures);
    addCrowd(view, measures);
    addCertificates(view, measures);
    addFlips(view, measures);
    const std::vector<Margin> rowMargins = marginsOf(view);
    addMarginCurve(view, rowMargins, measures);
    addPredictedFlips(view, rowMargins, measures);
    Measure claimed = named("F7", "no response token was scored");
    RowValues margins;
    bool missed = false;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        missed = missed || record.logits.claimMissed;
        if (record.logits.claimedMargin)
            margins.push_back({row, *record.logits.claimedMargin});
    });
    if (missed)
        claimed.whyNull = whyTableMisses;
    else
        setMean(claimed, view, margins, headName, Curve::None);
    measures.push_back(std::move(claimed));

    // Greedy free runs only: then the emitted token is a claim about the logits.
    const auto emits = [](const trace::Run& run) {
        const auto& environment = run.header().environment;
        return environment.text(trace::env::sampling) == "greedy"
               && environment.text(trace::env::replay) == "free";
    };
    Measure self = named("F8", "the reference is not a greedy free run that generated tokens");
    Terms ours;
    Terms theirs;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        if (logits.predictsResponse && emits(view.reference))
            ours.push_back({row, logits.referenceNext == logits.row.referenceTop ? 1.0 : 0.0, 1});
        if (logits.targetPredictsResponse && emits(view.target))
            theirs.push_back({row, logits.targetNext == logits.row.targetTop ? 1.0 : 0.0, 1});
    });
    setRatio(self, view, ours, RatioForm::Percent);
    if (!theirs.empty()) {
        Measure target = named("F8");
        setRatio(target, view, theirs, RatioForm::Percent);
        self.parameters["target"] = *target.value;
    }
    measures.push_back(std::move(self));
}

} // namespace moire::diff
