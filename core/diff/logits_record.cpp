// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/logits_record.h"

#include "core/diff/ranking_record.h"
#include "core/numeric/logits_spread.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace moire::diff {

namespace {

using numeric::Ranked;

/// The largest K of topKSizes.
constexpr std::size_t longestList = topKSizes.back();
/// How many of the reference's best are followed into the target's ranking (E6).
constexpr std::size_t followedRanks = 5;

/// One side's ranking and a way to look ids up in it.
struct Ranking
{
    std::vector<Ranked> top;    ///< best first, at most longestList
    std::span<const float> all; ///< the whole row, or empty: `top` is all that is known
    std::optional<double> logSumExp;
    numeric::DType dtype = numeric::DType::FP32;

    std::optional<double> valueOf(std::int32_t id) const
    {
        if (!all.empty())
            return static_cast<double>(all[static_cast<std::size_t>(id)]);
        const auto at = std::find_if(top.begin(), top.end(),
                                     [id](const Ranked& entry) { return entry.id == id; });
        return at == top.end() ? std::nullopt : std::optional<double>(at->value);
    }

    std::optional<std::int32_t> rankOf(std::int32_t id) const
    {
        for (std::size_t i = 0; i < top.size(); ++i)
            if (top[i].id == id)
                return static_cast<std::int32_t>(i);
        if (all.empty())
            return std::nullopt;
        const Ranked own{id, all[static_cast<std::size_t>(id)]};
        std::int32_t rank = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            rank += ranksBefore({static_cast<std::int32_t>(i), all[i]}, own) ? 1 : 0;
        return rank;
    }
};

std::optional<double> finiteDifference(std::optional<double> a, std::optional<double> b)
{
    if (!a || !b || !std::isfinite(*a - *b))
        return std::nullopt;
    return *a - *b;
}

void compareLists(const Ranking& reference, const Ranking& target, LogitsRow& row)
{
    for (std::size_t i = 0; i < topKSizes.size(); ++i) {
        const std::size_t k = topKSizes[i];
        if (reference.top.size() < k || target.top.size() < k)
            continue;
        const auto bit = static_cast<std::uint8_t>(1U << i);
        std::array<std::int32_t, longestList> a{};
        std::array<std::int32_t, longestList> b{};
        bool sameOrder = true;
        for (std::size_t j = 0; j < k; ++j) {
            a[j] = reference.top[j].id;
            b[j] = target.top[j].id;
            sameOrder = sameOrder && a[j] == b[j];
        }
        std::sort(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(k));
        std::sort(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(k));
        std::size_t common = 0;
        for (std::size_t m = 0, n = 0; m < k && n < k;) {
            common += a[m] == b[n] ? 1 : 0;
            const bool advanceFirst = a[m] <= b[n];
            n += b[n] <= a[m] ? 1 : 0;
            m += advanceFirst ? 1 : 0;
        }
        row.known = static_cast<std::uint8_t>(row.known | bit);
        row.overlap[i] = static_cast<std::uint8_t>(common);
        if (common == k)
            row.setEqual = static_cast<std::uint8_t>(row.setEqual | bit);
        if (sameOrder)
            row.orderEqual = static_cast<std::uint8_t>(row.orderEqual | bit);
    }
}

void addMasses(const Ranking& reference, const Ranking& target, LogitsRecord& record)
{
    std::optional<double> ours = reference.logSumExp ? std::optional<double>(0) : std::nullopt;
    std::optional<double> theirs = target.logSumExp ? std::optional<double>(0) : std::nullopt;
    std::size_t size = 0;
    for (std::size_t j = 0; j < reference.top.size() && size < topKSizes.size(); ++j) {
        const auto add = [&](std::optional<double>& mass, std::optional<double> logit,
                             std::optional<double> logSumExp) {
            if (mass && logit && std::isfinite(*logit))
                *mass += std::exp(*logit - *logSumExp);
            else
                mass.reset();
        };
        add(ours, reference.top[j].value, reference.logSumExp);
        add(theirs, theirs ? target.valueOf(reference.top[j].id) : std::nullopt, target.logSumExp);
        if (j + 1 != topKSizes[size])
            continue;
        record.referenceMass[size] = ours;
        record.targetMass[size] = theirs;
        ++size;
    }
}

double marginOf(const Ranking& side)
{
    if (side.top.size() < 2)
        return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(side.top[0].value) - static_cast<double>(side.top[1].value);
}

std::optional<std::uint64_t> marginUlps(const Ranking& side)
{
    if (side.top.size() < 2 || !std::isfinite(marginOf(side)))
        return std::nullopt;
    return ulpsBetween(side.top[0].value, side.top[1].value, side.dtype);
}

void addRankChanges(const Ranking& reference, const Ranking& target, LogitsRecord& record)
{
    record.rankOfTop = target.rankOf(reference.top[0].id);
    std::optional<std::int32_t> furthest = 0;
    for (std::size_t j = 0; j < std::min(followedRanks, reference.top.size()) && furthest; ++j) {
        const auto rank = target.rankOf(reference.top[j].id);
        furthest =
            rank
                ? std::optional(std::max(*furthest, std::abs(*rank - static_cast<std::int32_t>(j))))
                : std::nullopt;
    }
    record.rankShift = furthest;
}

/// All that two rankings tell, whether from full rows or from tables.
void compareRankings(const Ranking& reference, const Ranking& target, std::int32_t claimed,
                     LogitsRecord& record)
{
    LogitsRow& row = record.row;
    compareLists(reference, target, row);
    if (reference.top.empty() || target.top.empty())
        return;
    row.referenceTop = reference.top[0].id;
    row.targetTop = target.top[0].id;
    row.referenceMargin = marginOf(reference);
    row.targetMargin = marginOf(target);
    record.referenceMarginUlps = marginUlps(reference);
    record.targetMarginUlps = marginUlps(target);
    record.topNotFinite =
        !std::isfinite(reference.top[0].value) || !std::isfinite(target.top[0].value);
    addMasses(reference, target, record);
    addRankChanges(reference, target, record);
    addRankings({reference.top, reference.all, reference.logSumExp},
                {target.top, target.all, target.logSumExp}, record);
    if (reference.top.size() >= 2) {
        record.directionMissed =
            !target.valueOf(reference.top[0].id) || !target.valueOf(reference.top[1].id);
        const auto change = [&](std::size_t j) {
            return finiteDifference(target.valueOf(reference.top[j].id),
                                    static_cast<double>(reference.top[j].value));
        };
        record.directionalError = finiteDifference(change(1), change(0));
    }
    if (row.referenceTop != row.targetTop) {
        const auto other = reference.valueOf(row.targetTop);
        record.flipGap = finiteDifference(static_cast<double>(reference.top[0].value), other);
        if (record.flipGap)
            record.flipGapUlps =
                ulpsBetween(reference.top[0].value, static_cast<float>(*other), reference.dtype);
    }
    if (claimed >= 0
        && (target.all.empty() || static_cast<std::size_t>(claimed) < target.all.size())) {
        const auto value = target.valueOf(claimed);
        record.claimMissed = !value;
        record.claimedMargin = finiteDifference(static_cast<double>(target.top[0].value), value);
    }
}

/// A2, A5, B3 and B7.
void addElementwise(const FullLogits& reference, const FullLogits& target, LogitsRecord& record)
{
    const numeric::LogitsSpread spread =
        numeric::spreadOfLogits(reference.data, reference.dtype, target.data, target.dtype,
                                reference.width, record.sums.meanDifference);
    record.roundedEqual = spread.roundedEqual;
    record.exponentMatched = spread.exponentMatched;
    record.mantissaDistance = spread.mantissaDistance;
    record.maxRelative = spread.maxRelative;
    record.maxRelativeAt = spread.maxRelativeAt;
    record.centredSquares = spread.centredSquares;
}

Ranking rankingOf(const TopKTable& table)
{
    Ranking ranking;
    ranking.dtype = table.dtype;
    for (std::size_t j = 0; j < table.view.ids.size() && table.view.ids[j] >= 0; ++j)
        ranking.top.push_back({table.view.ids[j], table.view.values[j]});
    if (std::isfinite(table.view.logSumExp))
        ranking.logSumExp = table.view.logSumExp;
    return ranking;
}

} // namespace

