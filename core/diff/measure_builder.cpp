// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"

#include "core/diff/metric_catalogue.h"
#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace moire::diff {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 11> fractions{{{"0.1", 0.001},
                                                                         {"1", 0.01},
                                                                         {"5", 0.05},
                                                                         {"10", 0.10},
                                                                         {"25", 0.25},
                                                                         {"50", 0.50},
                                                                         {"75", 0.75},
                                                                         {"90", 0.90},
                                                                         {"95", 0.95},
                                                                         {"99", 0.99},
                                                                         {"99.9", 0.999}}};

/// Adds `value` to the curve's place by `join(old, new)`.
template <class Join>
void joinAt(std::vector<std::optional<double>>& curve, std::size_t position, double value,
            Join join)
{
    if (curve.size() <= position)
        curve.resize(position + 1);
    auto& place = curve[position];
    place = place ? join(*place, value) : value;
}

Terms asTerms(const RowValues& values)
{
    Terms terms;
    terms.reserve(values.size());
    for (const RowValue& value : values)
        terms.push_back({value.row, value.value, 1});
    return terms;
}

bool isWhole(const FoldView& view)
{
    return view.rowBegin == 0 && view.rowEnd == view.alignment.rows.size();
}

/// Moves `sample` on to the one that `row` belongs to; rows come in the samples' order.
void advance(const FoldView& view, std::size_t row, std::size_t& sample)
{
    while (view.alignment.samples[sample].reference != view.alignment.rows[row].sample)
        ++sample;
}

std::vector<SampleShare> sharesOf(const FoldView& view, const Terms& terms)
{
    std::vector<SampleShare> shares(view.alignment.samples.size());
    std::size_t sample = 0;
    for (const Term& term : terms) {
        advance(view, term.row, sample);
        shares[sample].numerator += term.numerator;
        shares[sample].denominator += term.denominator;
    }
    return shares;
}

} // namespace

double percent(double numerator, double denominator)
{
    constexpr double hundred = 100;
    return hundred * numerator / denominator;
}

double finished(RatioForm form, double numerator, double denominator)
{
    constexpr double million = 1e6;
    switch (form) {
    case RatioForm::Percent:
        return percent(numerator, denominator);
    case RatioForm::PerMillion:
        return million * numerator / denominator;
    case RatioForm::Root:
        return numerator == 0 ? 0 : std::sqrt(numerator / denominator);
    case RatioForm::Quotient:
    case RatioForm::None:
        break;
    }
    return numerator / denominator;
}

Measure named(std::string_view id, std::string why)
{
    const Metric& metric = metricOf(id);
    Measure measure;
    measure.id = id;
    measure.name = metric.name;
    measure.family = metric.family;
    measure.unit = metric.unit;
    measure.whyNull = std::move(why);
    return measure;
}

void setValue(Measure& measure, double value, std::string_view why)
{
    if (std::isfinite(value)) {
        measure.value = value;
        measure.whyNull.clear();
    } else {
        measure.value.reset();
        measure.whyNull = why;
    }
}

void setParameter(Measure& measure, const char* key, double value)
{
    if (std::isfinite(value))
        measure.parameters[key] = value;
}

void setRatio(Measure& measure, const FoldView& view, const Terms& terms, RatioForm form)
{
    double numerator = 0;
    double denominator = 0;
    for (const Term& term : terms) {
        numerator += term.numerator;
        denominator += term.denominator;
    }
    if (terms.empty())
        return;
    setValue(measure, finished(form, numerator, denominator),
             denominator == 0 ? whyZeroDivisor : whyOverflow);
    if (measure.n == 0 && std::isfinite(denominator))
        measure.n = static_cast<std::uint64_t>(denominator);
    measure.form = form;
    if (isWhole(view))
        measure.bySample = sharesOf(view, terms);
}

void setSampleRatio(Measure& measure, std::vector<SampleShare> shares, RatioForm form)
{
    SampleShare sum;
    for (const SampleShare& share : shares) {
        sum.numerator += share.numerator;
        sum.denominator += share.denominator;
    }
    if (sum.denominator == 0)
        return;
    setValue(measure, finished(form, sum.numerator, sum.denominator));
    measure.n = static_cast<std::uint64_t>(sum.denominator);
    measure.form = form;
    measure.bySample = std::move(shares);
}

