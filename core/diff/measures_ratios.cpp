// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/chosen_tokens.h"
#include "core/diff/measure_builder.h"
#include "core/diff/statistics/trend.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};
/// Above this δ the ratio e^δ is taken as e^this: it would not be a finite number.
constexpr double largestDelta = 700;

double ratioOf(const ChosenToken& token)
{
    return std::exp(std::min(token.delta(), largestDelta));
}

/// D6: how often one side gives the token more than τ times the other's probability.
void addExceedance(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    constexpr double plainThreshold = 2;
    constexpr std::array<std::pair<const char*, double>, 5> others{
        {{"over_1.1", 1.1}, {"over_1.5", 1.5}, {"over_3", 3}, {"over_5", 5}, {"over_10", 10}}};
    Measure measure = named("D6", whyNoChosenTokens);
    Terms terms;
    std::array<double, others.size()> over{};
    tokens.forEach([&](const ChosenToken& token) {
        const double size = std::fabs(token.delta());
        terms.push_back({token.row, size > std::log(plainThreshold) ? 1.0 : 0.0, 1});
        for (std::size_t i = 0; i < others.size(); ++i)
            over[i] += size > std::log(others[i].second) ? 1 : 0;
    });
    setRatio(measure, view, terms, RatioForm::Percent);
    if (measure.value)
        for (std::size_t i = 0; i < others.size(); ++i)
            measure.parameters[others[i].first] =
                percent(over[i], static_cast<double>(tokens.count));
    measures.push_back(std::move(measure));
}

/// D7.
void addExtremes(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    constexpr double veto = 1e-4;
    Measure measure = named("D7", whyNoChosenTokens);
    RowValues ratios;
    double vetoed = 0;
    tokens.forEach([&](const ChosenToken& token) {
        ratios.push_back({token.row, ratioOf(token)});
        vetoed += ratios.back().value < veto ? 1 : 0;
    });
    setLargest(measure, view, ratios, headName, Curve::None);
    if (measure.value) {
        measure.parameters["smallest"] = measure.percentiles["min"];
        measure.parameters["below_1e-4"] = vetoed;
    }
    measures.push_back(std::move(measure));
}

/// Of values ln x_i: ln Σ x_i.
double logSum(const std::vector<double>& logs)
{
    const double largest = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double log : logs)
        sum += std::exp(log - largest);
    return largest + std::log(sum);
}

std::vector<double> scaled(std::vector<double> values, double factor)
{
    for (double& value : values)
        value *= factor;
    return values;
}

/// Sequences' Σδ.
std::vector<double> sequenceLogs(const ChosenTokens& tokens)
{
    std::vector<double> logs;
    for (const ChosenSequence& sequence : tokens.sequences)
        logs.push_back(sequence.sum());
    return logs;
}

/// D8: E ρ² − 1, by token from expm1(2δ), by sequence by log-sum-exp.
void addChiSquares(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("D8", whyNoChosenTokens);
    Terms terms;
    tokens.forEach([&](const ChosenToken& token) {
        terms.push_back({token.row, std::expm1(2 * token.delta()), 1});
    });
    setRatio(measure, view, terms, RatioForm::Quotient);
    if (measure.value) {
        const std::vector<double> logs = sequenceLogs(tokens);
        const double sequence =
            std::expm1(logSum(scaled(logs, 2)) - std::log(static_cast<double>(logs.size())));
        if (std::isfinite(sequence))
            measure.parameters["sequence"] = sequence;
    }
    measures.push_back(std::move(measure));
}

/// Sums: w, w², n.
double effectiveSize(std::span<const double> sums)
{
    return sums[0] * sums[0] / (sums[2] * sums[1]);
}

/// D9. Weights are taken relative to the largest, which the share does not feel.
void addEffectiveSize(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure measure = named("D9", whyNoChosenTokens);
    if (tokens.count > 0) {
        double largest = -std::numeric_limits<double>::infinity();
        tokens.forEach([&](const ChosenToken& t) { largest = std::max(largest, t.delta()); });
        SampleColumns columns(view, 3);
        tokens.forEach([&](const ChosenToken& token) {
            const double weight = std::exp(token.delta() - largest);
            columns.add(token.row, {weight, weight * weight, 1});
        });
        columns.finish(measure, effectiveSize);
        measure.n = tokens.count;
        const std::vector<double> logs = sequenceLogs(tokens);
        measure.parameters["sequence"] =
            std::exp(2 * logSum(logs) - logSum(scaled(logs, 2))) / static_cast<double>(logs.size());
    }
    measures.push_back(std::move(measure));
}

