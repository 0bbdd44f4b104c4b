// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/first_divergence.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};

/// Visits the rows whose full logits were compared with at least two finite entries.
template <class Visit>
void forEachCompared(const FoldView& view, Visit visit)
{
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (record.logits.row.compared)
            visit(row, record.logits, record.sites[*view.head]);
    });
}

/// The elements of the row that carry the distribution measures.
double counted(const Site& site)
{
    return static_cast<double>(site.finite);
}

void addRounding(const FoldView& view, Measures& measures)
{
    Measure rounded = named("A2", whyNoLogits(view));
    Measure exponent = named("A5", whyNoLogits(view));
    Terms equal;
    Terms mismatched;
    double distance = 0;
    double matched = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (!record.logits.full)
            return;
        const Site& site = record.sites[*view.head];
        equal.push_back({row, static_cast<double>(record.logits.roundedEqual),
                         static_cast<double>(site.elements)});
        const auto same = static_cast<double>(record.logits.exponentMatched);
        mismatched.push_back({row, counted(site) - same, counted(site)});
        matched += same;
        distance += record.logits.mantissaDistance;
    });
    setRatio(rounded, view, equal, RatioForm::Percent);
    if (view.head && view.tap(*view.head).dtype != view.targetTap(*view.head).dtype)
        exponent.whyNull = "the dtypes differ";
    else
        setRatio(exponent, view, mismatched, RatioForm::Percent);
    if (exponent.value && matched > 0)
        exponent.parameters["mantissa"] = distance / matched;
    measures.push_back(std::move(rounded));
    measures.push_back(std::move(exponent));
}

/// A8 and I2 share the walk: the first site that differs, among all taps or those of layers.
void addFirstUnequal(const FoldView& view, Measures& measures)
{
    Measure first = named("A8", "every tensor compared is equal");
    Measure operation = named("I2", "no tensor of a layer differs");
    for (std::size_t row = view.rowBegin; row < view.rowEnd && !operation.value; ++row) {
        if (view.records[row] == nullptr)
            continue;
        const auto& sites = view.records[row]->sites;
        for (std::size_t tap = 0; tap < sites.size() && !operation.value; ++tap) {
            if (sites[tap].state != Site::State::Different)
                continue;
            const std::string site = view.site(row, view.tap(tap).name);
            if (!first.value) {
                setValue(first, view.alignment.rows[row].position);
                first.at = site;
            }
            if (view.tap(tap).layer >= 0) {
                setValue(operation, view.tap(tap).layer);
                operation.at = site;
            }
        }
    }
    first.n = view.rowEnd - view.rowBegin;
    operation.n = first.n;
    measures.push_back(std::move(first));
    measures.push_back(std::move(operation));
}

void addShifts(const FoldView& view, Measures& measures)
{
    const std::string why = whyNoLogits(view);
    std::array<Measure, 5> made{named("B3", why), named("B6", why), named("B7", why),
                                named("B8", why), named("B9", why)};
    auto& [relative, shift, centred, weighted, directional] = made;
    RowValues relatives;
    RowValues directions;
    RowValues weights;
    Terms shifts;
    Terms squares;
    forEachCompared(view, [&](std::size_t row, const LogitsRecord& logits, const Site& site) {
        relatives.push_back({row, logits.maxRelative, logits.maxRelativeAt});
        shifts.push_back({row, logits.sums.meanDifference * counted(site), counted(site)});
        squares.push_back({row, logits.centredSquares, counted(site)});
        weights.push_back({row, logits.sums.weightedVariance});
    });
    bool missed = false;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        missed = missed || record.logits.directionMissed;
        if (record.logits.directionalError)
            directions.push_back({row, *record.logits.directionalError});
    });
    setLargest(relative, view, relatives, headName, Curve::None);
    setRatio(shift, view, shifts, RatioForm::Quotient);
    setPositions(shift, view, shifts, RatioForm::Quotient);
    setRatio(centred, view, squares, RatioForm::Quotient);
    setMean(weighted, view, weights, headName, Curve::ByPosition);
    if (missed)
        directional.whyNull = whyTableMisses;
    else
        setMean(directional, view, directions, headName, Curve::None);
    if (directional.value) {
        double sum = 0;
        std::vector<double> sizes;
        for (const RowValue& value : directions) {
            sizes.push_back(std::fabs(value.value));
            sum += sizes.back();
        }
        directional.parameters["mean_abs"] = sum / static_cast<double>(directions.size());
        std::sort(sizes.begin(), sizes.end());
        constexpr double nearTies = 0.99; // F4 takes it from the noise between two repeats
        directional.parameters["abs_99_percent"] = statistics::quantile(sizes, nearTies);
    }
    measures.insert(measures.end(), made.begin(), made.end());
}

} // namespace