std::vector<float> asFloats(const FullLogits& logits)
{
    std::vector<float> values(logits.width);
    numeric::widenToFloats(logits.data, logits.dtype, logits.width, values.data());
    return values;
}

std::optional<std::uint64_t> ulpsBetween(float a, float b, numeric::DType dtype)
{
    switch (dtype) {
    case numeric::DType::BF16:
        return numeric::ulpDistance(numeric::bf16FromFloat(a), numeric::bf16FromFloat(b), dtype);
    case numeric::DType::FP16:
        return numeric::ulpDistance(numeric::fp16FromFloat(a), numeric::fp16FromFloat(b), dtype);
    case numeric::DType::FP32:
        return numeric::ulpDistance(std::bit_cast<std::uint32_t>(a),
                                    std::bit_cast<std::uint32_t>(b), dtype);
    default:
        return std::nullopt;
    }
}

void compareFullLogits(const FullLogits& reference, const FullLogits& target, std::int32_t claimed,
                       numeric::LogitsDetail detail, LogitsRecord& record)
{
    const bool all = detail == numeric::LogitsDetail::All;
    numeric::LogitsPeaks peaks;
    record.full = true;
    record.sums = numeric::compareLogits(reference.data, reference.dtype, target.data, target.dtype,
                                         reference.width, detail, &peaks);
    record.row.compared = record.sums.comparable;
    record.row.forwardKl = record.sums.forwardKl;
    record.row.reverseKl = record.sums.reverseKl;
    record.row.totalVariation = record.sums.totalVariation;
    if (all)
        addElementwise(reference, target, record);
    const std::vector<float> r = asFloats(reference);
    const std::vector<float> t = asFloats(target);
    Ranking ours{numeric::topK(reference.data, reference.dtype, reference.width, longestList,
                               peaks.reference),
                 r, std::nullopt, reference.dtype};
    Ranking theirs{
        numeric::topK(target.data, target.dtype, target.width, longestList, peaks.target), t,
        std::nullopt, target.dtype};
    if (record.sums.comparable) {
        ours.logSumExp = record.sums.referenceLogSumExp;
        theirs.logSumExp = record.sums.targetLogSumExp;
    }
    compareRankings(ours, theirs, claimed, record);
    if (all)
        addSpread({ours.top, ours.all, ours.logSumExp}, t, record);
}

