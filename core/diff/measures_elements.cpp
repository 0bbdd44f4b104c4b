// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

/// What one tap pair's sites add up to, collected in one walk over the rows.
struct Collected
{
    Terms equal, unequal, digestEqual, squares, relative;
    RowValues maxUlp, maxAbs, relativeL2, oneMinusCosine;
    double sumUlp = 0, sumAbs = 0;
    std::uint64_t elements = 0, finite = 0, rows = 0;
    std::uint64_t distances = 0; ///< elements that are a number on both sides
    Site total;                  ///< sums over all rows
    bool complete = true;        ///< every row's values are known, or equal by digest
};

void addSums(const Site& site, Site& total)
{
    total.sumSquares += site.sumSquares;
    total.referenceSquares += site.referenceSquares;
    total.targetSquares += site.targetSquares;
}

/// The cells of a tap pair's class matrix that are not (normal, normal).
std::pair<std::vector<ClassCell>::const_iterator, std::vector<ClassCell>::const_iterator>
cellsOf(const RowRecord& record, std::size_t tapPair)
{
    return std::equal_range(record.classes.begin(), record.classes.end(),
                            ClassCell{static_cast<std::uint32_t>(tapPair), 0, 0},
                            [](const ClassCell& a, const ClassCell& b) { return a.tap < b.tap; });
}

/// How many elements of a site have no distance in last places: NaN on a side, or no counterpart.
std::uint64_t withoutDistance(const RowRecord& record, std::size_t tapPair)
{
    constexpr std::size_t classes = numeric::valueClassCount;
    constexpr auto nan = static_cast<std::size_t>(numeric::ValueClass::NaN);
    std::uint64_t count = 0;
    const auto [begin, end] = cellsOf(record, tapPair);
    for (auto cell = begin; cell != end; ++cell)
        if (cell->cell == withoutCounterpart || cell->cell / classes == nan
            || cell->cell % classes == nan)
            count += cell->count;
    return count;
}

/// A row without a finite element, or without a number, has no distance: it is missing, not 0.
void collectValues(std::size_t row, const RowRecord& record, std::size_t tapPair, Collected& c)
{
    const Site& site = record.sites[tapPair];
    c.squares.push_back({row, site.sumSquares, static_cast<double>(site.finite)});
    const std::uint64_t distances = site.elements - withoutDistance(record, tapPair);
    c.distances += distances;
    c.sumUlp += static_cast<double>(site.sumUlp);
    if (distances > 0)
        c.maxUlp.push_back({row, static_cast<double>(site.maxUlp), -1});
    if (site.finite == 0)
        return;
    c.sumAbs += site.sumAbs;
    c.finite += site.finite;
    c.relative.push_back({row, site.sumSquares, site.referenceSquares});
    addSums(site, c.total);
    const std::int64_t worst = site.classChanges == 0 && site.unequal > 0
                                   ? static_cast<std::int64_t>(site.worstElement)
                                   : -1;
    c.maxAbs.push_back({row, site.maxAbs, worst});
    if (const double value = site.relativeL2(); std::isfinite(value))
        c.relativeL2.push_back({row, value});
    if (const double value = site.oneMinusCosine(); std::isfinite(value))
        c.oneMinusCosine.push_back({row, value});
}

Collected collect(const FoldView& view, std::size_t tapPair)
{
    Collected c;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const Site& site = record.sites[tapPair];
        const auto elements = static_cast<double>(site.elements);
        ++c.rows;
        c.elements += site.elements;
        if (site.state != Site::State::NotRecorded)
            c.digestEqual.push_back({row, site.state == Site::State::Equal ? 1.0 : 0.0, 1});
        if (!site.valuesCompared && site.state != Site::State::Equal) {
            c.complete = false;
            return;
        }
        const auto unequal = static_cast<double>(site.unequal);
        c.equal.push_back({row, elements - unequal, elements});
        c.unequal.push_back({row, unequal, elements});
        if (site.valuesCompared)
            collectValues(row, record, tapPair, c);
    });
    return c;
}

/// A7. (normal, normal) is what the other cells leave.
Measure classMatrix(const FoldView& view, std::size_t tapPair, const Collected& c)
{
    constexpr std::size_t classes = numeric::valueClassCount;
    Measure measure = named("A7", whyNoValues(view));
    if (c.squares.size() != c.rows || c.rows == 0)
        return measure;
    measure.matrix.assign(classes, std::vector<std::uint64_t>(classes, 0));
    std::uint64_t others = 0;
    std::uint64_t changed = 0;
    std::uint64_t alone = 0;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        const auto [begin, end] = cellsOf(record, tapPair);
        for (auto cell = begin; cell != end; ++cell) {
            if (cell->cell == withoutCounterpart) {
                alone += cell->count;
                continue;
            }
            const std::size_t from = cell->cell / classes;
            const std::size_t to = cell->cell % classes;
            measure.matrix[from][to] += cell->count;
            others += cell->count;
            changed += from != to ? cell->count : 0;
        }
    });
    measure.n = c.elements - alone;
    measure.matrix[0][0] = measure.n - others;
    if (alone > 0)
        measure.parameters["without_counterpart"] = static_cast<double>(alone);
    setValue(measure, static_cast<double>(changed));
    return measure;
}

