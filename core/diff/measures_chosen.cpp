// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/chosen_tokens.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/statistics/tail_index.h"
#include "core/diff/statistics/trend.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};

/// expm1(δ) − δ without cancellation: its series below 1e-2, as in core/numeric/logits_pair.h.
double expm1Less(double x)
{
    constexpr double seriesBound = 1e-2;
    if (std::fabs(x) < seriesBound)
        return x * x * 0.5 * (1 + x / 3 + x * x / 12 + x * x * x / 60);
    return std::expm1(x) - x;
}

double sumOf(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum;
}

double meanOf(const std::vector<double>& values)
{
    return sumOf(values) / static_cast<double>(values.size());
}

/// What one δ gives under the three estimators of KL.
std::array<double, 3> estimatesOf(double delta)
{
    return {-delta, delta * delta / 2, expm1Less(delta)};
}

/// D3: value is k1 by token; the others by token and, for all, by sequence.
void addEstimators(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("D3", whyNoChosenTokens);
    std::array<RowValues, 3> byToken;
    std::array<std::array<std::vector<double>, 3>, 3> bySequence; ///< estimator × sum, mean, max
    for (const ChosenSequence& sequence : tokens.sequences) {
        std::array<double, 3> sums{};
        std::array<double, 3> largest{};
        largest.fill(-std::numeric_limits<double>::infinity());
        for (const ChosenToken& token : sequence.tokens) {
            const auto estimates = estimatesOf(token.delta());
            for (std::size_t k = 0; k < estimates.size(); ++k) {
                byToken[k].push_back({token.row, estimates[k]});
                sums[k] += estimates[k];
                largest[k] = std::max(largest[k], estimates[k]);
            }
        }
        for (std::size_t k = 0; k < sums.size(); ++k) {
            bySequence[k][0].push_back(sums[k]);
            bySequence[k][1].push_back(sums[k] / static_cast<double>(sequence.tokens.size()));
            bySequence[k][2].push_back(largest[k]);
        }
    }
    setMean(measure, view, byToken[0], headName, Curve::None);
    if (measure.value) {
        constexpr std::array names{"k1", "k2", "k3"};
        constexpr std::array forms{"_sequence_sum", "_sequence_mean", "_sequence_max"};
        for (std::size_t k = 0; k < names.size(); ++k) {
            if (k > 0) {
                Measure other = named("D3");
                setMean(other, view, byToken[k], headName, Curve::None);
                measure.parameters[names[k]] = *other.value;
            }
            for (std::size_t form = 0; form < forms.size(); ++form)
                measure.parameters[std::string(names[k]) + forms[form]] =
                    meanOf(bySequence[k][form]);
        }
    }
    measures.push_back(std::move(measure));
}

/// Sums over centred probabilities: Σxy, Σxx, Σyy, Σx, Σy, n.
double correlationOf(std::span<const double> s)
{
    return (s[0] - s[3] * s[4] / s[5])
           / (std::sqrt(s[1] - s[3] * s[3] / s[5]) * std::sqrt(s[2] - s[4] * s[4] / s[5]));
}

/// D5.
void addCorrelation(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("D5", whyNoChosenTokens);
    std::vector<double> x;
    std::vector<double> y;
    tokens.forEach([&](const ChosenToken& token) {
        x.push_back(std::exp(token.reference));
        y.push_back(std::exp(token.target));
    });
    const auto line = statistics::lineThrough(x, y);
    if (!x.empty())
        measure.whyNull = "the probabilities are all equal";
    if (line && std::isfinite(line->correlation)) {
        SampleColumns columns(view, 6);
        std::size_t i = 0;
        const double meanX = meanOf(x);
        const double meanY = meanOf(y);
        tokens.forEach([&](const ChosenToken& token) {
            const double dx = x[i] - meanX;
            const double dy = y[i++] - meanY;
            columns.add(token.row, {dx * dy, dx * dx, dy * dy, dx, dy, 1});
        });
        columns.finish(measure, correlationOf);
        setValue(measure, std::clamp(line->correlation, -1.0, 1.0));
        measure.n = x.size();
        measure.parameters["slope"] = line->slope;
    }
    measures.push_back(std::move(measure));
}

