// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/free_run.h"
#include "core/diff/noise_floor.h"
#include "core/diff/origin.h"
#include "core/diff/tolerance_check.h"

#include <algorithm>
#include <cmath>

namespace moire::diff {

namespace {

/// What one check of one criterion said.
struct Check
{
    enum class Result
    {
        Passes,
        Fails,
        Undecided
    };
    Result result = Result::Passes;
    std::optional<double> quantity; ///< none where it is no number

    static Check atMost(double quantity, double bound)
    {
        return {quantity <= bound ? Result::Passes : Result::Fails,
                std::isfinite(quantity) ? std::optional(quantity) : std::nullopt};
    }
    static Check atLeast(double quantity, double bound)
    {
        return {quantity >= bound ? Result::Passes : Result::Fails, quantity};
    }
};

constexpr Check undecided{Check::Result::Undecided, std::nullopt};
constexpr Check fails{Check::Result::Fails, std::nullopt};

bool isShare(Criterion::Kind kind)
{
    return kind == Criterion::Kind::TopK || kind == Criterion::Kind::Routes
           || kind == Criterion::Kind::Tokens;
}

/// An element of the site is NaN or infinite on one side only. Elements of an expert that the
/// target did not choose have no value to be judged: that is for `routes` and `bitwise`.
bool classesDiffer(const RowRecord& record, std::size_t tapPair)
{
    const auto& sites = record.nonFinite;
    return std::find(sites.begin(), sites.end(), tapPair) != sites.end();
}

Check checkFloor(const FoldView& view, std::size_t row, std::size_t tapPair, double times)
{
    const Site& site = view.records[row]->sites[tapPair];
    const auto floor =
        view.options.floor->relativeL2(view.tap(tapPair).name, view.alignment.rows[row].position);
    if (!floor)
        return undecided;
    const double ratio = site.relativeL2() / *floor;
    return {site.relativeL2() <= times * *floor ? Check::Result::Passes : Check::Result::Fails,
            std::isfinite(ratio) ? std::optional(ratio) : std::nullopt};
}

Check checkAllclose(const RowRecord& record, std::size_t tapPair)
{
    const auto& cells = record.elementwise;
    const auto cell = std::find_if(cells.begin(), cells.end(), [tapPair](const ElementwiseCell& c) {
        return c.tap == tapPair;
    });
    if (cell == cells.end())
        return undecided;
    return {cell->beyond == 0 ? Check::Result::Passes : Check::Result::Fails,
            std::isfinite(cell->largest) ? std::optional(cell->largest) : std::nullopt};
}

Check checkSite(const FoldView& view, std::size_t row, std::size_t tapPair,
                const Criterion& criterion)
{
    const RowRecord& record = *view.records[row];
    const Site& site = record.sites[tapPair];
    if (site.state == Site::State::Equal)
        return {Check::Result::Passes, 0};
    if (site.state == Site::State::NotRecorded)
        return undecided;
    if (criterion.kind == Criterion::Kind::Bitwise)
        return {Check::Result::Fails,
                site.valuesCompared ? std::optional<double>(site.unequal) : std::nullopt};
    if (!site.valuesCompared)
        return undecided;
    if (classesDiffer(record, tapPair))
        return fails;
    switch (criterion.kind) {
    case Criterion::Kind::Ulp:
        return view.tap(tapPair).dtype == view.targetTap(tapPair).dtype
                   ? Check::atMost(static_cast<double>(site.maxUlp), criterion.bound)
                   : undecided;
    case Criterion::Kind::Abs:
        return Check::atMost(site.maxAbs, criterion.bound);
    case Criterion::Kind::Rel:
        return Check::atMost(site.relativeL2(), criterion.bound);
    case Criterion::Kind::Allclose:
        return checkAllclose(record, tapPair);
    default:
        return checkFloor(view, row, tapPair, criterion.bound);
    }
}

Check checkLogits(const FoldView& view, std::size_t row, const Criterion& criterion)
{
    const LogitsRecord& logits = view.records[row]->logits;
    if (criterion.kind == Criterion::Kind::TopK) {
        const auto size = static_cast<std::size_t>(
            std::find(topKSizes.begin(), topKSizes.end(), criterion.topK) - topKSizes.begin());
        if ((logits.row.known >> size & 1U) == 0)
            return undecided;
        return Check::atLeast(static_cast<double>(logits.row.overlap[size]) / criterion.topK,
                              criterion.bound);
    }
    if (logits.row.compared)
        return view.head && classesDiffer(*view.records[row], *view.head)
                   ? fails
                   : Check::atMost(logits.row.forwardKl, criterion.bound);
    if (view.head && view.records[row]->sites[*view.head].state == Site::State::Equal)
        return {Check::Result::Passes, 0};
    return logits.full ? fails : undecided;
}

/// The share of a sample's tokens that were chosen alike, and the row where that first fails.
struct TokenShare
{
    std::optional<double> share;    ///< none where no choice is known
    std::optional<std::size_t> row; ///< of the first token that differs
};

/// Runs that chose their own tokens: as far as the responses are the same, of the longer one.
TokenShare matchedPrefix(const FoldView& view, const Alignment::SamplePair& pair)
{
    const auto responseOf = [](std::span<const trace::Token> tokens) {
        const auto begin = std::find_if(tokens.begin(), tokens.end(),
                                        [](const trace::Token& token) { return token.response; });
        return tokens.subspan(static_cast<std::size_t>(begin - tokens.begin()));
    };
    const auto ours = responseOf(view.reference.tokens(pair.reference));
    const auto theirs = responseOf(view.target.tokens(pair.target));
    const auto parted =
        std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](const trace::Token& a, const trace::Token& b) { return a.id == b.id; });
    const auto equal = static_cast<double>(parted.first - ours.begin());
    const std::size_t longer = std::max(ours.size(), theirs.size());
    TokenShare result;
    if (longer > 0)
        result.share = equal / static_cast<double>(longer);
    for (std::size_t row = 0; row < view.alignment.rows.size(); ++row)
        if (view.alignment.rows[row].sample == pair.reference && view.records[row] != nullptr)
            result.row = row; // the last row before the texts part
    return result;
}

