// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace moire::diff {

namespace {

/// Sums a ratio per layer, in row order.
class ByLayer
{
public:
    void add(std::int32_t layer, double numerator, double denominator)
    {
        auto& sums = m_sums[layer];
        sums.first += numerator;
        sums.second += denominator;
    }
    void store(Measure& measure, RatioForm form) const
    {
        for (const auto& [layer, sums] : m_sums)
            if (const double value = finished(form, sums.first, sums.second); std::isfinite(value))
                measure.byLayer[layer] = value;
    }

private:
    std::map<std::int32_t, std::pair<double, double>> m_sums;
};

/// Visits every recorded slot (row × router pair).
template <class Visit>
void forEachSlot(const FoldView& view, Visit visit)
{
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        for (std::size_t i = 0; i < record.routes.size(); ++i)
            if (record.routes[i].cell.chosen > 0)
                visit(row, i, record.routes[i]);
    });
}

/// One ratio over all slots, with its curve by layer and, when asked, by position.
template <class Quantity>
Measure overSlots(const FoldView& view, std::string_view id, const std::string& why, RatioForm form,
                  Curve curve, Quantity quantity)
{
    Measure measure = named(id, why);
    Terms terms;
    ByLayer layers;
    forEachSlot(view, [&](std::size_t row, std::size_t router, const RouteRecord& route) {
        const Term term = quantity(row, route);
        terms.push_back(term);
        layers.add(view.router(router).layer, term.numerator, term.denominator);
    });
    setRatio(measure, view, terms, form);
    layers.store(measure, form);
    if (curve == Curve::ByPosition)
        setPositions(measure, view, terms, form);
    return measure;
}

double setEqual(const RouteRecord& route)
{
    return route.cell.replaced == 0 ? 1 : 0;
}

void addSets(const FoldView& view, const std::string& why, Measures& measures)
{
    Measure sets = overSlots(view, "H1", why, RatioForm::Percent, Curve::ByPosition,
                             [](std::size_t row, const RouteRecord& route) {
                                 return Term{row, setEqual(route), 1};
                             });
    double ordered = 0;
    double jaccard = 0;
    forEachSlot(view, [&](std::size_t, std::size_t, const RouteRecord& route) {
        ordered += route.cell.orderEqual ? 1 : 0;
        jaccard += static_cast<double>(route.overlap) / static_cast<double>(route.unionSize);
    });
    Measure replaced = overSlots(view, "H3", why, RatioForm::Quotient, Curve::None,
                                 [](std::size_t row, const RouteRecord& route) {
                                     return Term{row, static_cast<double>(route.cell.replaced), 1};
                                 });
    if (sets.n > 0) {
        sets.parameters["ordered"] = percent(ordered, static_cast<double>(sets.n));
        replaced.parameters["jaccard"] = jaccard / static_cast<double>(sets.n);
    }
    measures.push_back(std::move(sets));
    measures.push_back(std::move(replaced));
}

/// The median of numbers that are counted: counts[i] of them are i. Between the two middle ones.
double medianOfCounts(std::span<const double> counts)
{
    double total = 0;
    for (const double count : counts)
        total += count;
    const auto ranked = [&](double rank) {
        double below = 0;
        std::size_t i = 0;
        while (i + 1 < counts.size() && below + counts[i] <= rank)
            below += counts[i++];
        return static_cast<double>(i);
    };
    if (total == 0)
        return std::numeric_limits<double>::quiet_NaN();
    const double middle = (total - 1) / 2;
    return (ranked(std::floor(middle)) + ranked(std::ceil(middle))) / 2;
}

/// H5: rows are counted by layer, so that the median is a function of sums over samples.
void setMedianLayer(Measure& measure, const FoldView& view, const RowValues& layers)
{
    if (layers.empty())
        return;
    double last = 0;
    for (const RowValue& layer : layers)
        last = std::max(last, layer.value);
    SampleColumns counts(view, static_cast<std::size_t>(last) + 1);
    for (const RowValue& layer : layers)
        counts.addTo(layer.row, static_cast<std::size_t>(layer.value), 1);
    counts.finish(measure, medianOfCounts);
    measure.n = layers.size();
    setPercentiles(measure, view, layers, "");
}

