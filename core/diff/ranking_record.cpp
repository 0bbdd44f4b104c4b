// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/ranking_record.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace moire::diff {

namespace {

using numeric::Ranked;
using Ids = std::vector<std::int32_t>;

/// Lists of this length and longer say nothing of what ties with their last entry.
constexpr std::uint32_t longestTieAware = 20;
constexpr double persistence = 0.9; ///< of the rank-biased overlap
constexpr std::size_t renormalised = topKSizes.back();

/// A side's best k: certain are those above the last one's value, the rest tie with it.
struct Cut
{
    float last = 0;
    std::size_t certain = 0; ///< the list's first so many
    bool freeChoice = false; ///< more tie with the last than there are places
    bool anyTie = false;     ///< within the best k or at their edge
    bool listed = true;      ///< all that tie with the last are in the list
};

std::optional<Cut> cutAt(const RankedSide& side, std::size_t k)
{
    if (side.top.size() < k || std::isnan(side.top[k - 1].value))
        return std::nullopt;
    Cut cut;
    cut.last = side.top[k - 1].value;
    while (side.top[cut.certain].value > cut.last)
        ++cut.certain;
    for (std::size_t i = 1; i < k; ++i)
        cut.anyTie = cut.anyTie || side.top[i].value == side.top[i - 1].value;
    if (side.top.size() > k) {
        cut.freeChoice = side.top[k].value == cut.last;
        cut.listed = side.top.back().value != cut.last;
    } else { // a vocabulary or a table of exactly k
        cut.listed = side.all.size() == k;
    }
    cut.anyTie = cut.anyTie || cut.freeChoice;
    return cut;
}

/// Whether the token may be among the side's best.
bool mayBelong(const RankedSide& side, const Cut& cut, std::int32_t id)
{
    const auto value = side.valueOf(id);
    return value && *value >= cut.last;
}

/// How many tokens may be among the best of both sides; counted up to k.
std::size_t commonCandidates(const RankedSide& a, const Cut& cutA, const RankedSide& b,
                             const Cut& cutB, std::size_t k)
{
    std::size_t count = 0;
    const auto fromList = [&](const RankedSide& side, const Cut& cut, const RankedSide& other,
                              const Cut& otherCut) {
        for (const Ranked& entry : side.top)
            if (entry.value >= cut.last && count < k)
                count += mayBelong(other, otherCut, entry.id) ? 1 : 0;
    };
    if (cutA.listed) {
        fromList(a, cutA, b, cutB);
    } else if (cutB.listed) {
        fromList(b, cutB, a, cutA);
    } else {
        for (std::size_t id = 0; id < a.all.size() && count < k; ++id)
            count += a.all[id] >= cutA.last && b.all[id] >= cutB.last ? 1 : 0;
    }
    return count;
}

/// Whether no two of the tokens are strictly ordered one way here and the other way there.
bool ordersAgree(const RankedSide& a, const RankedSide& b, const Ids& ids)
{
    for (std::size_t i = 0; i < ids.size(); ++i)
        for (std::size_t j = i + 1; j < ids.size(); ++j) {
            const float here = *a.valueOf(ids[i]);
            const float other = *a.valueOf(ids[j]);
            const float there = *b.valueOf(ids[i]);
            const float otherThere = *b.valueOf(ids[j]);
            if ((here > other && there < otherThere) || (here < other && there > otherThere))
                return false;
        }
    return true;
}

void addTies(const RankedSide& a, const RankedSide& b, std::size_t place, LogitsRecord& record)
{
    RankingRecord& out = record.ranking;
    const std::size_t k = topKSizes[place];
    const auto cutA = cutAt(a, k);
    const auto cutB = cutAt(b, k);
    // A table that ends within a tie does not tell what else ties.
    if (!cutA || !cutB || (a.all.empty() && !cutA->listed) || (b.all.empty() && !cutB->listed))
        return;
    const auto set = [place](std::uint8_t& bits, bool on) {
        bits = static_cast<std::uint8_t>(bits | (on ? 1U << place : 0U));
    };
    Ids certain;
    bool possible = true;
    for (std::size_t i = 0; i < cutA->certain; ++i) {
        certain.push_back(a.top[i].id);
        possible = possible && mayBelong(b, *cutB, a.top[i].id);
    }
    for (std::size_t i = 0; i < cutB->certain; ++i) {
        if (std::find(certain.begin(), certain.end(), b.top[i].id) == certain.end())
            certain.push_back(b.top[i].id);
        possible = possible && mayBelong(a, *cutA, b.top[i].id);
    }
    possible = possible && certain.size() <= k && commonCandidates(a, *cutA, b, *cutB, k) >= k;
    const bool choice = cutA->freeChoice || cutB->freeChoice;
    set(out.tieKnown, true);
    set(out.tied, cutA->anyTie || cutB->anyTie);
    set(out.setPossible, possible);
    set(out.setCertain, !choice && (record.row.setEqual >> place & 1U) != 0);
    set(out.orderPossible, possible && ordersAgree(a, b, certain));
    set(out.orderCertain,
        !cutA->anyTie && !cutB->anyTie && (record.row.orderEqual >> place & 1U) != 0);
}

/// Kendall's τ_b over the union of both sides' best k; ties count as ties.
double kendall(const RankedSide& a, const RankedSide& b, std::size_t k)
{
    std::vector<std::pair<float, float>> values;
    const auto add = [&](std::int32_t id) {
        const auto here = a.valueOf(id);
        const auto there = b.valueOf(id);
        const bool known = here && there && !std::isnan(*here) && !std::isnan(*there);
        if (known)
            values.emplace_back(*here, *there);
        return known;
    };
    for (std::size_t i = 0; i < k; ++i)
        if (!add(a.top[i].id))
            return notKnown;
    for (std::size_t i = 0; i < k; ++i) {
        const auto first = a.top.begin();
        const bool met = std::any_of(first, first + static_cast<std::ptrdiff_t>(k),
                                     [&](const Ranked& e) { return e.id == b.top[i].id; });
        if (!met && !add(b.top[i].id))
            return notKnown;
    }
    double balance = 0;
    double notTiedHere = 0;
    double notTiedThere = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j) {
            const int here = (values[i].first > values[j].first ? 1 : 0)
                             - (values[i].first < values[j].first ? 1 : 0);
            const int there = (values[i].second > values[j].second ? 1 : 0)
                              - (values[i].second < values[j].second ? 1 : 0);
            balance += here * there;
            notTiedHere += here * here;
            notTiedThere += there * there;
        }
    return balance / std::sqrt(notTiedHere * notTiedThere); // NaN where a side is one tie
}

