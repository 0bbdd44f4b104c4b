// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/row_comparer.h"

#include "core/diff/logits_record.h"
#include "core/diff/route_record.h"
#include "core/diff/site_values.h"
#include "core/diff/slot_pairing.h"
#include "core/diff/tap_names.h"
#include "core/diff/tolerance_check.h"
#include "core/numeric/element_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace moire::diff {

namespace {

using numeric::valueClassCount;
constexpr std::size_t matrixCells = valueClassCount * valueClassCount;

/// Finite classes are one class here; each of +Inf, −Inf and NaN is its own.
std::size_t finiteness(std::size_t valueClass)
{
    return std::max(valueClass, static_cast<std::size_t>(numeric::ValueClass::Zero));
}

void keepClasses(const std::array<std::uint64_t, matrixCells>& matrix, std::size_t tapPair,
                 RowRecord& record)
{
    bool nonFinite = false;
    for (std::size_t cell = 1; cell < matrixCells; ++cell) { // cell 0 is (normal, normal)
        if (matrix[cell] == 0)
            continue;
        record.classes.push_back({static_cast<std::uint32_t>(tapPair),
                                  static_cast<std::uint8_t>(cell),
                                  static_cast<std::uint32_t>(matrix[cell])});
        nonFinite =
            nonFinite || finiteness(cell / valueClassCount) != finiteness(cell % valueClassCount);
    }
    if (nonFinite)
        record.nonFinite.push_back(static_cast<std::uint32_t>(tapPair));
}

void fill(Site& site, const numeric::ElementSums& sums)
{
    site.valuesCompared = true;
    site.unequal = sums.unequal;
    site.maxUlp = sums.maxUlp;
    site.classChanges = sums.classChanges;
    site.worstElement = sums.worst;
    site.maxAbs = sums.maxAbs;
    site.sumAbs = sums.sumAbs;
    site.sumSquares = sums.sumSquares;
    site.referenceSquares = sums.referenceSquares;
    site.targetSquares = sums.targetSquares;
    site.dot = sums.dot;
    site.sumUlp = sums.sumUlp;
    site.finite = sums.finite;
    site.state = sums.unequal > 0 ? Site::State::Different : Site::State::Equal;
}

/// A row of a tap in both runs.
struct RowValuesPair
{
    const std::byte* reference;
    numeric::DType referenceType;
    const std::byte* target;
    numeric::DType targetType;
    std::uint32_t width;
};

/// Adds a slot's sums to the row's; `at` is the slot's first element. Slots come in order.
void addSlot(const numeric::ElementSums& slot, std::uint32_t at, Site& site)
{
    // A difference of class first, then the largest |Δ|, then the lowest index.
    const bool worse =
        slot.unequal > 0
        && (slot.classChanges > 0
                ? site.classChanges == 0
                : site.classChanges == 0 && (site.unequal == 0 || slot.maxAbs > site.maxAbs));
    if (worse)
        site.worstElement = at + slot.worst;
    site.unequal += slot.unequal;
    site.maxUlp = std::max(site.maxUlp, slot.maxUlp);
    site.classChanges += slot.classChanges;
    site.maxAbs = std::max(site.maxAbs, slot.maxAbs);
    site.sumAbs += slot.sumAbs;
    site.sumSquares += slot.sumSquares;
    site.referenceSquares += slot.referenceSquares;
    site.targetSquares += slot.targetSquares;
    site.dot += slot.dot;
    site.sumUlp += slot.sumUlp;
    site.finite += slot.finite;
}

/// Slots of the same expert meet; elements of an expert that the target did not choose have no
/// counterpart: they count as unequal and enter no sum.
void compareBySlots(const RowValuesPair& values, const SlotPairing& pairing, std::size_t tapPair,
                    RowRecord& record)
{
    Site& site = record.sites[tapPair];
    std::array<std::uint64_t, matrixCells> matrix{};
    std::uint32_t alone = 0;
    std::optional<std::uint32_t> firstAlone;
    const std::size_t ourBytes = pairing.slotWidth * numeric::sizeOf(values.referenceType);
    const std::size_t theirBytes = pairing.slotWidth * numeric::sizeOf(values.targetType);
    for (std::size_t slot = 0; slot < pairing.targetSlot.size(); ++slot) {
        const auto at = static_cast<std::uint32_t>(slot) * pairing.slotWidth;
        if (pairing.targetSlot[slot] < 0) {
            alone += pairing.slotWidth;
            firstAlone = firstAlone.value_or(at);
            continue;
        }
        const std::byte* ours = values.reference + slot * ourBytes;
        const std::byte* theirs =
            values.target + static_cast<std::size_t>(pairing.targetSlot[slot]) * theirBytes;
        const numeric::ElementSums sums = numeric::compareElements(
            ours, values.referenceType, theirs, values.targetType, pairing.slotWidth);
        addSlot(sums, at, site);
        if (!sums.allNormal)
            numeric::countClasses(ours, values.referenceType, theirs, values.targetType,
                                  pairing.slotWidth, matrix.data());
    }
    if (site.unequal == 0 && firstAlone)
        site.worstElement = *firstAlone;
    site.unequal += alone;
    site.valuesCompared = true;
    site.state = site.unequal > 0 ? Site::State::Different : Site::State::Equal;
    keepClasses(matrix, tapPair, record);
    if (alone > 0)
        record.classes.push_back({static_cast<std::uint32_t>(tapPair), withoutCounterpart, alone});
}

/// A row's roll-up stands for its digests in order: both runs must have the same taps in the same
/// places, whole and of the same dtypes. Routing is not part of it, and without lm_head.out the
/// logits are not.
bool rollUpsTell(const trace::Run& reference, const trace::Run& target, const Alignment& alignment)
{
    const auto& ours = reference.header().taps;
    const auto& theirs = target.header().taps;
    return alignment.routers.empty() && ours.size() == theirs.size()
           && (!alignment.comparesLogits || headPair(reference, alignment))
           && std::all_of(alignment.taps.begin(), alignment.taps.end(), [&](const TapPair& pair) {
                  const trace::Tap& a = ours[indexOf(pair.reference)];
                  const trace::Tap& b = theirs[indexOf(pair.target)];
                  return pair.reference == pair.target && a.dtype == b.dtype
                         && pair.whole(a.width, b.width);
              });
}

} // namespace

