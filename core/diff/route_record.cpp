// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/route_record.h"

#include "core/diff/logits_record.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace moire::diff {

namespace {

/// Both sides of the edge between chosen and not chosen.
struct Edge
{
    std::optional<double> margin; ///< none where every expert is chosen or a value is not finite
    float inside = 0, outside = 0;
};

Edge edgeOf(std::vector<double> values, std::size_t chosen)
{
    Edge edge;
    if (chosen == 0 || chosen >= values.size())
        return edge;
    for (double& value : values) // NaN has no place in an order; it ranks last, as in topK
        if (std::isnan(value))
            value = -std::numeric_limits<double>::infinity();
    std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(chosen + 1),
                      values.end(), std::greater<>());
    const double margin = values[chosen - 1] - values[chosen];
    if (std::isfinite(margin))
        edge = {margin, static_cast<float>(values[chosen - 1]), static_cast<float>(values[chosen])};
    return edge;
}

float marginAsFloat(const Edge& edge)
{
    return edge.margin ? static_cast<float>(*edge.margin) : std::numeric_limits<float>::quiet_NaN();
}

void compareSets(RouteRecord& record)
{
    std::vector<std::int32_t> a = record.referenceIds;
    std::vector<std::int32_t> b = record.targetIds;
    record.cell.orderEqual = a == b;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<std::int32_t> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    const std::size_t larger = std::max(a.size(), b.size());
    record.cell.chosen = static_cast<std::uint8_t>(larger);
    record.overlap = static_cast<std::uint32_t>(common.size());
    record.unionSize = static_cast<std::uint32_t>(a.size() + b.size() - common.size());
    record.cell.replaced = static_cast<std::uint8_t>(larger - common.size());
}

} // namespace

std::vector<double> routerLogits(const trace::RouterLayer& layer, const trace::RoutingView& view)
{
    std::vector<double> logits(layer.experts);
    for (std::size_t e = 0; e < logits.size(); ++e)
        logits[e] =
            numeric::toDouble(numeric::bitsAt(view.logits, layer.logitType, e), layer.logitType);
    return logits;
}

std::vector<double> selectionOf(const trace::RouterLayer& layer, const trace::RoutingView& view)
{
    if (view.scores == nullptr)
        return routerLogits(layer, view);
    return {view.scores, view.scores + layer.experts};
}

std::vector<double> weightsOf(const trace::RouterLayer& layer, const trace::RoutingView& view)
{
    std::vector<double> weights(layer.experts, 0.0);
    for (std::size_t slot = 0; slot < view.ids.size(); ++slot) {
        const std::int32_t id = view.ids[slot];
        if (id >= 0 && static_cast<std::uint32_t>(id) < layer.experts)
            weights[static_cast<std::size_t>(id)] += numeric::toDouble(
                numeric::bitsAt(view.weights, layer.weightType, slot), layer.weightType);
    }
    return weights;
}

std::vector<std::int32_t> chosenOf(const trace::RouterLayer& layer, const trace::RoutingView& view)
{
    std::vector<std::int32_t> ids;
    for (const std::int32_t id : view.ids)
        if (id >= 0 && static_cast<std::uint32_t>(id) < layer.experts)
            ids.push_back(id);
    return ids;
}

RouteRecord compareRoutes(const trace::RouterLayer& referenceLayer,
                          const trace::RoutingView& reference,
                          const trace::RouterLayer& targetLayer, const trace::RoutingView& target)
{
    RouteRecord record;
    record.referenceIds = chosenOf(referenceLayer, reference);
    record.targetIds = chosenOf(targetLayer, target);
    compareSets(record);

    const Edge ours = edgeOf(selectionOf(referenceLayer, reference), record.referenceIds.size());
    const Edge theirs = edgeOf(selectionOf(targetLayer, target), record.targetIds.size());
    record.cell.referenceMargin = marginAsFloat(ours);
    record.cell.targetMargin = marginAsFloat(theirs);
    record.margin = ours.margin;
    if (ours.margin)
        record.marginUlps = ulpsBetween(ours.inside, ours.outside,
                                        reference.scores == nullptr ? referenceLayer.logitType
                                                                    : numeric::DType::FP32);

    const std::vector<double> a = routerLogits(referenceLayer, reference);
    const std::vector<double> b = routerLogits(targetLayer, target);
    const std::vector<double> weightA = weightsOf(referenceLayer, reference);
    const std::vector<double> weightB = weightsOf(targetLayer, target);
    for (std::size_t e = 0; e < a.size(); ++e) {
        const double d = b[e] - a[e];
        if (std::isfinite(d)) {
            record.logitSquares += d * d;
            ++record.logitCount;
        }
        const double moved = std::fabs(weightB[e] - weightA[e]);
        record.gateDistance += std::isfinite(moved) ? moved : notKnown;
    }
    const numeric::LogitsSums sums = numeric::compareLogits(
        reference.logits, referenceLayer.logitType, target.logits, targetLayer.logitType,
        referenceLayer.experts, numeric::LogitsDetail::Divergences);
    if (sums.comparable)
        record.gateKl = sums.forwardKl;
    return record;
}

} // namespace moire::diff
