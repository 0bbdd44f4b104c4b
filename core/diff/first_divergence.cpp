// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/first_divergence.h"

#include "core/base/shortened.h"
#include "core/base/text.h"
#include "core/diff/flip_class.h"
#include "core/diff/logits_record.h"
#include "core/diff/origin.h"
#include "core/diff/site_values.h"
#include "core/diff/tolerance_check.h"

#include <algorithm>

namespace moire::diff {

namespace {

/// topKSizes[fiveAt] == 5: the K of first.topk.
constexpr std::size_t fiveAt = 2;
static_assert(topKSizes[fiveAt] == 5);

Divergence atRow(const FoldView& view, std::size_t row)
{
    const RowPair& pair = view.alignment.rows[row];
    Divergence divergence;
    divergence.sample = view.nameOfSample(pair.sample);
    divergence.row = pair.reference;
    divergence.targetRow = pair.target;
    divergence.position = pair.position;
    divergence.phase = view.reference.row(pair.reference).phase;
    return divergence;
}

Divergence atSite(const FoldView& view, std::size_t row, std::size_t tapPair)
{
    Divergence divergence = atRow(view, row);
    const trace::Tap& tap = view.tap(tapPair);
    divergence.tap = tap.name;
    divergence.layer = tap.layer;
    divergence.referenceType = tap.dtype;
    divergence.targetType = view.targetTap(tapPair).dtype;
    const OriginContext context{view.reference.header(), view.target.header(), view.alignment.rows,
                                view.alignment.taps, [&view](std::size_t r, std::size_t t) {
                                    return view.records[r] == nullptr
                                               ? Site::State::NotRecorded
                                               : view.records[r]->sites[t].state;
                                }};
    if (view.records[row] != nullptr)
        divergence.amplification = amplificationOf(
            view.reference.header(), view.alignment.taps,
            [&](std::size_t t) -> const Site& { return view.records[row]->sites[t]; }, tapPair);
    const Site::State state = context.state(row, tapPair);
    if (state == Site::State::Different)
        divergence.origin = originOf(context, row, tapPair);
    else if (state == Site::State::Equal) // ids that differ over equal values were chosen otherwise
        divergence.origin = Origin::Introduced;
    return divergence;
}

/// A divergence of logits, told by token ids.
Divergence atLogits(const FoldView& view, std::size_t row, std::int32_t referenceId,
                    std::int32_t targetId)
{
    Divergence divergence = view.head ? atSite(view, row, *view.head) : atRow(view, row);
    divergence.tap = trace::headTapName;
    divergence.referenceValue = referenceId;
    divergence.targetValue = targetId;
    return divergence;
}

void fillElement(const SiteValues& values, std::uint32_t element, Divergence& divergence)
{
    const std::uint64_t a = values.referenceBits(element);
    const auto b = values.targetBits(element);
    divergence.element = values.referenceElement(element);
    divergence.referenceBits = a;
    divergence.referenceValue = values.referenceValue(element);
    if (!b) {
        divergence.note = "the target did not choose that expert";
        return;
    }
    divergence.targetBits = *b;
    divergence.targetValue = values.targetValue(element);
    if (values.sameType())
        divergence.ulps = numeric::ulpDistance(a, *b, values.referenceType());
}

Result<SiteValues> valuesOf(const FoldView& view, std::size_t row, std::size_t tapPair)
{
    return SiteValues::read(view.reference, view.target, view.alignment.routers,
                            view.alignment.rows[row], view.alignment.taps[tapPair]);
}

/// Fills in the lowest element of which `holds` is true.
void fillFirst(const FoldView& view, std::size_t row, std::size_t tapPair,
               bool (SiteValues::*holds)(std::uint32_t) const, Divergence& divergence)
{
    const auto values = valuesOf(view, row, tapPair);
    for (std::uint32_t i = 0; values && i < values->width(); ++i)
        if (((*values).*holds)(i)) {
            fillElement(*values, i, divergence);
            return;
        }
}

/// Fills in the element that stands for the site.
void fillWorst(const FoldView& view, std::size_t row, std::size_t tapPair, const Site& site,
               Divergence& divergence)
{
    const auto values = valuesOf(view, row, tapPair);
    if (values && values->differs(site.worstElement))
        fillElement(*values, site.worstElement, divergence);
    else // NaNs that differ in payload only have no |Δ|: the lowest such element stands for them
        fillFirst(view, row, tapPair, &SiteValues::differs, divergence);
}

std::optional<Divergence> firstBitwise(const FoldView& view)
{
    const RowRecord* equal = nullptr; // rows passed over as equal share one record
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        if (view.records[row] == nullptr || view.records[row] == equal)
            continue;
        const auto& sites = view.records[row]->sites;
        const auto different = std::find_if(sites.begin(), sites.end(), [](const Site& site) {
            return site.state == Site::State::Different;
        });
        if (different == sites.end()) {
            if (view.head || !view.records[row]->logits.tablesDiffer) {
                equal = view.records[row];
                continue;
            }
            Divergence divergence = atRow(view, row);
            divergence.tap = trace::headTapName;
            divergence.note = "the recorded top-K tables differ; the logits are not tapped";
            return divergence;
        }
        const auto tapPair = static_cast<std::size_t>(different - sites.begin());
        Divergence divergence = atSite(view, row, tapPair);
        if (different->valuesCompared)
            fillWorst(view, row, tapPair, *different, divergence);
        return divergence;
    }
    return std::nullopt;
}

std::optional<Divergence> firstNonFinite(const FoldView& view)
{
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        const RowRecord* record = view.records[row];
        if (record == nullptr || record->nonFinite.empty())
            continue;
        const std::size_t tapPair = record->nonFinite.front();
        Divergence divergence = atSite(view, row, tapPair);
        divergence.note = "NaN or infinite on one side";
        if (record->sites[tapPair].valuesCompared)
            fillFirst(view, row, tapPair, &SiteValues::finitenessDiffers, divergence);
        return divergence;
    }
    return std::nullopt;
}