double rankBiasedOverlap(const RankedSide& a, const RankedSide& b, std::size_t k)
{
    double sum = 0;
    double weight = 1 - persistence;
    std::size_t common = 0;
    const auto among = [](std::span<const Ranked> list, std::int32_t id) {
        return std::any_of(list.begin(), list.end(), [id](const Ranked& e) { return e.id == id; });
    };
    for (std::size_t s = 0; s < k; ++s) {
        common += among(b.top.first(s + 1), a.top[s].id) ? 1 : 0;
        common += among(a.top.first(s), b.top[s].id) ? 1 : 0;
        sum += weight * static_cast<double>(common) / static_cast<double>(s + 1);
        weight *= persistence;
    }
    return sum;
}

/// Total variation of both sides' best 64, each renormalised to 1; outside its list a side has 0.
double renormalisedVariation(const RankedSide& a, const RankedSide& b)
{
    if (a.top.size() < renormalised || b.top.size() < renormalised)
        return notKnown;
    const auto weights = [](std::span<const Ranked> list) {
        std::vector<std::pair<std::int32_t, double>> all;
        double sum = 0;
        for (const Ranked& entry : list.first(renormalised)) {
            all.emplace_back(entry.id, std::exp(static_cast<double>(entry.value)
                                                - static_cast<double>(list[0].value)));
            sum += all.back().second;
        }
        for (auto& [id, weight] : all)
            weight /= sum;
        std::sort(all.begin(), all.end());
        return all;
    };
    const auto p = weights(a.top);
    const auto q = weights(b.top);
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < p.size() || j < q.size();) {
        const bool here = j == q.size() || (i < p.size() && p[i].first <= q[j].first);
        const bool there = i == p.size() || (j < q.size() && q[j].first <= p[i].first);
        sum += std::fabs((here ? p[i].second : 0) - (there ? q[j].second : 0));
        i += here ? 1 : 0;
        j += there ? 1 : 0;
    }
    return sum / 2; // NaN where a logit is not finite
}