/// Replays: rows with the same best token, of all rows of the sample that know it.
TokenShare agreement(const FoldView& view, const Alignment::SamplePair& pair)
{
    TokenShare result;
    std::uint64_t known = 0;
    std::uint64_t same = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (view.alignment.rows[row].sample != pair.reference || record.logits.row.referenceTop < 0)
            return;
        ++known;
        if (record.logits.row.referenceTop == record.logits.row.targetTop)
            ++same;
        else if (!result.row)
            result.row = row;
    });
    if (known > 0)
        result.share = static_cast<double>(same) / static_cast<double>(known);
    return result;
}

class Judge
{
public:
    explicit Judge(const FoldView& view)
        : m_view(view)
        , m_tolerance(*view.options.tolerance)
    {
        for (const ToleranceEntry& entry : m_tolerance.entries()) {
            m_begin.push_back(m_findings.outcomes.size());
            for (const Criterion& criterion : entry.criteria)
                m_findings.outcomes.push_back({entry.pattern, criterion.text, 0, 0, 0, {}, {}});
        }
        for (std::size_t i = 0; i < view.alignment.taps.size(); ++i)
            m_tapEntry.push_back(m_tolerance.entryOf(view.tap(i).name));
        for (std::size_t i = 0; i < view.alignment.routers.size(); ++i) {
            const std::string name = view.router(i).module + ".out";
            m_routerEntry.push_back(m_tolerance.entryOf(name));
            const auto tap = view.reference.findTap(name);
            m_routerPlace.push_back((tap ? pairOfTap(view.alignment.taps, *tap) : std::nullopt)
                                        .value_or(endOfLayer(view.router(i).layer)));
        }
    }

    ToleranceFindings run()
    {
        m_view.forEachRow([&](std::size_t row, const RowRecord& record) {
            for (std::size_t tap = 0; tap < record.sites.size(); ++tap)
                each(m_tapEntry[tap], Subject::Site, [&](const Criterion& criterion) {
                    return std::pair(checkSite(m_view, row, tap, criterion),
                                     Spot{row, tap, tap, {}});
                });
            for (std::size_t i = 0; i < record.routes.size(); ++i)
                if (const RouteCell& cell = record.routes[i].cell; cell.chosen > 0)
                    each(m_routerEntry[i], Subject::Router, [&](const Criterion& criterion) {
                        const double kept = cell.chosen - cell.replaced;
                        return std::pair(Check::atLeast(kept / cell.chosen, criterion.bound),
                                         Spot{row, m_routerPlace[i], {}, i});
                    });
            if (m_view.head || m_view.alignment.comparesLogits)
                each(headEntry(), Subject::Logits, [&](const Criterion& criterion) {
                    return criterion.kind == Criterion::Kind::Tokens
                               ? std::optional<std::pair<Check, Spot>>()
                               : std::optional(std::pair(checkLogits(m_view, row, criterion),
                                                         Spot{row, headPlace(), {}, {}}));
                });
        });
        tokens();
        leaveOpen();
        keepStarts();
        return std::move(m_findings);
    }

private:
    /// Where something was seen: its row and its place in the order of taps.
    struct Spot
    {
        std::size_t row;
        std::size_t place;
        std::optional<std::size_t> tapPair;
        std::optional<std::size_t> router;
    };

