// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/rows_known.h"

#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};

/// E5 for one K.
void addTies(const FoldView& view, std::size_t sizeAt, Measures& measures)
{
    const std::uint32_t k = topKSizes[sizeAt];
    Measure ties = named(withK("E5", k), whyNoList(view, k));
    Terms possible;
    double certain = 0;
    double orderPossible = 0;
    double orderCertain = 0;
    double tied = 0;
    bool complete = true;
    forEachKnown(view, sizeAt, [&](std::size_t row, const LogitsRecord& logits) {
        const RankingRecord& ranking = logits.ranking;
        complete = complete && bitAt(ranking.tieKnown, sizeAt) > 0;
        possible.push_back({row, bitAt(ranking.setPossible, sizeAt), 1});
        certain += bitAt(ranking.setCertain, sizeAt);
        orderPossible += bitAt(ranking.orderPossible, sizeAt);
        orderCertain += bitAt(ranking.orderCertain, sizeAt);
        tied += bitAt(ranking.tied, sizeAt);
    });
    if (!complete)
        ties.whyNull = "in some row a table ends within a tie, or NaN is among the best";
    else
        setRatio(ties, view, possible, RatioForm::Percent);
    if (ties.value) {
        const auto n = static_cast<double>(possible.size());
        ties.parameters["set_lower"] = percent(certain, n);
        ties.parameters["order_upper"] = percent(orderPossible, n);
        ties.parameters["order_lower"] = percent(orderCertain, n);
        ties.parameters["tied"] = percent(tied, n);
    }
    measures.push_back(std::move(ties));
}

/// Mean over the rows in which `of(ranking)` is a number. Whole rows of logits lack it by what they
/// hold and are left out; tables lack it by what they miss, and then there is no mean.
template <class Quantity>
void setKnownMean(Measure& measure, const FoldView& view, Quantity of)
{
    RowValues values;
    bool complete = true;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const double value = of(record.logits.ranking);
        if (std::isfinite(value))
            values.push_back({row, value});
        else
            complete = complete && (record.logits.full || record.logits.row.referenceTop < 0);
    });
    if (complete)
        setMean(measure, view, values, headName, Curve::None);
    else if (!values.empty())
        measure.whyNull = whyTableMisses;
}

void addRankAgreement(const FoldView& view, std::size_t sizeAt, Measures& measures)
{
    const std::uint32_t k = rankAgreementSizes[sizeAt];
    Measure tau = named(withK("E7", k), whyNoList(view, k));
    setKnownMean(tau, view, [&](const RankingRecord& r) { return r.kendall[sizeAt]; });
    Measure overlap = named(withK("E7", k));
    setKnownMean(overlap, view, [&](const RankingRecord& r) { return r.rankBiased[sizeAt]; });
    if (overlap.value)
        tau.parameters["rank_biased_overlap"] = *overlap.value;
    measures.push_back(std::move(tau));
}

/// E10: where free runs part, whether each side's token is among the other's best.
void addContainment(const FoldView& view, Measures& measures)
{
    Measure mutual = named("E10", "no row in which free runs part was compared");
    constexpr std::array<std::uint32_t, 4> sizes{2, 5, 10, 20};
    std::array<double, sizes.size()> contained{};
    Terms terms;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.referenceNext < 0 || logits.targetNext < 0
            || logits.referenceNext == logits.targetNext || logits.row.referenceTop < 0)
            return;
        const std::uint8_t furthest =
            std::max(logits.ranking.targetTokenRank, logits.ranking.referenceTokenRank);
        for (std::size_t i = 0; i < sizes.size(); ++i)
            contained[i] += furthest < sizes[i] ? 1 : 0;
        terms.push_back({row, furthest < plainK ? 1.0 : 0.0, 1});
    });
    setRatio(mutual, view, terms, RatioForm::Percent);
    if (mutual.value)
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (sizes[i] != plainK)
                mutual.parameters["within_" + std::to_string(sizes[i])] =
                    percent(contained[i], static_cast<double>(terms.size()));
    measures.push_back(std::move(mutual));
}

/// E11.
void addNucleus(const FoldView& view, Measures& measures)
{
    Measure nucleus = named("E11", view.head || view.alignment.comparesLogits
                                       ? "no row's nucleus is known on both sides"
                                       : whyNoLogits(view));
    setKnownMean(nucleus, view, [](const RankingRecord& r) { return r.nucleusJaccard; });
    double ours = 0;
    double theirs = 0;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        if (!std::isfinite(record.logits.ranking.nucleusJaccard))
            return;
        ours += record.logits.ranking.referenceNucleus;
        theirs += record.logits.ranking.targetNucleus;
    });
    if (nucleus.value) {
        nucleus.parameters["size"] = ours / static_cast<double>(nucleus.n);
        nucleus.parameters["target_size"] = theirs / static_cast<double>(nucleus.n);
    }
    measures.push_back(std::move(nucleus));
}

} // namespace

void addRankingMeasures(const FoldView& view, Measures& measures)
{
    constexpr std::uint32_t longestTieAware = 20;
    for (std::size_t i = 0; i < topKSizes.size(); ++i)
        if (topKSizes[i] <= longestTieAware)
            addTies(view, i, measures);
    for (std::size_t i = 0; i < rankAgreementSizes.size(); ++i)
        addRankAgreement(view, i, measures);
    Measure variation = named("E8", whyNoList(view, topKSizes.back()));
    setKnownMean(variation, view, [](const RankingRecord& r) { return r.renormalisedVariation; });
    measures.push_back(std::move(variation));
    addContainment(view, measures);
    addNucleus(view, measures);
}

} // namespace moire::diff