/// Adds the best tokens of a list, from place `ids.size()` on, until they hold nucleusMass; false
/// when one is not finite.
template <class ValueAt>
bool addUntilFull(const RankedSide& side, std::size_t listed, ValueAt entryAt, double& mass,
                  Ids& ids)
{
    while (mass < nucleusMass && ids.size() < listed) {
        const Ranked entry = entryAt(ids.size());
        if (!std::isfinite(entry.value))
            return false;
        mass += std::exp(static_cast<double>(entry.value) - *side.logSumExp);
        ids.push_back(entry.id);
    }
    return true;
}

/// The fewest best tokens that hold nucleusMass, ascending; empty when that is not known. Where the
/// list ends before, a longer one is made, and where that does (flat rows), the whole row is
/// sorted.
Ids nucleusOf(const RankedSide& side)
{
    Ids ids;
    if (!side.logSumExp)
        return ids;
    constexpr std::size_t growth = 16;
    double mass = 0;
    const auto inList = [&](std::span<const Ranked> list) {
        return addUntilFull(
            side, list.size(), [list](std::size_t i) { return list[i]; }, mass, ids);
    };
    if (!inList(side.top))
        return {};
    if (mass < nucleusMass && !side.all.empty()) {
        const std::size_t longer = std::min(side.all.size(), side.top.size() * growth);
        if (!inList(numeric::topK(side.all.data(), side.all.size(), longer)))
            return {};
    }
    if (mass < nucleusMass && ids.size() < side.all.size()) {
        const Ids order = numeric::rankAll(side.all);
        const auto entryAt = [&](std::size_t i) {
            return Ranked{order[i], side.all[static_cast<std::size_t>(order[i])]};
        };
        if (!addUntilFull(side, order.size(), entryAt, mass, ids))
            return {};
    }
    if (mass < nucleusMass)
        return {};
    std::sort(ids.begin(), ids.end());
    return ids;
}

void addNucleus(const RankedSide& reference, const RankedSide& target, RankingRecord& out)
{
    const Ids a = nucleusOf(reference);
    const Ids b = a.empty() ? Ids() : nucleusOf(target);
    if (a.empty() || b.empty())
        return;
    Ids common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    out.referenceNucleus = static_cast<std::uint32_t>(a.size());
    out.targetNucleus = static_cast<std::uint32_t>(b.size());
    out.nucleusJaccard = static_cast<double>(common.size())
                         / static_cast<double>(a.size() + b.size() - common.size());
}

std::uint8_t rankIn(std::span<const Ranked> list, std::int32_t id)
{
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), topKSizes.back()); ++i)
        if (list[i].id == id)
            return static_cast<std::uint8_t>(i);
    return RankingRecord::notListed;
}

} // namespace

std::optional<float> RankedSide::valueOf(std::int32_t id) const
{
    if (!all.empty())
        return all[static_cast<std::size_t>(id)];
    const auto at =
        std::find_if(top.begin(), top.end(), [id](const Ranked& entry) { return entry.id == id; });
    return at == top.end() ? std::nullopt : std::optional(at->value);
}

void addRankings(const RankedSide& reference, const RankedSide& target, LogitsRecord& record)
{
    RankingRecord& out = record.ranking;
    for (std::size_t i = 0; i < topKSizes.size(); ++i)
        if (topKSizes[i] <= longestTieAware)
            addTies(reference, target, i, record);
    const std::size_t shorter = std::min(reference.top.size(), target.top.size());
    for (std::size_t i = 0; i < rankAgreementSizes.size(); ++i) {
        if (shorter < rankAgreementSizes[i])
            continue;
        out.kendall[i] = kendall(reference, target, rankAgreementSizes[i]);
        out.rankBiased[i] = rankBiasedOverlap(reference, target, rankAgreementSizes[i]);
    }
    out.renormalisedVariation = renormalisedVariation(reference, target);
    addNucleus(reference, target, out);
    if (record.referenceNext >= 0 && record.targetNext >= 0
        && record.referenceNext != record.targetNext) {
        out.targetTokenRank = rankIn(reference.top, record.targetNext);
        out.referenceTokenRank = rankIn(target.top, record.referenceNext);
    }
}

} // namespace moire::diff