    std::size_t headEntry() const { return m_tolerance.entryOf(trace::headTapName); }
    std::size_t headPlace() const { return m_view.head.value_or(m_view.alignment.taps.size()); }
    std::size_t endOfLayer(std::int32_t layer) const
    {
        std::size_t i = 0;
        while (i < m_view.alignment.taps.size() && m_view.tap(i).layer <= layer)
            ++i;
        return i;
    }

    void tokens()
    {
        if (!m_tolerance.uses(Criterion::Kind::Tokens))
            return;
        const bool free = choseOwnTokens(m_view.reference) && choseOwnTokens(m_view.target);
        for (const Alignment::SamplePair& pair : m_view.alignment.samples)
            each(headEntry(), Subject::Logits, [&](const Criterion& criterion) {
                if (criterion.kind != Criterion::Kind::Tokens)
                    return std::optional<std::pair<Check, Spot>>();
                const TokenShare found =
                    free ? matchedPrefix(m_view, pair) : agreement(m_view, pair);
                if (!found.share)
                    return std::optional<std::pair<Check, Spot>>();
                const std::size_t row = found.row.value_or(0);
                return std::optional(std::pair(Check::atLeast(*found.share, criterion.bound),
                                               Spot{row, headPlace(), {}, {}}));
            });
    }

    /// A criterion that was asked for and met nothing has not held: it stays undecided.
    void leaveOpen()
    {
        const bool nothing =
            std::all_of(m_findings.outcomes.begin(), m_findings.outcomes.end(),
                        [](const CriterionOutcome& outcome) { return outcome.checked == 0; });
        for (std::size_t entry = 0; entry < m_begin.size(); ++entry) {
            const auto& criteria = m_tolerance.entries()[entry].criteria;
            for (std::size_t i = 0; i < criteria.size(); ++i)
                if (CriterionOutcome& outcome = m_findings.outcomes[m_begin[entry] + i];
                    outcome.checked == 0
                    && (nothing || m_tolerance.file().empty()
                        || hasSubject(entry, subjectOf(criteria[i].kind))))
                    outcome.undecided = 1;
        }
    }

    /// Whether a profile's entry decides about anything of that kind in either run. What may be
    /// missing need not be checked.
    bool hasSubject(std::size_t entry, Subject subject) const
    {
        const AlignmentSummary& left = m_view.alignment.summary;
        const auto decides = [&](const std::string& name) {
            return m_tolerance.entryOf(name) == entry;
        };
        const auto decidesAny = [&](const std::vector<std::string>& names) {
            return !m_view.options.allowMissing && std::any_of(names.begin(), names.end(), decides);
        };
        const auto decidesRouter = [&](const std::string& module) {
            return decides(module + ".out");
        };
        switch (subject) {
        case Subject::Logits:
            return headEntry() == entry
                   && (m_view.head || m_view.alignment.comparesLogits
                       || isAmong(left.tapsOnlyReference) || isAmong(left.tapsOnlyTarget));
        case Subject::Router:
            return std::find(m_routerEntry.begin(), m_routerEntry.end(), entry)
                       != m_routerEntry.end()
                   || (!m_view.options.allowMissing
                       && (std::any_of(left.routersOnlyReference.begin(),
                                       left.routersOnlyReference.end(), decidesRouter)
                           || std::any_of(left.routersOnlyTarget.begin(),
                                          left.routersOnlyTarget.end(), decidesRouter)));
        case Subject::Site:
            break;
        }
        return decidesAny(left.tapsOnlyReference) || decidesAny(left.tapsOnlyTarget);
    }