Result<const std::byte*> ValueCursor::row(trace::TapIndex tap, trace::RowIndex r)
{
    trace::ValueView& view = m_views[indexOf(tap)];
    if (r < view.rowBegin || r >= view.rowEnd) {
        auto found = m_run->values(tap, r, m_run->rowCount());
        if (!found)
            return found.error();
        view = *found;
    }
    return view.row(r);
}

std::optional<std::size_t> headPair(const trace::Run& reference, const Alignment& alignment)
{
    for (std::size_t i = 0; i < alignment.taps.size(); ++i)
        if (hubName(reference.header().taps[indexOf(alignment.taps[i].reference)].name)
            == trace::headTapName)
            return i;
    return std::nullopt;
}

RowComparer::RowComparer(const trace::Run& reference, const trace::Run& target,
                         const Alignment& alignment, const ComparisonOptions& options)
    : m_reference(reference)
    , m_target(target)
    , m_alignment(alignment)
    , m_hasValues(reference.header().level == trace::Level::Full
                  && target.header().level == trace::Level::Full)
    , m_readsValues(m_hasValues && !options.firstOnly)
    , m_head(headPair(reference, alignment))
    , m_rollUpsTell(rollUpsTell(reference, target, alignment))
    , m_comparesTables(alignment.comparesLogits)
    , m_boundsTables(alignment.comparesLogits && !options.firstOnly)
    , m_logitsDetail(options.everyMeasure ? numeric::LogitsDetail::All
                                          : numeric::LogitsDetail::Divergences)
    , m_elementwise(elementwiseCriteria(reference, alignment, options.tolerance.get()))
    , m_referenceValues(reference)
    , m_targetValues(target)
{}

bool RowComparer::equalByRollUp(std::size_t rowPair) const
{
    const RowPair& pair = m_alignment.rows[rowPair];
    return m_rollUpsTell
           && m_reference.row(pair.reference).rollUp == m_target.row(pair.target).rollUp;
}

