// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/rows_known.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};
/// E2 (order), E3 (set) or the overlap's E4 for one K.
void addLists(const FoldView& view, std::size_t sizeAt, Measures& measures)
{
    const std::uint32_t k = topKSizes[sizeAt];
    Measure order = named(withK("E2", k), whyNoList(view, k));
    Measure set = named(withK("E3", k), whyNoList(view, k));
    Measure overlap = named(withK("E4", k), whyNoList(view, k));
    Terms orders;
    Terms sets;
    Terms overlaps;
    double jaccard = 0;
    forEachKnown(view, sizeAt, [&](std::size_t row, const LogitsRecord& logits) {
        orders.push_back({row, bitAt(logits.row.orderEqual, sizeAt), 1});
        sets.push_back({row, bitAt(logits.row.setEqual, sizeAt), 1});
        const auto common = static_cast<double>(logits.row.overlap[sizeAt]);
        overlaps.push_back({row, common / k, 1});
        jaccard += common / (2.0 * k - common);
    });
    setRatio(order, view, orders, RatioForm::Percent);
    setRatio(set, view, sets, RatioForm::Percent);
    setRatio(overlap, view, overlaps, RatioForm::Quotient);
    setPositions(overlap, view, overlaps, RatioForm::Quotient);
    if (overlap.value)
        overlap.parameters["jaccard"] = jaccard / static_cast<double>(overlaps.size());
    measures.insert(measures.end(), {order, set, overlap});
}

void addMass(const FoldView& view, std::size_t sizeAt, Measures& measures)
{
    const std::uint32_t k = topKSizes[sizeAt];
    Measure mass = named(withK("E9", k), whyNoList(view, k));
    RowValues ours;
    double theirs = 0;
    std::size_t known = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (const auto& value = record.logits.referenceMass[sizeAt])
            ours.push_back({row, *value});
        if (const auto& value = record.logits.targetMass[sizeAt]) {
            theirs += *value;
            ++known;
        }
    });
    setMean(mass, view, ours, headName, Curve::ByPosition);
    if (known == ours.size() && known > 0)
        mass.parameters["target"] = theirs / static_cast<double>(known);
    measures.push_back(std::move(mass));
}

void addRanks(const FoldView& view, Measures& measures)
{
    Measure rank = named("E6", "the target's rank of that token was not recorded in every row");
    RowValues ranks;
    std::int32_t shift = 0;
    bool complete = true;
    bool shiftsKnown = true;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.rankOfTop)
            ranks.push_back({row, static_cast<double>(*logits.rankOfTop)});
        else
            complete = false;
        shiftsKnown = shiftsKnown && logits.rankShift;
        shift = std::max(shift, logits.rankShift.value_or(0));
    });
    if (complete) {
        setMean(rank, view, ranks, headName, Curve::None);
        if (shiftsKnown && !ranks.empty())
            rank.parameters["largest_shift_in_top_5"] = shift;
    } else if (ranks.empty()) {
        rank.whyNull = whyNoList(view, 1);
    }
    measures.push_back(std::move(rank));
}

} // namespace

std::string withK(std::string_view id, std::uint32_t k)
{
    return k == plainK ? std::string(id) : std::string(id) + "[k=" + std::to_string(k) + ']';
}

std::string whyNoList(const FoldView& view, std::uint32_t k)
{
    if (!view.head && !view.alignment.comparesLogits)
        return whyNoLogits(view);
    return "the best " + std::to_string(k) + " tokens are not known on both sides";
}

void addTopKMeasures(const FoldView& view, Measures& measures)
{
    Measure top = named("E1", whyNoList(view, 1));
    Terms agreed;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        agreed.push_back({row, bitAt(logits.row.setEqual, 0), 1});
    });
    setRatio(top, view, agreed, RatioForm::Percent);
    setPositions(top, view, agreed, RatioForm::Percent);
    measures.push_back(top);
    Measure byPosition = named("G7", top.whyNull);
    byPosition.value = top.value;
    byPosition.n = top.n;
    byPosition.form = top.form;
    byPosition.bySample = top.bySample;
    byPosition.byPosition = top.byPosition;
    measures.push_back(std::move(byPosition));
    for (std::size_t i = 0; i < topKSizes.size(); ++i) {
        addLists(view, i, measures);
        addMass(view, i, measures);
    }
    addRanks(view, measures);
}

} // namespace moire::diff