    /// The logits are missing on the other side, and may not be.
    bool isAmong(const std::vector<std::string>& names) const
    {
        return !m_view.options.allowMissing
               && std::find(names.begin(), names.end(), trace::headTapName) != names.end();
    }

    /// Makes and counts the checks of an entry's criteria that speak of `subject`.
    template <class Make>
    void each(std::size_t entry, Subject subject, Make make)
    {
        const auto& criteria = m_tolerance.entries()[entry].criteria;
        for (std::size_t i = 0; i < criteria.size(); ++i) {
            if (subjectOf(criteria[i].kind) != subject)
                continue;
            const std::optional<std::pair<Check, Spot>> made = make(criteria[i]);
            if (made)
                count(made->first, made->second, criteria[i],
                      m_findings.outcomes[m_begin[entry] + i]);
        }
    }

    void count(const Check& check, const Spot& spot, const Criterion& criterion,
               CriterionOutcome& outcome)
    {
        ++outcome.checked;
        if (check.result == Check::Result::Undecided) {
            ++outcome.undecided;
            return;
        }
        const bool failed = check.result == Check::Result::Fails;
        outcome.failed += failed ? 1 : 0;
        const bool beyondNumbers = outcome.worst == std::nullopt && !outcome.at.empty();
        const bool first = outcome.at.empty();
        const bool worse = !beyondNumbers
                           && (first || !check.quantity
                               || (isShare(criterion.kind) ? *check.quantity < *outcome.worst
                                                           : *check.quantity > *outcome.worst));
        if (worse) {
            outcome.worst = check.quantity;
            outcome.at = m_view.site(spot.row, nameAt(spot));
        }
        if (failed)
            consider(spot, criterion);
    }

    std::string nameAt(const Spot& spot) const
    {
        if (spot.tapPair)
            return m_view.tap(*spot.tapPair).name;
        return spot.router ? m_view.router(*spot.router).module + ".out"
                           : std::string(trace::headTapName);
    }

    /// Of neighbouring places that fail in one row only the first.
    void keepStarts()
    {
        std::vector<GridPlace>& all = m_findings.beyond;
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        std::vector<GridPlace> starts;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i == 0 || all[i - 1].row != all[i].row || all[i - 1].tap + 1 != all[i].tap)
                starts.push_back(all[i]);
        all = std::move(starts);
    }

    void consider(const Spot& spot, const Criterion& criterion)
    {
        const std::pair place(spot.row, spot.place);
        if (const std::size_t taps = m_view.alignment.taps.size(); m_view.options.grid && taps > 0)
            m_findings.beyond.push_back({spot.row, std::min(spot.place, taps - 1)});
        if (m_findings.first && m_firstPlace <= place)
            return;
        m_firstPlace = place;
        m_findings.first = {spot.row, spot.tapPair, spot.router, criterion.text};
    }

    const FoldView& m_view;
    const Tolerance& m_tolerance;
    std::vector<std::size_t> m_begin; ///< of an entry's outcomes
    std::vector<std::size_t> m_tapEntry;
    std::vector<std::size_t> m_routerEntry;
    std::vector<std::size_t> m_routerPlace; ///< in the order of taps
    std::pair<std::size_t, std::size_t> m_firstPlace;
    ToleranceFindings m_findings;
};

} // namespace

ToleranceFindings judge(const FoldView& view)
{
    return Judge(view).run();
}

std::uint64_t sitesWithoutFloor(const FoldView& view)
{
    std::uint64_t count = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        for (std::size_t tap = 0; tap < record.sites.size(); ++tap)
            if (record.sites[tap].state == Site::State::Different && !classesDiffer(record, tap)
                && (!record.sites[tap].valuesCompared
                    || checkFloor(view, row, tap, 1).result == Check::Result::Undecided))
                ++count;
    });
    return count;
}

std::optional<std::pair<std::size_t, std::size_t>> firstBeyondFloor(const FoldView& view)
{
    for (std::size_t row = 0; row < view.records.size(); ++row) {
        if (view.records[row] == nullptr)
            continue;
        const auto& sites = view.records[row]->sites;
        for (std::size_t tap = 0; tap < sites.size(); ++tap) {
            if (sites[tap].state != Site::State::Different || !sites[tap].valuesCompared)
                continue;
            if (classesDiffer(*view.records[row], tap)
                || checkFloor(view, row, tap, 1).result == Check::Result::Fails)
                return std::pair(row, tap);
        }
    }
    return std::nullopt;
}

} // namespace moire::diff
