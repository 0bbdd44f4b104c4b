// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"

#include "core/diff/metric_catalogue.h"

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

} // namespace

double quotient(double numerator, double denominator)
{
    return numerator / denominator;
}

double percent(double numerator, double denominator)
{
    constexpr double hundred = 100;
    return hundred * numerator / denominator;
}

double rootOfQuotient(double numerator, double denominator)
{
    return numerator == 0 ? 0 : std::sqrt(numerator / denominator);
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

void setValue(Measure& measure, double value)
{
    if (std::isfinite(value)) {
        measure.value = value;
        measure.whyNull.clear();
    } else {
        measure.value.reset();
        measure.whyNull = "not a finite number: what it is divided by is zero";
    }
}

void setRatio(Measure& measure, const Terms& terms, const Finish& finish)
{
    double numerator = 0;
    double denominator = 0;
    for (const Term& term : terms) {
        numerator += term.numerator;
        denominator += term.denominator;
    }
    if (terms.empty())
        return;
    setValue(measure, finish(numerator, denominator));
    if (measure.n == 0)
        measure.n = static_cast<std::uint64_t>(denominator);
}

void setPositions(Measure& measure, const FoldView& view, const Terms& terms, const Finish& finish)
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
        const double value = finish(*numerators[i], *denominators[i]);
        if (std::isfinite(value))
            measure.byPosition[i] = value;
    }
}

double quantile(const std::vector<double>& sorted, double q)
{
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    if (below + 1 >= sorted.size())
        return sorted.back();
    return sorted[below]
           + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

void setPercentiles(Measure& measure, const FoldView& view, const RowValues& values,
                    std::string_view tapName)
{
    if (values.empty())
        return;
    std::vector<double> sorted;
    sorted.reserve(values.size());
    const RowValue* largest = &values.front();
    for (const RowValue& value : values) {
        sorted.push_back(value.value);
        if (value.value > largest->value)
            largest = &value;
    }
    std::sort(sorted.begin(), sorted.end());
    measure.percentiles["min"] = sorted.front();
    measure.percentiles["max"] = sorted.back();
    for (const auto& [name, q] : fractions)
        measure.percentiles[std::string(name)] = quantile(sorted, q);
    measure.at = view.site(largest->row, std::string(tapName));
    if (largest->element >= 0)
        measure.at += '/' + std::to_string(largest->element);
}

void setMean(Measure& measure, const FoldView& view, const RowValues& values,
             std::string_view tapName, Curve curve)
{
    const Terms terms = asTerms(values);
    setRatio(measure, terms, quotient);
    if (curve == Curve::ByPosition)
        setPositions(measure, view, terms, quotient);
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
    if (measure.n == 0)
        measure.n = values.size();
    setPercentiles(measure, view, values, tapName);
}

} // namespace moire::diff
