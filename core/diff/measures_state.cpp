// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace moire::diff {

namespace {

enum class Cached
{
    Neither,
    Key,
    Value
};

/// What of a layer later rows read: K and V as their projections, or as they stand after rotation.
Cached cachedBy(const trace::Tap& tap)
{
    const auto endsWith = [&](std::string_view end) { return tap.name.ends_with(end); };
    if (tap.layer < 0 || tap.slots > 0)
        return Cached::Neither;
    if (endsWith(".k_proj.out"))
        return Cached::Key;
    return endsWith(".v_proj.out") ? Cached::Value : Cached::Neither;
}

struct Squares
{
    double difference = 0, reference = 0;
    bool any = false; ///< an element is finite on both sides

    void add(const Site& site)
    {
        any = any || site.finite > 0;
        difference += site.sumSquares;
        reference += site.referenceSquares;
    }
    std::optional<double> relative() const
    {
        const double value = finished(RatioForm::Root, difference, reference);
        return any && std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
};

/// I5: relative L2 of K and V, by layer and by position.
Measure cacheDrift(const FoldView& view)
{
    Measure drift = named("I5", whyNoValues(view));
    std::vector<Cached> parts;
    for (std::size_t tap = 0; tap < view.alignment.taps.size(); ++tap)
        parts.push_back(cachedBy(view.tap(tap)));
    if (std::count(parts.begin(), parts.end(), Cached::Neither)
        == static_cast<std::ptrdiff_t>(parts.size())) {
        drift.whyNull = "no k_proj.out or v_proj.out of a layer is compared";
        return drift;
    }
    Terms terms;
    std::map<std::int32_t, Squares> layers;
    std::map<Cached, Squares> kinds;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        Squares own;
        for (std::size_t tap = 0; tap < parts.size(); ++tap) {
            const Site& site = record.sites[tap];
            if (parts[tap] == Cached::Neither || !site.valuesCompared)
                continue;
            own.add(site);
            layers[view.tap(tap).layer].add(site);
            kinds[parts[tap]].add(site);
        }
        if (own.any)
            terms.push_back({row, own.difference, own.reference});
    });
    drift.n = terms.size();
    setRatio(drift, view, terms, RatioForm::Root);
    setPositions(drift, view, terms, RatioForm::Root);
    for (const auto& [layer, squares] : layers)
        if (const auto value = squares.relative())
            drift.byLayer[layer] = *value;
    for (const auto& [part, key] :
         {std::pair(Cached::Key, "keys"), std::pair(Cached::Value, "values")})
        if (kinds.contains(part))
            if (const auto value = kinds[part].relative())
                drift.parameters[key] = *value;
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t position = 0; position < drift.byPosition.size(); ++position)
        if (drift.byPosition[position]) {
            x.push_back(static_cast<double>(position));
            y.push_back(*drift.byPosition[position]);
        }
    if (const auto slope = statistics::theilSen(x, y))
        drift.parameters["slope_per_token"] = slope->slope;
    return drift;
}

/// Whether a row came from a pass over many positions or from a step of its own.
bool inSteps(const trace::Row& row)
{
    return row.phase == trace::Phase::Decode || row.construction == trace::Construction::Steps;
}

/// I7: the logits' difference over the rows that one run computed in one pass and the other in
/// steps.
Measure constructionGap(const FoldView& view)
{
    Measure gap = named("I7", whyNoLogits(view));
    Terms terms;
    RowValues kls;
    std::size_t rows = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const RowPair& pair = view.alignment.rows[row];
        if (inSteps(view.reference.row(pair.reference)) == inSteps(view.target.row(pair.target)))
            return;
        ++rows;
        if (!view.head || record.sites[*view.head].finite == 0)
            return;
        const Site& site = record.sites[*view.head];
        terms.push_back({row, site.sumSquares, site.referenceSquares});
        if (record.logits.row.compared)
            kls.push_back({row, record.logits.sums.forwardKl});
    });
    if (rows == 0) {
        gap.whyNull = "both runs computed every row the same way";
        return gap;
    }
    gap.n = rows;
    setRatio(gap, view, terms, RatioForm::Root);
    Measure kl = named("I7");
    setMean(kl, view, kls, trace::headTapName, Curve::None);
    if (kl.value)
        gap.parameters["forward_kl"] = *kl.value;
    return gap;
}

} // namespace

void addStateMeasures(const FoldView& view, Measures& measures)
{
    measures.push_back(named("I4", "needs a replay from each layer's input, which a capture does "
                                   "not hold"));
    measures.push_back(cacheDrift(view));
    measures.push_back(
        named("I6", "needs the head applied to each layer's output; a capture holds no weights"));
    measures.push_back(constructionGap(view));
}

} // namespace moire::diff