/// The best `count` ids of one side's row.
std::vector<std::int32_t> bestIds(const FoldView& view, bool ofReference, std::size_t row,
                                  std::size_t count)
{
    const trace::Run& run = ofReference ? view.reference : view.target;
    const RowPair& pair = view.alignment.rows[row];
    const trace::RowIndex r = ofReference ? pair.reference : pair.target;
    std::vector<std::int32_t> ids;
    if (view.head && view.records[row]->logits.full) {
        const TapPair& tap = view.alignment.taps[*view.head];
        const auto values = run.values(ofReference ? tap.reference : tap.target, r, r + 1);
        if (!values)
            return ids;
        const std::vector<float> row32 = asFloats({values->row(r), values->dtype, values->width});
        for (const numeric::Ranked& entry : numeric::topK(row32.data(), row32.size(), count))
            ids.push_back(entry.id);
    } else if (const auto table = run.topK(r)) {
        const auto known = table->ids.first(std::min(count, table->ids.size()));
        ids.assign(known.begin(), known.end());
    }
    return ids;
}

/// The first of `a` that is not in `b`.
std::optional<std::int32_t> firstMissing(const std::vector<std::int32_t>& a,
                                         const std::vector<std::int32_t>& b)
{
    for (const std::int32_t id : a)
        if (std::find(b.begin(), b.end(), id) == b.end())
            return id;
    return std::nullopt;
}

std::optional<Divergence> firstTopK(const FoldView& view)
{
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        if (view.records[row] == nullptr)
            continue;
        const LogitsRow& logits = view.records[row]->logits.row;
        const auto bit = static_cast<std::uint8_t>(1U << fiveAt);
        if ((logits.known & bit) == 0 || (logits.setEqual & bit) != 0)
            continue;
        const auto ours = bestIds(view, true, row, topKSizes[fiveAt]);
        const auto theirs = bestIds(view, false, row, topKSizes[fiveAt]);
        const std::int32_t gone = firstMissing(ours, theirs).value_or(-1);
        const std::int32_t come = firstMissing(theirs, ours).value_or(-1);
        Divergence divergence = atLogits(view, row, gone, come);
        divergence.note = "token " + std::to_string(come) + " for token " + std::to_string(gone)
                          + " among the best " + std::to_string(topKSizes[fiveAt]);
        return divergence;
    }
    return std::nullopt;
}

std::optional<Divergence> firstArgmax(const FoldView& view)
{
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        if (view.records[row] == nullptr)
            continue;
        const LogitsRow& logits = view.records[row]->logits.row;
        if (logits.referenceTop == logits.targetTop)
            continue;
        Divergence divergence = atLogits(view, row, logits.referenceTop, logits.targetTop);
        divergence.note = "best token " + std::to_string(logits.targetTop) + " for token "
                          + std::to_string(logits.referenceTop);
        return divergence;
    }
    return std::nullopt;
}

/// A divergence of a router's choice, told by expert ids.
Divergence atRouter(const FoldView& view, std::size_t row, const trace::RouterLayer& layer)
{
    const std::string name = layer.module + ".out";
    Divergence divergence;
    const auto tap = view.reference.findTap(name);
    if (const auto pair = tap ? pairOfTap(view.alignment.taps, *tap) : std::nullopt) {
        divergence = atSite(view, row, *pair);
        if (view.records[row]->sites[*pair].state == Site::State::Equal)
            divergence.note = ", chosen from equal router logits";
    } else {
        divergence = atRow(view, row);
    }
    divergence.tap = name;
    divergence.layer = layer.layer;
    return divergence;
}

/// What became of an expert; padding stands for none.
std::string expertsText(std::optional<std::int32_t> gone, std::optional<std::int32_t> come)
{
    if (gone && come)
        return "expert " + std::to_string(*come) + " for expert " + std::to_string(*gone);
    if (gone)
        return "expert " + std::to_string(*gone) + " is no longer chosen, and none in its place";
    if (come)
        return "expert " + std::to_string(*come) + " is chosen too";
    return "an expert is chosen twice on one side";
}

