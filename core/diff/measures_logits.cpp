// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/first_divergence.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

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
    setRatio(rounded, equal, percent);
    if (view.head && view.tap(*view.head).dtype != view.targetTap(*view.head).dtype)
        exponent.whyNull = "the dtypes differ";
    else
        setRatio(exponent, mismatched, percent);
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
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (record.logits.directionalError)
            directions.push_back({row, *record.logits.directionalError});
    });
    setLargest(relative, view, relatives, headName, Curve::None);
    setRatio(shift, shifts, quotient);
    setPositions(shift, view, shifts, quotient);
    setRatio(centred, squares, quotient);
    setMean(weighted, view, weights, headName, Curve::ByPosition);
    setMean(directional, view, directions, headName, Curve::None);
    if (directional.value) {
        double sum = 0;
        for (const RowValue& value : directions)
            sum += std::fabs(value.value);
        directional.parameters["mean_abs"] = sum / static_cast<double>(directions.size());
    }
    measures.insert(measures.end(), made.begin(), made.end());
}

} // namespace

void addDistributionMeasures(const FoldView& view, Measures& measures)
{
    const std::string why = whyNoLogits(view);
    std::array<Measure, 6> made{named("C1", why), named("C2", why), named("C4", why),
                                named("C7", why), named("C8", why), named("C9", why)};
    auto& [forward, reverse, variation, squares, change, entropy] = made;
    std::array<RowValues, 5> values;
    auto& [forwards, reverses, variations, changes, entropies] = values;
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
        variations.push_back({row, logits.sums.totalVariation});
        changes.push_back({row, logits.sums.maxProbabilityChange});
        entropies.push_back({row, logits.sums.targetEntropy - logits.sums.referenceEntropy});
        squareTerms.push_back(
            {row, logits.sums.sumProbabilitySquares, counted(record.sites[*view.head])});
    });
    setMean(forward, view, forwards, headName, Curve::ByPosition);
    setMean(reverse, view, reverses, headName, Curve::ByPosition);
    setMean(variation, view, variations, headName, Curve::ByPosition);
    setRatio(squares, squareTerms, quotient);
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
    addChosenTokenMeasures(view, measures);
}

void addChosenTokenMeasures(const FoldView& view, Measures& measures)
{
    const std::string why = "no token was scored by both runs";
    Measure delta = named("D1", why);
    Measure summary = named("D2", why);
    Measure probability = named("D4", why);
    RowValues deltas;
    RowValues changes;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (!logits.referenceLogProb)
            return;
        const double d = *logits.targetLogProb - *logits.referenceLogProb;
        deltas.push_back({row, d});
        changes.push_back({row, std::exp(*logits.referenceLogProb) * std::expm1(d)});
    });
    setMean(delta, view, deltas, headName, Curve::ByPosition);
    setMean(probability, view, changes, headName, Curve::None);
    if (!deltas.empty()) {
        const auto count = static_cast<double>(deltas.size());
        const auto moments = [count](const RowValues& values) {
            std::array<double, 2> sums{};
            for (const RowValue& value : values) {
                sums[0] += std::fabs(value.value);
                sums[1] += value.value * value.value;
            }
            return std::pair(sums[0] / count, sums[1] / count);
        };
        setValue(summary, *delta.value);
        summary.n = deltas.size();
        summary.parameters["mean_abs"] = moments(deltas).first;
        summary.parameters["max"] = delta.percentiles["max"];
        summary.parameters["min"] = delta.percentiles["min"];
        double squares = 0;
        for (const RowValue& value : deltas)
            squares += (value.value - *delta.value) * (value.value - *delta.value);
        if (deltas.size() > 1)
            summary.parameters["std"] = std::sqrt(squares / (count - 1));
        probability.parameters["mean_abs"] = moments(changes).first;
        probability.parameters["rms"] = std::sqrt(moments(changes).second);
    }
    // Per sequence: each sample's own mean, and the mean of those.
    double sum = 0;
    std::size_t sequences = 0;
    for (std::size_t i = 0; i < deltas.size();) {
        const trace::SampleIndex sample = view.alignment.rows[deltas[i].row].sample;
        double own = 0;
        std::size_t count = 0;
        for (; i < deltas.size() && view.alignment.rows[deltas[i].row].sample == sample; ++i) {
            own += deltas[i].value;
            ++count;
        }
        sum += own / static_cast<double>(count);
        ++sequences;
    }
    if (sequences > 0)
        summary.parameters["sequence_mean"] = sum / static_cast<double>(sequences);
    measures.insert(measures.end(), {delta, summary, probability});
}

} // namespace moire::diff
