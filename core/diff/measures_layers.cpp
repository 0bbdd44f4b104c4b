// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

#include <algorithm>
#include <cmath>

namespace moire::diff {

namespace {

/// What the taps of one kind add up to in one layer, or in all of them.
struct LayerSums
{
    Site sums;
    double elements = 0, finite = 0, equal = 0, maxAbs = 0, maxUlp = 0;
    bool sameType = true;

    void add(const Site& site)
    {
        sums.sumSquares += site.sumSquares;
        sums.referenceSquares += site.referenceSquares;
        sums.targetSquares += site.targetSquares;
        finite += site.finite;
        elements += site.elements;
        equal += static_cast<double>(site.elements - site.unequal);
        maxAbs = std::max(maxAbs, site.maxAbs);
        maxUlp = std::max(maxUlp, static_cast<double>(site.maxUlp));
    }
};

/// Growth from layer to layer: a straight line through ln(relative L2), and the largest jump.
Measure growth(const std::map<std::int32_t, double>& byLayer)
{
    Measure measure = named("I3", "fewer than two layers differ");
    double count = 0;
    double meanLayer = 0;
    double meanLog = 0;
    for (const auto& [layer, value] : byLayer) {
        if (!(value > 0))
            continue;
        ++count;
        meanLayer += layer;
        meanLog += std::log(value);
    }
    if (count < 2)
        return measure;
    meanLayer /= count;
    meanLog /= count;
    double spread = 0;
    double slope = 0;
    double largest = 0;
    const double* before = nullptr;
    for (const auto& [layer, value] : byLayer) {
        if (value > 0) {
            spread += (layer - meanLayer) * (layer - meanLayer);
            slope += (layer - meanLayer) * (std::log(value) - meanLog);
        }
        if (before != nullptr && *before > 0) {
            const double ratio = value / *before;
            measure.byLayer[layer] = ratio;
            if (ratio > largest) {
                largest = ratio;
                measure.parameters["largest_jump"] = ratio;
                measure.parameters["largest_jump_layer"] = layer;
            }
        }
        before = &value;
    }
    measure.n = static_cast<std::uint64_t>(count);
    setValue(measure, std::exp(slope / spread));
    return measure;
}

Measure byLayer(const FoldView& view, std::string_view id, trace::TapKind kind)
{
    Measure measure = named(id, whyNoValues(view));
    LayerSums all;
    bool found = false;
    for (std::size_t tapPair = 0; tapPair < view.alignment.taps.size(); ++tapPair) {
        const trace::Tap& tap = view.tap(tapPair);
        if (tap.kind != kind || tap.layer < 0)
            continue;
        found = true;
        LayerSums layer;
        view.forEachRow([&](std::size_t, const RowRecord& record) {
            if (!record.sites[tapPair].valuesCompared)
                return;
            layer.add(record.sites[tapPair]);
            all.add(record.sites[tapPair]);
            ++measure.n;
        });
        all.sameType = all.sameType && tap.dtype == view.targetTap(tapPair).dtype;
        const double value = layer.sums.relativeL2();
        if (layer.finite > 0 && std::isfinite(value))
            measure.byLayer[tap.layer] = value;
    }
    if (!found)
        measure.whyNull = "no such tap of a layer is compared";
    if (measure.n == 0)
        return measure;
    if (all.finite == 0) {
        measure.n = 0;
        measure.whyNull = whyNothingFinite;
        return measure;
    }
    setValue(measure, all.sums.relativeL2(),
             all.sums.referenceSquares == 0 ? whyZeroDivisor : whyOverflow);
    if (const double cosine = all.sums.oneMinusCosine(); std::isfinite(cosine))
        measure.parameters["one_minus_cosine"] = cosine;
    measure.parameters["max_abs"] = all.maxAbs;
    if (all.sameType) {
        measure.parameters["equal_bits_percent"] = percent(all.equal, all.elements);
        measure.parameters["max_ulp"] = all.maxUlp;
    }
    return measure;
}

} // namespace

void addLayerMeasures(const FoldView& view, Measures& measures)
{
    measures.push_back(byLayer(view, "I1", trace::TapKind::Residual));
    Measure jumps = growth(measures.back().byLayer);
    measures.push_back(byLayer(view, "I1[on=attention]", trace::TapKind::AttentionOutput));
    measures.push_back(byLayer(view, "I1[on=mlp]", trace::TapKind::MlpOutput));
    if (!measures.back().value && !jumps.value && measures.back().n == 0)
        jumps.whyNull = measures.back().whyNull;
    measures.push_back(std::move(jumps));
}

} // namespace moire::diff