std::optional<Divergence> firstExperts(const FoldView& view)
{
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        if (view.records[row] == nullptr)
            continue;
        const auto& routes = view.records[row]->routes;
        const auto changed = std::find_if(routes.begin(), routes.end(),
                                          [](const RouteRecord& r) { return r.cell.replaced > 0; });
        if (changed == routes.end())
            continue;
        Divergence divergence =
            atRouter(view, row, view.router(static_cast<std::size_t>(changed - routes.begin())));
        const auto gone = firstMissing(changed->referenceIds, changed->targetIds);
        const auto come = firstMissing(changed->targetIds, changed->referenceIds);
        if (gone)
            divergence.referenceValue = *gone;
        if (come)
            divergence.targetValue = *come;
        divergence.note = expertsText(gone, come) + divergence.note;
        return divergence;
    }
    return std::nullopt;
}

std::string quoted(const trace::Token& token)
{
    return std::to_string(token.id) + " “"
           + base::shortened(base::visibleText(token.bytes), base::shownOfToken) + "”";
}

/// The row that emitted the first differing response token.
std::optional<Divergence> firstToken(const FoldView& view)
{
    for (const Alignment::SamplePair& sample : view.alignment.samples) {
        if (!sample.split || *sample.split == 0 || !sample.targetSplit)
            continue;
        const trace::Token& ours = view.reference.tokens(sample.reference)[*sample.split];
        const trace::Token& theirs = view.target.tokens(sample.target)[*sample.targetSplit];
        if (!ours.response || !theirs.response)
            continue;
        const auto& rows = view.alignment.rows;
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const RowPair& pair) {
            return pair.sample == sample.reference && pair.position + 1 == *sample.split;
        });
        if (row == rows.end()
            || view.records[static_cast<std::size_t>(row - rows.begin())] == nullptr)
            continue;
        Divergence divergence =
            atLogits(view, static_cast<std::size_t>(row - rows.begin()), ours.id, theirs.id);
        divergence.note = "token " + std::to_string(*sample.split) + " is " + quoted(theirs)
                          + " instead of " + quoted(ours);
        return divergence;
    }
    return std::nullopt;
}

/// The first thing beyond the tolerance, told as what it is: an element, experts, or the logits.
std::optional<Divergence> firstBeyondTolerance(const FoldView& view, const ToleranceFindings& found)
{
    if (!found.first)
        return std::nullopt;
    const auto& [row, tapPair, router, criterion] = *found.first;
    Divergence divergence;
    if (tapPair) {
        divergence = atSite(view, row, *tapPair);
        if (const Site& site = view.records[row]->sites[*tapPair]; site.valuesCompared)
            fillWorst(view, row, *tapPair, site, divergence);
    } else if (router) {
        divergence = atRouter(view, row, view.router(*router));
    } else {
        const LogitsRow& logits = view.records[row]->logits.row;
        divergence = atLogits(view, row, logits.referenceTop, logits.targetTop);
    }
    divergence.note = "beyond " + criterion;
    return divergence;
}

std::optional<Divergence> beyondFloor(const FoldView& view)
{
    const auto site = view.options.floor == nullptr ? std::nullopt : firstBeyondFloor(view);
    if (!site)
        return std::nullopt;
    const auto& [row, tapPair] = *site;
    Divergence divergence = atSite(view, row, tapPair);
    fillWorst(view, row, tapPair, view.records[row]->sites[tapPair], divergence);
    return divergence;
}

} // namespace

void nameFlip(const FoldView& view, Report& report)
{
    if (!report.first.argmax)
        return;
    const auto& rows = view.alignment.rows;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const RowPair& pair) {
        return pair.reference == report.first.argmax->row;
    });
    const Measure* flips = report.findMeasure("F4");
    std::optional<double> bound;
    if (flips != nullptr && flips->parameters.contains("near_tie_bound"))
        bound = flips->parameters.at("near_tie_bound");
    report.first.argmax->flipClass = nameOf(
        flipClassOf(view.records[static_cast<std::size_t>(row - rows.begin())]->logits, bound));
}

void addTolerance(const FoldView& view, Report& report)
{
    if (view.options.tolerance == nullptr)
        return;
    ToleranceFindings found = judge(view);
    report.first.tolerance = firstBeyondTolerance(view, found);
    report.toleranceProfile = view.options.tolerance->name();
    report.tolerance = std::move(found.outcomes);
    report.beyondTolerance = std::move(found.beyond);
}

FirstDivergences findFirst(const FoldView& view)
{
    FirstDivergences first;
    first.bitwise = firstBitwise(view);
    first.floor = beyondFloor(view);
    first.topK = firstTopK(view);
    first.experts = firstExperts(view);
    first.argmax = firstArgmax(view);
    first.token = firstToken(view);
    first.nonFinite = firstNonFinite(view);
    return first;
}

} // namespace moire::diff