Result<RowRecord> RowComparer::compare(std::size_t rowPair, std::span<Site> sites)
{
    const RowPair& pair = m_alignment.rows[rowPair];
    RowRecord record;
    record.sites = sites;
    if (auto done = compareSites(pair, record); !done)
        return done.error();
    if (auto done = compareHead(pair, record); !done)
        return done.error();
    record.routes.reserve(m_alignment.routers.size());
    for (const auto& [ours, theirs] : m_alignment.routers) {
        auto reference = m_reference.routing(ours, pair.reference);
        if (!reference)
            return reference.error();
        auto target = m_target.routing(theirs, pair.target);
        if (!target)
            return target.error();
        record.routes.push_back(compareRoutes(m_reference.header().routers[ours], *reference,
                                              m_target.header().routers[theirs], *target));
    }
    return record;
}

Result<void> RowComparer::compareSites(const RowPair& pair, RowRecord& record)
{
    const auto ours = m_reference.digests(pair.reference);
    const auto theirs = m_target.digests(pair.target);
    const auto ourCounts = m_reference.counts(pair.reference);
    const auto theirCounts = m_target.counts(pair.target);
    for (std::size_t i = 0; i < m_alignment.taps.size(); ++i) {
        const trace::TapIndex a = m_alignment.taps[i].reference;
        const trace::TapIndex b = m_alignment.taps[i].target;
        const trace::Tap& tap = m_reference.header().taps[indexOf(a)];
        const trace::Tap& other = m_target.header().taps[indexOf(b)];
        Site& site = record.sites[i];
        site.elements = m_alignment.taps[i].width;
        if (m_readsValues) {
            if (auto done = compareValues(pair, i, record); !done)
                return done;
            if (auto done = checkTolerance(pair, i, record); !done)
                return done;
            continue;
        }
        if (!m_alignment.taps[i].whole(tap.width, other.width))
            continue; // digests and counts are of whole rows
        const bool sameDigest = ours[indexOf(a)] == theirs[indexOf(b)];
        if (tap.slots > 0 && !sameDigest) {
            // Where the slots hold other experts, or the same in another order, the digest of the
            // whole row tells nothing: read the values where there are any.
            auto pairing =
                pairSlots(m_reference, m_target, m_alignment.routers, pair, m_alignment.taps[i]);
            if (!pairing)
                return pairing.error();
            if (*pairing) {
                if (m_hasValues)
                    if (auto done = compareValues(pair, i, record); !done)
                        return done;
                continue;
            }
        }
        if (tap.dtype == other.dtype)
            site.state = sameDigest ? Site::State::Equal : Site::State::Different;
        const trace::Counts& first = ourCounts[indexOf(a)];
        const trace::Counts& second = theirCounts[indexOf(b)];
        if (first.nan != second.nan || first.infinite != second.infinite)
            record.nonFinite.push_back(static_cast<std::uint32_t>(i));
    }
    return {};
}

