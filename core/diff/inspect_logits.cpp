// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/inspect.h"
#include "core/diff/logits_record.h"
#include "core/diff/origin.h"
#include "core/diff/route_record.h"
#include "core/diff/site_values.h"

#include <algorithm>
#include <limits>

namespace moire::diff {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// One side's ranking at a row: from the values of lm_head.out, else from the top-K table.
struct Side
{
    std::vector<numeric::Ranked> top;
    std::vector<float> all; ///< empty: `top` is all that is known
    numeric::DType dtype = numeric::DType::FP32;
    const std::byte* data = nullptr;

    double logitOf(std::int32_t id) const
    {
        if (!all.empty())
            return static_cast<double>(all[static_cast<std::size_t>(id)]);
        for (const numeric::Ranked& entry : top)
            if (entry.id == id)
                return static_cast<double>(entry.value);
        return unknown;
    }
    std::int32_t rankOf(std::int32_t id) const
    {
        for (std::size_t i = 0; i < top.size(); ++i)
            if (top[i].id == id)
                return static_cast<std::int32_t>(i);
        return -1;
    }
    std::optional<std::uint64_t> marginUlps() const
    {
        if (top.size() < 2)
            return std::nullopt;
        return ulpsBetween(top[0].value, top[1].value, dtype);
    }
};

Result<Side> sideOf(const trace::Run& run, trace::RowIndex row, std::size_t count)
{
    Side side;
    const auto head = run.findTap(trace::headTapName);
    if (head && run.header().level == trace::Level::Full) {
        const auto values = soundValues(run, *head, row);
        if (!values)
            return values.error();
        side.data = values->row(row);
        side.dtype = values->dtype;
        side.all = asFloats({side.data, values->dtype, values->width});
        side.top = numeric::topK(side.all.data(), side.all.size(), count);
        return side;
    }
    const auto table = run.topK(row);
    if (!table)
        return table.error();
    side.dtype = run.header().logits.dtype;
    for (std::size_t i = 0; i < std::min(count, table->ids.size()) && table->ids[i] >= 0; ++i)
        side.top.push_back({table->ids[i], table->values[i]});
    return side;
}

std::vector<RankedPair> ladderOf(const Side& reference, const Side& target)
{
    std::vector<RankedPair> ladder;
    const auto add = [&](std::int32_t id) {
        ladder.push_back({id, reference.logitOf(id), target.logitOf(id), reference.rankOf(id),
                          target.rankOf(id)});
    };
    for (const numeric::Ranked& entry : reference.top)
        add(entry.id);
    for (const numeric::Ranked& entry : target.top)
        if (reference.rankOf(entry.id) < 0)
            add(entry.id);
    return ladder;
}

std::int32_t nextToken(const trace::Run& run, trace::RowIndex row)
{
    const trace::Row description = run.row(row);
    const auto tokens = run.tokens(description.sample);
    const std::size_t next = std::size_t{description.position} + 1;
    return next < tokens.size() ? tokens[next].id : -1;
}

} // namespace

Result<LogitsDetail> inspectLogits(const trace::Run& reference, const trace::Run& target,
                                   const Report& report, std::size_t rowPair, std::size_t count)
{
    if (rowPair >= report.rows.size())
        return Error{Errc::NotFound, "no such row in the comparison", {}, {}};
    const RowPair& pair = report.rows[rowPair];
    const auto ours = sideOf(reference, pair.reference, count);
    if (!ours)
        return ours.error();
    const auto theirs = sideOf(target, pair.target, count);
    if (!theirs)
        return theirs.error();
    LogitsDetail detail;
    detail.row = report.logits[rowPair];
    detail.ladder = ladderOf(*ours, *theirs);
    detail.referenceMarginUlps = ours->marginUlps();
    detail.targetMarginUlps = theirs->marginUlps();
    detail.nextReference = nextToken(reference, pair.reference);
    detail.nextTarget = nextToken(target, pair.target);
    detail.referenceEntropy = unknown;
    detail.targetEntropy = unknown;
    if (ours->data != nullptr && theirs->data != nullptr
        && ours->all.size() == theirs->all.size()) {
        const numeric::LogitsSums sums = numeric::compareLogits(
            ours->data, ours->dtype, theirs->data, theirs->dtype, ours->all.size());
        if (sums.comparable) {
            detail.referenceEntropy = sums.referenceEntropy;
            detail.targetEntropy = sums.targetEntropy;
        }
    }
    return detail;
}

Result<RoutingDetail> inspectRouting(const trace::Run& reference, const trace::Run& target,
                                     const Report& report, std::size_t rowPair,
                                     std::size_t routerPair)
{
    if (rowPair >= report.rows.size() || routerPair >= report.routerPairs.size())
        return Error{Errc::NotFound, "no such routing in the comparison", {}, {}};
    const auto& [ourIndex, theirIndex] = report.routerPairs[routerPair];
    const auto ours = reference.routing(ourIndex, report.rows[rowPair].reference);
    if (!ours)
        return ours.error();
    const auto theirs = target.routing(theirIndex, report.rows[rowPair].target);
    if (!theirs)
        return theirs.error();
    const trace::RouterLayer& ourLayer = reference.header().routers[ourIndex];
    const trace::RouterLayer& theirLayer = target.header().routers[theirIndex];
    const auto ourLogits = routerLogits(ourLayer, *ours);
    const auto theirLogits = routerLogits(theirLayer, *theirs);
    const auto ourWeights = weightsOf(ourLayer, *ours);
    const auto theirWeights = weightsOf(theirLayer, *theirs);
    const auto slotOf = [](std::span<const std::int32_t> ids, std::int32_t expert) {
        const auto at = std::find(ids.begin(), ids.end(), expert);
        return at == ids.end() ? -1 : static_cast<std::int32_t>(at - ids.begin());
    };
    RoutingDetail detail;
    detail.cell = report.routes[rowPair * report.routerPairs.size() + routerPair];
    for (std::size_t e = 0; e < ourLogits.size(); ++e) {
        const auto expert = static_cast<std::int32_t>(e);
        detail.experts.push_back({expert, ourLogits[e], theirLogits[e], ourWeights[e],
                                  theirWeights[e], slotOf(ours->ids, expert),
                                  slotOf(theirs->ids, expert)});
    }
    std::stable_sort(
        detail.experts.begin(), detail.experts.end(), [](const ExpertPair& a, const ExpertPair& b) {
            return numeric::ranksBefore({a.expert, static_cast<float>(a.referenceLogit)},
                                        {b.expert, static_cast<float>(b.referenceLogit)});
        });
    return detail;
}

} // namespace moire::diff
