// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};
/// Without brackets an id means this K.
constexpr std::uint32_t plainK = 5;
/// Classes of flips (F4): bounds of METRICS.md.
constexpr std::uint64_t fewUlps = 2;
constexpr double moderateNats = 2;
constexpr double nearTieQuantile = 0.99;

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

template <class Visit>
void forEachKnown(const FoldView& view, std::size_t sizeAt, Visit visit)
{
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if ((record.logits.row.known >> sizeAt & 1U) != 0)
            visit(row, record.logits);
    });
}

double bitAt(std::uint8_t bits, std::size_t i)
{
    return (bits >> i & 1U) != 0 ? 1.0 : 0.0;
}

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
    setRatio(order, orders, percent);
    setRatio(set, sets, percent);
    setRatio(overlap, overlaps, quotient);
    setPositions(overlap, view, overlaps, quotient);
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

/// Flip classes, counted.
struct FlipCounts
{
    std::uint64_t exactTie = 0, fewUlp = 0, nearTie = 0, moderate = 0, defectSuspect = 0;
};

/// The 99th percentile of |B9| over rows whose best tokens agree.
std::optional<double> nearTieBound(const FoldView& view)
{
    std::vector<double> errors;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.row.referenceTop == logits.row.targetTop && logits.directionalError)
            errors.push_back(std::fabs(*logits.directionalError));
    });
    if (errors.empty())
        return std::nullopt;
    std::sort(errors.begin(), errors.end());
    return quantile(errors, nearTieQuantile);
}

void countFlip(const LogitsRecord& logits, std::optional<double> bound, FlipCounts& counts)
{
    if (logits.topNotFinite || !logits.flipGap)
        ++counts.defectSuspect;
    else if (*logits.flipGap == 0)
        ++counts.exactTie;
    else if (logits.flipGapUlps && *logits.flipGapUlps <= fewUlps)
        ++counts.fewUlp;
    else if (bound && *logits.flipGap <= *bound)
        ++counts.nearTie;
    else if (*logits.flipGap <= moderateNats)
        ++counts.moderate;
    else
        ++counts.defectSuspect;
}

void addFlips(const FoldView& view, Measures& measures)
{
    Measure flips = named("F4", whyNoList(view, 1));
    const std::optional<double> bound = nearTieBound(view);
    FlipCounts counts;
    std::uint64_t total = 0;
    bool gapsKnown = true;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        ++flips.n;
        if (logits.row.referenceTop == logits.row.targetTop)
            return;
        if (total++ == 0)
            flips.at = view.site(row, headName);
        // In a table the target's choice may be missing: then the class is not known.
        gapsKnown = gapsKnown && (logits.full || logits.flipGap || logits.topNotFinite);
        countFlip(logits, bound, counts);
    });
    if (flips.n > 0)
        setValue(flips, static_cast<double>(total));
    if (flips.n > 0 && gapsKnown) {
        flips.parameters["exact_tie"] = static_cast<double>(counts.exactTie);
        flips.parameters["up_to_2_ulp"] = static_cast<double>(counts.fewUlp);
        flips.parameters["near_tie"] = static_cast<double>(counts.nearTie);
        flips.parameters["moderate"] = static_cast<double>(counts.moderate);
        flips.parameters["defect_suspect"] = static_cast<double>(counts.defectSuspect);
        if (bound)
            flips.parameters["near_tie_bound"] = *bound;
    }
    measures.push_back(std::move(flips));
}

void addMargins(const FoldView& view, Measures& measures)
{
    Measure margin = named("F1", whyNoList(view, 2));
    RowValues ours;
    std::vector<double> theirs;
    std::vector<double> ourUlps;
    std::vector<double> theirUlps;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const LogitsRecord& logits = record.logits;
        if (logits.row.referenceTop < 0 || !std::isfinite(logits.row.referenceMargin))
            return;
        ours.push_back({row, logits.row.referenceMargin});
        if (std::isfinite(logits.row.targetMargin))
            theirs.push_back(logits.row.targetMargin);
        if (logits.referenceMarginUlps)
            ourUlps.push_back(static_cast<double>(*logits.referenceMarginUlps));
        if (logits.targetMarginUlps)
            theirUlps.push_back(static_cast<double>(*logits.targetMarginUlps));
    });
    setMean(margin, view, ours, headName, Curve::None);
    const auto addMedian = [&](const char* key, std::vector<double>& values) {
        if (values.empty())
            return;
        std::sort(values.begin(), values.end());
        margin.parameters[key] = quantile(values, 0.5);
    };
    if (!theirs.empty()) {
        double sum = 0;
        for (const double value : theirs)
            sum += value;
        margin.parameters["target"] = sum / static_cast<double>(theirs.size());
    }
    addMedian("median_ulps", ourUlps);
    addMedian("target_median_ulps", theirUlps);
    measures.push_back(std::move(margin));
}

} // namespace

void addTopKMeasures(const FoldView& view, Measures& measures)
{
    Measure top = named("E1", whyNoList(view, 1));
    Terms agreed;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        agreed.push_back({row, bitAt(logits.row.setEqual, 0), 1});
    });
    setRatio(top, agreed, percent);
    setPositions(top, view, agreed, percent);
    measures.push_back(top);
    Measure byPosition = named("G7", top.whyNull);
    byPosition.value = top.value;
    byPosition.n = top.n;
    byPosition.byPosition = top.byPosition;
    measures.push_back(std::move(byPosition));
    for (std::size_t i = 0; i < topKSizes.size(); ++i) {
        addLists(view, i, measures);
        addMass(view, i, measures);
    }
    addRanks(view, measures);
}

void addMarginMeasures(const FoldView& view, Measures& measures)
{
    addMargins(view, measures);
    addFlips(view, measures);
    Measure claimed = named("F7", "no response token was scored");
    RowValues margins;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (record.logits.claimedMargin)
            margins.push_back({row, *record.logits.claimedMargin});
    });
    setMean(claimed, view, margins, headName, Curve::None);
    measures.push_back(std::move(claimed));

    // Greedy free runs only: then the emitted token is a claim about the logits.
    const auto emits = [](const trace::Run& run) {
        const auto& environment = run.header().environment;
        return environment.text(trace::env::sampling) == "greedy"
               && environment.text(trace::env::replay) == "free";
    };
    Measure self = named("F8", "the reference is not a greedy free run that generated tokens");
    Terms ours;
    Terms theirs;
    forEachKnown(view, 0, [&](std::size_t row, const LogitsRecord& logits) {
        if (logits.predictsResponse && emits(view.reference))
            ours.push_back({row, logits.referenceNext == logits.row.referenceTop ? 1.0 : 0.0, 1});
        if (logits.targetPredictsResponse && emits(view.target))
            theirs.push_back({row, logits.targetNext == logits.row.targetTop ? 1.0 : 0.0, 1});
    });
    setRatio(self, ours, percent);
    if (!theirs.empty()) {
        Measure target = named("F8");
        setRatio(target, theirs, percent);
        self.parameters["target"] = *target.value;
    }
    measures.push_back(std::move(self));
}

} // namespace moire::diff