/// D10.
void addWeights(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    constexpr double high = 2;
    constexpr double low = 0.5;
    Measure measure = named("D10", whyNoChosenTokens);
    RowValues ratios;
    double above = 0;
    double below = 0;
    tokens.forEach([&](const ChosenToken& token) {
        ratios.push_back({token.row, ratioOf(token)});
        above += ratios.back().value > high ? 1 : 0;
        below += ratios.back().value < low ? 1 : 0;
    });
    setMean(measure, view, ratios, headName, Curve::None);
    if (measure.value) {
        double squares = 0;
        for (const RowValue& ratio : ratios)
            squares += (ratio.value - *measure.value) * (ratio.value - *measure.value);
        const auto n = static_cast<double>(ratios.size());
        if (const double deviation = std::sqrt(squares / (n - 1)); std::isfinite(deviation))
            measure.parameters["std"] = deviation;
        measure.parameters["above_2_percent"] = percent(above, n);
        measure.parameters["below_0.5_percent"] = percent(below, n);
    }
    measures.push_back(std::move(measure));
}

/// Sums over sequences: n, length, S, length², length·S.
double slopePerThousand(std::span<const double> s)
{
    constexpr double thousand = 1000;
    return thousand * (s[4] - s[1] * s[2] / s[0]) / (s[3] - s[1] * s[1] / s[0]);
}

} // namespace

void addImportanceRatios(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    addExceedance(view, tokens, measures);
    addExtremes(view, tokens, measures);
    addChiSquares(view, tokens, measures);
    addEffectiveSize(view, tokens, measures);
    addWeights(view, tokens, measures);
}

void addSequences(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    Measure ratio = named("D11", whyNoChosenTokens);
    Measure slope = named("D11[of=slope]", whyNoChosenTokens);
    Measure perplexity = named("D12", whyNoChosenTokens);
    SampleColumns columns(view, 5);
    RowValues sums;
    RowValues means;
    double meanAbs = 0;
    double expOfEach = 0;
    std::vector<double> lengths;
    for (const ChosenSequence& sequence : tokens.sequences) {
        const std::size_t row = sequence.tokens.front().row;
        const auto length = static_cast<double>(sequence.tokens.size());
        const double s = sequence.sum();
        columns.add(row, {1, length, s, length * length, length * s});
        lengths.push_back(length);
        sums.push_back({row, s});
        means.push_back({row, -s / length});
        meanAbs += std::fabs(s / length);
        expOfEach += std::exp(-s / length);
    }
    setMean(ratio, view, sums, headName, Curve::None);
    setMean(perplexity, view, means, headName, Curve::None);
    if (perplexity.value) {
        const auto n = static_cast<double>(means.size());
        perplexity.parameters["mean_abs"] = meanAbs / n;
        perplexity.parameters["max"] = perplexity.percentiles["max"];
        perplexity.parameters["min"] = perplexity.percentiles["min"];
        for (const auto& [key, value] : {std::pair("exp_of_mean", std::exp(*perplexity.value)),
                                         std::pair("mean_of_exp", expOfEach / n)})
            if (std::isfinite(value))
                perplexity.parameters[key] = value;
        slope.whyNull = "all sequences have the same length";
    }
    std::vector<double> values;
    for (const RowValue& sum : sums)
        values.push_back(sum.value);
    if (const auto line = statistics::lineThrough(lengths, values)) {
        constexpr double thousand = 1000;
        columns.finish(slope, slopePerThousand);
        setValue(slope, thousand * line->slope);
        slope.n = lengths.size();
    }
    for (Measure* measure : {&ratio, &perplexity})
        measure->at = measure->at.substr(0, measure->at.find('/')); // a sequence has no position
    measures.insert(measures.end(), {ratio, slope, perplexity});
}

} // namespace moire::diff