SampleColumns::SampleColumns(const FoldView& view, std::size_t columns)
    : m_view(view)
    , m_columns(columns, std::vector<double>(isWhole(view) ? view.alignment.samples.size() : 0))
    , m_sums(columns)
{}

void SampleColumns::add(std::size_t row, std::initializer_list<double> numbers)
{
    if (!m_columns.front().empty())
        advance(m_view, row, m_sample);
    std::size_t column = 0;
    for (const double number : numbers) {
        m_sums[column] += number;
        if (!m_columns[column].empty())
            m_columns[column][m_sample] += number;
        ++column;
    }
}

void SampleColumns::addTo(std::size_t row, std::size_t column, double number)
{
    m_sums[column] += number;
    if (m_columns.front().empty())
        return;
    advance(m_view, row, m_sample);
    m_columns[column][m_sample] += number;
}

void SampleColumns::finish(Measure& measure, double (*value)(std::span<const double> sums))
{
    setValue(measure, value(m_sums));
    if (!m_columns.front().empty())
        measure.sums = std::make_shared<const SampleSums>(SampleSums{std::move(m_columns), value});
}

void setPositions(Measure& measure, const FoldView& view, const Terms& terms, RatioForm form)
{
    std::vector<std::optional<double>> numerators;
    std::vector<std::optional<double>> denominators;
    for (const Term& term : terms) {
        const std::size_t position = view.alignment.rows[term.row].position;
        joinAt(numerators, position, term.numerator, std::plus<>());
        joinAt(denominators, position, term.denominator, std::plus<>());
    }
    measure.byPosition.assign(numerators.size(), std::nullopt);
    for (std::size_t i = 0; i < numerators.size(); ++i) {
        if (!numerators[i])
            continue;
        const double value = finished(form, *numerators[i], *denominators[i]);
        if (std::isfinite(value))
            measure.byPosition[i] = value;
    }
}

void setPercentiles(Measure& measure, std::vector<double> values)
{
    if (values.empty())
        return;
    std::sort(values.begin(), values.end());
    measure.percentiles["min"] = values.front();
    measure.percentiles["max"] = values.back();
    for (const auto& [name, q] : fractions)
        measure.percentiles[std::string(name)] = statistics::quantile(values, q);
}

void setPercentiles(Measure& measure, const FoldView& view, const RowValues& values,
                    std::string_view tapName)
{
    if (values.empty())
        return;
    std::vector<double> numbers;
    numbers.reserve(values.size());
    const RowValue* largest = &values.front();
    for (const RowValue& value : values) {
        numbers.push_back(value.value);
        if (value.value > largest->value)
            largest = &value;
    }
    setPercentiles(measure, std::move(numbers));
    measure.at = view.site(largest->row, std::string(tapName));
    if (largest->element >= 0)
        measure.at += '/' + std::to_string(largest->element);
}

void setMean(Measure& measure, const FoldView& view, const RowValues& values,
             std::string_view tapName, Curve curve)
{
    const Terms terms = asTerms(values);
    setRatio(measure, view, terms, RatioForm::Quotient);
    if (curve == Curve::ByPosition)
        setPositions(measure, view, terms, RatioForm::Quotient);
    setPercentiles(measure, view, values, tapName);
}

void setLargest(Measure& measure, const FoldView& view, const RowValues& values,
                std::string_view tapName, Curve curve)
{
    if (values.empty())
        return;
    double largest = values.front().value;
    for (const RowValue& value : values) {
        largest = std::max(largest, value.value);
        if (curve == Curve::ByPosition)
            joinAt(measure.byPosition, view.alignment.rows[value.row].position, value.value,
                   [](double a, double b) { return std::max(a, b); });
    }
    setValue(measure, largest);
    measure.whyNoInterval = "a largest value: resampling does not bound it";
    if (measure.n == 0)
        measure.n = values.size();
    setPercentiles(measure, view, values, tapName);
}

} // namespace moire::diff