void addDistributionMeasures(const FoldView& view, Measures& measures)
{
    const std::string why = whyNoLogits(view);
    std::array<Measure, 11> made{named("C1", why),  named("C2", why), named("C3", why),
                                 named("C4", why),  named("C5", why), named("C6", why),
                                 named("C7", why),  named("C8", why), named("C9", why),
                                 named("C10", why), named("C11", why)};
    auto& [forward, reverse, shannon, variation, hellinger, chiSquare, squares, change, entropy,
           temperature, extreme] = made;
    std::array<RowValues, 10> values;
    auto& [forwards, reverses, shannons, variations, hellingers, chiSquares, changes, entropies,
           exponents, extremes] = values;
    double left = 0;
    double infinite = 0;
    Terms squareTerms;
    std::uint64_t excluded = 0;
    std::uint64_t unusable = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (!logits.full)
            return;
        excluded += logits.sums.excluded;
        if (!logits.row.compared) {
            ++unusable;
            return;
        }
        forwards.push_back({row, logits.sums.forwardKl});
        reverses.push_back({row, logits.sums.reverseKl});
        shannons.push_back({row, logits.sums.jensenShannon});
        variations.push_back({row, logits.sums.totalVariation});
        hellingers.push_back({row, logits.sums.hellinger});
        if (std::isfinite(logits.sums.chiSquare))
            chiSquares.push_back({row, logits.sums.chiSquare});
        else
            ++infinite;
        exponents.push_back({row, logits.sums.temperatureExponent - 1});
        left += logits.sums.temperatureKl;
        extremes.push_back({row, logits.sums.largestLogRatio});
        changes.push_back({row, logits.sums.maxProbabilityChange});
        entropies.push_back({row, logits.sums.targetEntropy - logits.sums.referenceEntropy});
        squareTerms.push_back(
            {row, logits.sums.sumProbabilitySquares, counted(record.sites[*view.head])});
    });
    setMean(forward, view, forwards, headName, Curve::ByPosition);
    setMean(reverse, view, reverses, headName, Curve::ByPosition);
    setMean(shannon, view, shannons, headName, Curve::None);
    setMean(variation, view, variations, headName, Curve::ByPosition);
    setMean(hellinger, view, hellingers, headName, Curve::None);
    setMean(chiSquare, view, chiSquares, headName, Curve::None);
    if (infinite > 0)
        chiSquare.parameters["rows_infinite"] = infinite;
    setMean(temperature, view, exponents, headName, Curve::None);
    if (temperature.value)
        temperature.parameters["kl_left"] = left / static_cast<double>(exponents.size());
    setLargest(extreme, view, extremes, headName, Curve::None);
    setRatio(squares, view, squareTerms, RatioForm::Quotient);
    setLargest(change, view, changes, headName, Curve::ByPosition);
    setMean(entropy, view, entropies, headName, Curve::ByPosition);
    if (excluded > 0)
        for (Measure& measure : made) {
            measure.parameters["elements_not_finite"] = static_cast<double>(excluded);
            measure.parameters["rows_not_finite"] = static_cast<double>(unusable);
        }
    measures.insert(measures.end(), made.begin(), made.end());
}

void addLogitsMeasures(const FoldView& view, Measures& measures)
{
    if (view.head) {
        addElementMeasures(view, *view.head, Detail::Full, measures);
    } else {
        for (const char* id : {"A1", "A3", "A4", "A6", "A7", "B1", "B2", "B4", "B5"})
            measures.push_back(named(id, whyNoLogits(view)));
    }
    addRounding(view, measures);
    addFirstUnequal(view, measures);
    addShifts(view, measures);
    addDistributionMeasures(view, measures);
    addSpreadMeasures(view, measures);
    addChosenTokenMeasures(view, measures);
}

} // namespace moire::diff
