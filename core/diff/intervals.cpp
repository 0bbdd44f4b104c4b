// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/intervals.h"

#include "core/diff/measure_builder.h"
#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace moire::diff {

namespace {

using Column = std::vector<double>;

/// Columns of all measures; equal ones, such as the numbers of rows, are kept once.
class Columns
{
public:
    std::size_t place(Column column)
    {
        const auto found = m_places.find(column);
        if (found != m_places.end())
            return found->second;
        m_places.emplace(column, m_columns.size());
        m_columns.push_back(std::move(column));
        return m_columns.size() - 1;
    }
    std::span<const Column> all() const { return m_columns; }

private:
    std::map<Column, std::size_t> m_places;
    std::vector<Column> m_columns;
};

/// A measure and where its columns are.
struct Wanted
{
    Measure* measure;
    std::vector<std::size_t> columns;
};

std::vector<std::size_t> placeColumns(const Measure& measure, Columns& columns)
{
    if (measure.sums != nullptr) {
        std::vector<std::size_t> places;
        for (const Column& column : measure.sums->columns)
            places.push_back(columns.place(column));
        return places;
    }
    Column numerators;
    Column denominators;
    for (const SampleShare& share : measure.bySample) {
        numerators.push_back(share.numerator);
        denominators.push_back(share.denominator);
    }
    return {columns.place(std::move(numerators)), columns.place(std::move(denominators))};
}

double valueOf(const Wanted& wanted, const std::vector<double>& sums)
{
    return wanted.measure->sums != nullptr ? wanted.measure->sums->value(sums)
                                           : finished(wanted.measure->form, sums[0], sums[1]);
}

void setInterval(const Wanted& wanted, const statistics::ClusterResamples& resamples)
{
    std::vector<double> sums(wanted.columns.size());
    const auto bounds = statistics::middle(resamples.values([&](auto sum) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] = sum(wanted.columns[i]);
        return valueOf(wanted, sums);
    }));
    if (bounds && wanted.measure->interval) { // its own stands first
        wanted.measure->parameters["bootstrap_low"] = bounds->low;
        wanted.measure->parameters["bootstrap_high"] = bounds->high;
    } else if (bounds) {
        wanted.measure->interval =
            Interval{bounds->low, bounds->high,
                     "bootstrap over samples, " + std::to_string(resamples.size()) + " resamples"};
    } else if (!wanted.measure->interval) {
        wanted.measure->whyNoInterval = "no resample of the samples has a value";
    }
}

/// The mean over samples of each sample's own ratio; left out where that is the ratio of sums.
void addQuestionMean(Measure& measure)
{
    double sum = 0;
    double count = 0;
    double rows = 0;
    bool even = true;
    for (const SampleShare& share : measure.bySample) {
        if (share.denominator == 0)
            continue;
        even = even && (count == 0 || share.denominator == rows);
        rows = share.denominator;
        sum += finished(measure.form, share.numerator, share.denominator);
        ++count;
    }
    const bool same = even && measure.form != RatioForm::Root;
    if (count > 1 && !same && std::isfinite(sum))
        measure.parameters["question_mean"] = sum / count;
}

void addRuleOfThree(Measure& measure)
{
    if (measure.form != RatioForm::Percent && measure.form != RatioForm::PerMillion)
        return;
    SampleShare sum;
    double samples = 0;
    for (const SampleShare& share : measure.bySample) {
        sum.numerator += share.numerator;
        sum.denominator += share.denominator;
        samples += share.denominator > 0 ? 1 : 0;
    }
    const double bound = statistics::ruleOfThree(samples);
    if (sum.numerator == 0)
        measure.parameters["rule_of_three"] = finished(measure.form, bound, 1);
    else if (sum.numerator == sum.denominator)
        measure.parameters["rule_of_three"] = finished(measure.form, 1 - bound, 1);
}

} // namespace

void addIntervals(std::size_t samples, const ComparisonOptions& options, Measures& measures)
{
    Columns columns;
    std::vector<Wanted> wanted;
    for (Measure& measure : measures) {
        const bool resampled = measure.sums != nullptr || !measure.bySample.empty();
        if (!measure.value || !resampled)
            continue;
        if (samples > 1 && !measure.bySample.empty()) {
            addQuestionMean(measure);
            addRuleOfThree(measure);
        }
        if (!measure.whyNoInterval.empty())
            continue;
        if (options.resamples > 0 && samples > 1)
            wanted.push_back({&measure, placeColumns(measure, columns)});
        else if (!measure.interval)
            measure.whyNoInterval = samples > 1 ? "no resamples were asked for"
                                                : "one sample: there is nothing to resample";
    }
    if (!wanted.empty()) {
        const statistics::ClusterResamples resamples(
            columns.all(), samples, {options.resamples, statistics::usualSeed, options.threads});
        for (const Wanted& one : wanted)
            setInterval(one, resamples);
    }
    explainMissingIntervals("not a ratio of sums over samples", measures);
}

void explainMissingIntervals(const char* why, Measures& measures)
{
    for (Measure& measure : measures)
        if (measure.value && !measure.interval && measure.whyNoInterval.empty())
            measure.whyNoInterval = why;
}

} // namespace moire::diff