void addBitwise(const FoldView& view, std::size_t tapPair, const Collected& c, Detail detail,
                Measures& measures)
{
    const bool sameType = view.tap(tapPair).dtype == view.targetTap(tapPair).dtype;
    const std::string why =
        sameType ? whyNoValues(view) : "the dtypes differ; A2 compares after rounding";
    Measure equal = named("A1", why);
    Measure unequal = named("A3", why);
    Measure ulps = named("A4", why);
    Measure digests = named("A6", sameType ? "no row was compared" : why);
    if (sameType && c.complete) {
        setRatio(equal, view, c.equal, RatioForm::Percent);
        setRatio(unequal, view, c.unequal, RatioForm::PerMillion);
        if (detail == Detail::Full)
            setPositions(equal, view, c.equal, RatioForm::Percent);
    }
    if (sameType)
        setRatio(digests, view, c.digestEqual, RatioForm::Percent);
    const bool known = sameType && c.squares.size() == c.rows && c.rows > 0;
    if (known && c.distances == 0) {
        ulps.whyNull = "no element is a number on both sides";
    } else if (known) {
        ulps.n = c.distances;
        setLargest(ulps, view, c.maxUlp, view.tap(tapPair).name, Curve::None);
        ulps.parameters["mean"] = c.sumUlp / static_cast<double>(c.distances);
        if (detail == Detail::Short)
            ulps.percentiles.clear();
    }
    measures.insert(measures.end(), {equal, unequal, ulps, digests});
    measures.push_back(classMatrix(view, tapPair, c));
}

void addDifference(const FoldView& view, std::size_t tapPair, const Collected& c, Detail detail,
                   Measures& measures)
{
    const std::string& name = view.tap(tapPair).name;
    const std::string why = whyNoValues(view);
    std::array<Measure, 4> made{named("B1", why), named("B2", why), named("B4", why),
                                named("B5", why)};
    auto& [square, largest, relative, cosine] = made;
    const bool known = c.squares.size() == c.rows && c.rows > 0;
    if (known && c.finite == 0) {
        for (Measure& measure : made)
            measure.whyNull = whyNothingFinite;
    } else if (known) {
        const Curve curve = detail == Detail::Full ? Curve::ByPosition : Curve::None;
        for (Measure& measure : made)
            measure.n = c.finite;
        setRatio(square, view, c.squares, RatioForm::Quotient);
        if (square.value)
            square.parameters["rmse"] = std::sqrt(*square.value);
        setLargest(largest, view, c.maxAbs, name, curve);
        setParameter(largest, "mean", c.sumAbs / static_cast<double>(c.finite));
        setRatio(relative, view, c.relative, RatioForm::Root);
        setPercentiles(relative, view, c.relativeL2, name);
        setValue(cosine, c.total.oneMinusCosine(),
                 c.total.referenceSquares == 0 || c.total.targetSquares == 0
                     ? "one side is zero throughout"
                     : whyOverflow);
        setPercentiles(cosine, view, c.oneMinusCosine, name);
        if (detail == Detail::Full) {
            setPositions(square, view, c.squares, RatioForm::Quotient);
            setPositions(relative, view, c.relative, RatioForm::Root);
        } else {
            for (Measure& measure : made)
                measure.percentiles.clear();
        }
    }
    // Only logits have logits' unit.
    if (view.tap(tapPair).kind != trace::TapKind::Head)
        for (Measure& measure : made)
            measure.unit.clear();
    measures.insert(measures.end(), made.begin(), made.end());
}

} // namespace

std::string whyNoValues(const FoldView& view)
{
    if (view.options.firstOnly)
        return std::string(onlyFirstAsked);
    if (view.reference.header().level != trace::Level::Full)
        return "the reference holds no values (level "
               + std::string(nameOf(view.reference.header().level)) + ")";
    if (view.target.header().level != trace::Level::Full)
        return "the target holds no values (level "
               + std::string(nameOf(view.target.header().level)) + ")";
    bool any = false;
    view.forEachRow([&](std::size_t, const RowRecord&) { any = true; });
    return any ? std::string(whyNothingFinite) : "no row was compared";
}

std::string whyNoLogits(const FoldView& view)
{
    if (!view.head && !view.alignment.comparesLogits)
        return "lm_head.out is not among the taps compared";
    return view.head ? whyNoValues(view)
                     : "lm_head.out was not tapped on both sides; only top-K tables are compared";
}

void addElementMeasures(const FoldView& view, std::size_t tapPair, Detail detail,
                        Measures& measures)
{
    const Collected c = collect(view, tapPair);
    addBitwise(view, tapPair, c, detail, measures);
    addDifference(view, tapPair, c, detail, measures);
}

} // namespace moire::diff