/// H2, H4, H5: of a row as a whole.
void addRows(const FoldView& view, const std::string& why, Measures& measures)
{
    Measure all = named("H2", why);
    Measure layers = named("H4", why);
    Measure first = named("H5", why);
    Terms equal;
    RowValues differing;
    RowValues firsts;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        double changed = 0;
        bool any = false;
        std::optional<std::int32_t> firstLayer;
        for (std::size_t i = 0; i < record.routes.size(); ++i) {
            const RouteCell& cell = record.routes[i].cell;
            any = any || cell.chosen > 0;
            if (cell.replaced == 0)
                continue;
            ++changed;
            const std::int32_t layer = std::max(0, view.router(i).layer);
            firstLayer = firstLayer ? std::min(*firstLayer, layer) : layer;
        }
        if (!any)
            return;
        equal.push_back({row, changed == 0 ? 1.0 : 0.0, 1});
        differing.push_back({row, changed});
        if (firstLayer)
            firsts.push_back({row, static_cast<double>(*firstLayer)});
    });
    setRatio(all, view, equal, RatioForm::Percent);
    setMean(layers, view, differing, "", Curve::None);
    setMedianLayer(first, view, firsts);
    if (!differing.empty() && firsts.empty())
        first.whyNull = "every expert set is equal";
    layers.at.clear();
    first.at.clear();
    measures.insert(measures.end(), {all, layers, first});
}

void addGates(const FoldView& view, const std::string& why, Measures& measures)
{
    measures.push_back(
        overSlots(view, "H6", why, RatioForm::Quotient, Curve::None,
                  [](std::size_t row, const RouteRecord& route) {
                      return Term{row, route.logitSquares, static_cast<double>(route.logitCount)};
                  }));
    Measure gate = overSlots(view, "H7", why, RatioForm::Quotient, Curve::None,
                             [](std::size_t row, const RouteRecord& route) {
                                 return std::isfinite(route.gateDistance)
                                            ? Term{row, route.gateDistance, 1}
                                            : Term{row, 0, 0}; // a weight is no number
                             });
    double kl = 0;
    double known = 0;
    forEachSlot(view, [&](std::size_t, std::size_t, const RouteRecord& route) {
        if (!route.gateKl)
            return;
        kl += *route.gateKl;
        ++known;
    });
    if (known > 0)
        gate.parameters["kl"] = kl / known;
    measures.push_back(std::move(gate));
}

void addMargins(const FoldView& view, const std::string& why, Measures& measures)
{
    Measure margin = named("H8", why.empty() ? "every expert is chosen" : why);
    RowValues margins;
    ByLayer layers;
    double ties = 0;
    double one = 0;
    double two = 0;
    double known = 0;
    forEachSlot(view, [&](std::size_t row, std::size_t router, const RouteRecord& route) {
        if (!route.margin)
            return;
        margins.push_back({row, *route.margin});
        layers.add(view.router(router).layer, *route.margin, 1);
        ties += *route.margin == 0 ? 1 : 0;
        if (!route.marginUlps)
            return;
        ++known;
        one += *route.marginUlps <= 1 ? 1 : 0;
        two += *route.marginUlps <= 2 ? 1 : 0;
    });
    setMean(margin, view, margins, "", Curve::None);
    margin.at.clear();
    layers.store(margin, RatioForm::Quotient);
    if (!margins.empty())
        margin.parameters["exact_ties"] = ties;
    if (known > 0) {
        margin.parameters["within_1_ulp_percent"] = percent(one, known);
        margin.parameters["within_2_ulp_percent"] = percent(two, known);
    }
    measures.push_back(std::move(margin));
}