void compareTopKTables(const TopKTable& reference, const TopKTable& target, std::int32_t claimed,
                       LogitsRecord& record)
{
    Ranking ours = rankingOf(reference);
    Ranking theirs = rankingOf(target);
    const std::size_t common = std::min(ours.top.size(), theirs.top.size());
    for (std::size_t j = 0; j < common; ++j)
        record.tablesDiffer = record.tablesDiffer || ours.top[j].id != theirs.top[j].id
                              || std::bit_cast<std::uint32_t>(ours.top[j].value)
                                     != std::bit_cast<std::uint32_t>(theirs.top[j].value);
    compareRankings(ours, theirs, claimed, record);
}

void addChosenToken(const trace::Run& reference, const trace::Run& target, const RowPair& pair,
                    LogitsRecord& record)
{
    const trace::Row ours = reference.row(pair.reference);
    const trace::Row theirs = target.row(pair.target);
    const std::size_t next = std::size_t{pair.position} + 1;
    const auto ourTokens = reference.tokens(ours.sample);
    const auto theirTokens = target.tokens(theirs.sample);
    if (next < ourTokens.size()) {
        record.referenceNext = ourTokens[next].id;
        record.predictsResponse = ourTokens[next].response;
    }
    if (next < theirTokens.size()) {
        record.targetNext = theirTokens[next].id;
        record.targetPredictsResponse = theirTokens[next].response;
    }
    if (ours.score.id < 0 || ours.score.id != theirs.score.id || !std::isfinite(ours.score.logProb)
        || !std::isfinite(theirs.score.logProb))
        return;
    record.referenceLogProb = ours.score.logProb;
    record.targetLogProb = theirs.score.logProb;
}

} // namespace moire::diff