Result<void> RowComparer::compareValues(const RowPair& pair, std::size_t tapPair, RowRecord& record)
{
    const trace::TapIndex a = m_alignment.taps[tapPair].reference;
    const trace::TapIndex b = m_alignment.taps[tapPair].target;
    const trace::Tap& ours = m_reference.header().taps[indexOf(a)];
    const trace::Tap& theirs = m_target.header().taps[indexOf(b)];
    const auto reference = m_referenceValues.row(a, pair.reference);
    if (!reference)
        return reference.error();
    const auto target = m_targetValues.row(b, pair.target);
    if (!target)
        return target.error();
    Site& site = record.sites[tapPair];
    const TapPair& taps = m_alignment.taps[tapPair];
    const RowValuesPair values{
        *reference + taps.referenceOffset * numeric::sizeOf(ours.dtype), ours.dtype,
        *target + taps.targetOffset * numeric::sizeOf(theirs.dtype), theirs.dtype, taps.width};
    const bool digestsTell = ours.dtype == theirs.dtype && taps.whole(ours.width, theirs.width);
    const bool digestsEqual = digestsTell
                              && m_reference.digests(pair.reference)[indexOf(a)]
                                     == m_target.digests(pair.target)[indexOf(b)];
    if (ours.slots > 0 && !digestsEqual) {
        auto pairing = pairSlots(m_reference, m_target, m_alignment.routers, pair, taps);
        if (!pairing)
            return pairing.error();
        if (*pairing) {
            compareBySlots(values, **pairing, tapPair, record);
            return {}; // other slots, other digests: they tell nothing here
        }
    }
    const numeric::ElementSums sums = numeric::compareElements(
        values.reference, values.referenceType, values.target, values.targetType, values.width);
    fill(site, sums);
    if (!sums.allNormal) {
        std::array<std::uint64_t, matrixCells> matrix{};
        numeric::countClasses(values.reference, values.referenceType, values.target,
                              values.targetType, values.width, matrix.data());
        keepClasses(matrix, tapPair, record);
    }

    // The digests were made from the same values when they were recorded.
    if (digestsTell && digestsEqual != (site.unequal == 0))
        return Error{Errc::Damaged, "values and digests of a row contradict each other",
                     m_reference.samples()[indexOf(pair.sample)].id + '/'
                         + std::to_string(pair.position) + '/' + ours.name + " in "
                         + m_reference.source() + " or " + m_target.source(),
                     "Run moire-diff verify on both files"};
    return {};
}

/// What an element-wise tolerance says of a site that differs.
Result<void> RowComparer::checkTolerance(const RowPair& pair, std::size_t tapPair,
                                         RowRecord& record)
{
    if (m_elementwise.empty() || m_elementwise[tapPair] == nullptr
        || record.sites[tapPair].state != Site::State::Different)
        return {};
    const auto values = SiteValues::read(m_reference, m_target, m_alignment.routers, pair,
                                         m_alignment.taps[tapPair]);
    if (!values)
        return values.error();
    record.elementwise.push_back(checkElements(*values, *m_elementwise[tapPair]));
    record.elementwise.back().tap = static_cast<std::uint32_t>(tapPair);
    return {};
}

Result<void> RowComparer::compareHead(const RowPair& pair, RowRecord& record)
{
    if (!m_head && !m_comparesTables)
        return {};
    LogitsRecord& logits = record.logits;
    addChosenToken(m_reference, m_target, pair, logits);
    const std::int32_t claimed = logits.predictsResponse ? logits.referenceNext : -1;
    if (m_head && m_readsValues) {
        const trace::TapIndex a = m_alignment.taps[*m_head].reference;
        const trace::TapIndex b = m_alignment.taps[*m_head].target;
        const auto reference = m_referenceValues.row(a, pair.reference);
        if (!reference)
            return reference.error();
        const auto target = m_targetValues.row(b, pair.target);
        if (!target)
            return target.error();
        const trace::Tap& ours = m_reference.header().taps[indexOf(a)];
        const trace::Tap& theirs = m_target.header().taps[indexOf(b)];
        compareFullLogits({*reference, ours.dtype, ours.width},
                          {*target, theirs.dtype, theirs.width}, claimed, m_logitsDetail, logits);
    } else if (m_comparesTables) {
        auto reference = m_reference.topK(pair.reference);
        if (!reference)
            return reference.error();
        auto target = m_target.topK(pair.target);
        if (!target)
            return target.error();
        compareTopKTables({*reference, m_reference.header().logits.dtype},
                          {*target, m_target.header().logits.dtype}, claimed, logits);
        // What the table lacks stands in the row's score where the target has the same next token.
        const trace::TokenScore score = m_target.row(pair.target).score;
        if (logits.claimMissed && score.id == claimed && std::isfinite(score.logit)
            && std::isfinite(target->values[0])) {
            logits.claimMissed = false;
            logits.claimedMargin =
                static_cast<double>(target->values[0]) - static_cast<double>(score.logit);
        }
        if (m_boundsTables)
            if (const auto bounds = boundsOf(*reference, m_reference.header().logits, *target,
                                             m_target.header().logits))
                logits.bounds = std::make_shared<const TableBounds>(*bounds);
    }
    return {};
}

} // namespace moire::diff