/// H9. An expert's load is its share of the layer's routed slots, in each run.
void addLoads(const FoldView& view, const std::string& why, Measures& measures)
{
    Measure shift = named("H9", why);
    const std::size_t routers = view.alignment.routers.size();
    std::vector<std::array<std::vector<double>, 2>> loads(routers);
    std::vector<std::array<double, 2>> totals(routers);
    for (std::size_t i = 0; i < routers; ++i)
        for (auto& side : loads[i])
            side.resize(view.router(i).experts);
    forEachSlot(view, [&](std::size_t, std::size_t router, const RouteRecord& route) {
        for (const std::int32_t id : route.referenceIds)
            ++loads[router][0][static_cast<std::size_t>(id)];
        for (const std::int32_t id : route.targetIds)
            ++loads[router][1][static_cast<std::size_t>(id)];
        totals[router][0] += static_cast<double>(route.referenceIds.size());
        totals[router][1] += static_cast<double>(route.targetIds.size());
    });
    double sum = 0;
    for (std::size_t i = 0; i < routers; ++i) {
        if (totals[i][0] == 0 || totals[i][1] == 0)
            continue;
        double moved = 0;
        for (std::size_t e = 0; e < loads[i][0].size(); ++e)
            moved += std::fabs(loads[i][1][e] / totals[i][1] - loads[i][0][e] / totals[i][0]);
        shift.byLayer[view.router(i).layer] = moved / 2;
        sum += moved / 2;
        ++shift.n;
    }
    if (shift.n > 0)
        setValue(shift, sum / static_cast<double>(shift.n));
    measures.push_back(std::move(shift));
}

/// H11: forward KL where every expert set is equal and where one changed.
Measure conditionalError(const FoldView& view, const std::string& why)
{
    Measure error = named("H11", why);
    RowValues changed;
    std::array<double, 2> kl{};
    std::array<double, 2> squares{};
    std::array<double, 2> elements{};
    std::array<double, 2> rows{};
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        bool routed = false;
        bool differs = false;
        for (const RouteRecord& route : record.routes) {
            routed = routed || route.cell.chosen > 0;
            differs = differs || route.cell.replaced > 0;
        }
        if (!routed || !record.logits.row.compared)
            return;
        const std::size_t at = differs ? 1 : 0;
        const Site& site = record.sites[*view.head];
        kl[at] += record.logits.sums.forwardKl;
        squares[at] += site.sumSquares;
        elements[at] += site.finite;
        ++rows[at];
        if (differs)
            changed.push_back({row, record.logits.sums.forwardKl});
    });
    if (why.empty() && rows[0] + rows[1] > 0)
        error.whyNull = "every expert set is equal";
    else if (error.whyNull.empty())
        error.whyNull = whyNoLogits(view);
    setMean(error, view, changed, trace::headTapName, Curve::None);
    const auto set = [&](const char* key, double numerator, double denominator) {
        if (denominator > 0)
            error.parameters[key] = numerator / denominator;
    };
    if (rows[0] + rows[1] > 0) {
        set("equal_routes", kl[0], rows[0]);
        set("share_of_kl", kl[1], kl[0] + kl[1]);
        set("share_of_rows", rows[1], rows[0] + rows[1]);
        set("mse", squares[1], elements[1]);
        set("mse_equal_routes", squares[0], elements[0]);
    }
    return error;
}

} // namespace

void addRoutingMeasures(const FoldView& view, Measures& measures)
{
    std::string why;
    if (view.reference.header().routers.empty() && view.target.header().routers.empty())
        why = "no MoE layers";
    else if (view.alignment.routers.empty())
        why = "no MoE layer is compared";
    const std::string whyNoSlot = why.empty() ? "no routing was recorded" : why;
    addSets(view, whyNoSlot, measures);
    addRows(view, whyNoSlot, measures);
    addGates(view, whyNoSlot, measures);
    addMargins(view, why, measures);
    addLoads(view, whyNoSlot, measures);
    measures.push_back(
        named("H10", why.empty() ? "needs a run of the target with the reference's routes replayed"
                                 : why));
    measures.push_back(conditionalError(view, why));
}

} // namespace moire::diff