/// D13: |δ| against position, and with the token before.
void addGrowth(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("D13", whyNoChosenTokens);
    Terms terms;
    double sum = 0;
    tokens.forEach([&](const ChosenToken& token) {
        terms.push_back({token.row, std::fabs(token.delta()), 1});
        sum += terms.back().numerator;
    });
    Measure curve = named("D13");
    setPositions(curve, view, terms, RatioForm::Quotient);
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t position = 0; position < curve.byPosition.size(); ++position)
        if (curve.byPosition[position]) {
            x.push_back(static_cast<double>(position));
            y.push_back(*curve.byPosition[position]);
        }
    if (!terms.empty())
        measure.whyNull = "all tokens stand at one position";
    if (const auto slope = statistics::theilSen(x, y)) {
        setValue(measure, slope->slope);
        measure.n = x.size();
        measure.interval = Interval{slope->bounds.low, slope->bounds.high, "Sen"};
        measure.parameters["all_pairs"] = slope->allPairs ? 1 : 0;
    }
    const double mean = sum / static_cast<double>(terms.size());
    double product = 0;
    double squares = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const double here = terms[i].numerator - mean;
        squares += here * here;
        if (i > 0
            && view.alignment.rows[terms[i].row].sample
                   == view.alignment.rows[terms[i - 1].row].sample)
            product += here * (terms[i - 1].numerator - mean);
    }
    if (measure.value && squares > 0)
        measure.parameters["autocorrelation"] = product / squares;
    measures.push_back(std::move(measure));
}

/// D14.
void addTail(const ChosenTokens& tokens, Measures& measures)
{
    constexpr double plainShare = 0.05;
    constexpr std::array<std::pair<const char*, double>, 4> others{{{"top_1_percent", 0.01},
                                                                    {"top_2_percent", 0.02},
                                                                    {"top_3_percent", 0.03},
                                                                    {"top_4_percent", 0.04}}};
    Measure measure = named("D14", whyNoChosenTokens);
    std::vector<double> sizes;
    tokens.forEach([&](const ChosenToken& token) { sizes.push_back(std::fabs(token.delta())); });
    if (!sizes.empty())
        measure.whyNull = "fewer than 40 tokens, or the largest differences are equal";
    if (const auto tail = statistics::hill(sizes, plainShare)) {
        setValue(measure, tail->alpha);
        measure.n = tail->k;
        measure.interval = Interval{tail->bounds.low, tail->bounds.high, "Hill, asymptotic"};
        for (const auto& [name, share] : others)
            if (const auto other = statistics::hill(sizes, share))
                measure.parameters[name] = other->alpha;
    }
    measures.push_back(std::move(measure));
}

/// Sums: the target's −ln π, tokens.
double perplexityOf(std::span<const double> sums)
{
    return std::exp(sums[0] / sums[1]);
}

/// C12.
void addPerplexity(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("C12", whyNoChosenTokens);
    SampleColumns columns(view, 2);
    double ours = 0;
    double theirs = 0;
    std::vector<double> ourLogs;
    std::vector<double> theirLogs;
    for (const ChosenSequence& sequence : tokens.sequences) {
        double reference = 0;
        double target = 0;
        for (const ChosenToken& token : sequence.tokens) {
            columns.add(token.row, {-token.target, 1});
            reference -= token.reference;
            target -= token.target;
        }
        const auto n = static_cast<double>(sequence.tokens.size());
        ourLogs.push_back(reference / n);
        theirLogs.push_back(target / n);
        ours += reference;
        theirs += target;
    }
    if (tokens.count > 0) {
        columns.finish(measure, perplexityOf);
        measure.n = tokens.count;
        const auto n = static_cast<double>(tokens.count);
        const double reference = std::exp(ours / n);
        if (measure.value && std::isfinite(reference)) {
            measure.parameters["reference"] = reference;
            measure.parameters["ratio"] = std::exp((theirs - ours) / n);
        }
        if (const auto r = statistics::pearson(ourLogs, theirLogs))
            measure.parameters["correlation"] = *r;
    }
    measures.push_back(std::move(measure));
}

} // namespace

ChosenTokens chosenTokens(const FoldView& view)
{
    ChosenTokens tokens;
    std::optional<trace::SampleIndex> last;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (!record.logits.referenceLogProb)
            return;
        const trace::SampleIndex sample = view.alignment.rows[row].sample;
        if (!last || *last != sample)
            tokens.sequences.push_back({});
        last = sample;
        tokens.sequences.back().tokens.push_back(
            {row, *record.logits.referenceLogProb, *record.logits.targetLogProb});
        ++tokens.count;
    });
    return tokens;
}

void addChosenTokenMeasures(const FoldView& view, Measures& measures)
{
    const ChosenTokens tokens = chosenTokens(view);
    addTokenChanges(view, tokens, measures);
    addEstimators(view, tokens, measures);
    addCorrelation(view, tokens, measures);
    addImportanceRatios(view, tokens, measures);
    addSequences(view, tokens, measures);
    addGrowth(view, tokens, measures);
    addTail(tokens, measures);
    addPerplexity(view, tokens, measures);
}

} // namespace moire::diff
