// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment.h"

#include "core/base/text.h"
#include "core/diff/alignment_remarks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace moire::diff {

namespace {

using trace::Run;
using trace::SampleIndex;

bool passes(const std::vector<std::string>& patterns, std::string_view name)
{
    return patterns.empty()
           || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
                  return base::globMatches(pattern, name);
              });
}

/// Under which name a router is filtered: that of its logits' tap.
std::string tapNameOf(const trace::RouterLayer& router)
{
    return router.module + ".out";
}

bool matchesAny(const Run& run, const std::string& pattern)
{
    const auto& header = run.header();
    return std::any_of(header.taps.begin(), header.taps.end(),
                       [&](const trace::Tap& t) { return base::globMatches(pattern, t.name); })
           || std::any_of(header.routers.begin(), header.routers.end(),
                          [&](const trace::RouterLayer& r) {
                              return base::globMatches(pattern, tapNameOf(r));
                          });
}

Result<void> checkPatterns(const Run& reference, const Run& target,
                           const std::vector<std::string>& patterns)
{
    for (const std::string& pattern : patterns)
        if (!matchesAny(reference, pattern) && !matchesAny(target, pattern))
            return Error{Errc::Invalid, "the pattern matches no tap of either run", pattern,
                         "List the taps with: moire-diff info FILE"};
    return {};
}

void matchTaps(const Run& reference, const Run& target, const std::vector<std::string>& patterns,
               Alignment& alignment)
{
    const auto& theirs = target.header().taps;
    std::unordered_map<std::string_view, std::size_t> byName;
    for (std::size_t i = 0; i < theirs.size(); ++i)
        byName.emplace(theirs[i].name, i);
    std::vector<bool> taken(theirs.size(), false);
    const auto& ours = reference.header().taps;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (!passes(patterns, ours[i].name))
            continue;
        const auto found = byName.find(ours[i].name);
        if (found == byName.end() || taken[found->second]) {
            alignment.summary.tapsOnlyReference.push_back(ours[i].name);
            continue;
        }
        const trace::Tap& other = theirs[found->second];
        if (other.width != ours[i].width) {
            alignment.summary.tapsOnlyReference.push_back(ours[i].name);
            alignment.summary.remarks.push_back(
                "Tap " + ours[i].name + " is " + std::to_string(ours[i].width)
                + " wide in the reference and " + std::to_string(other.width)
                + " in the target: not compared");
            continue;
        }
        taken[found->second] = true;
        alignment.taps.push_back({static_cast<trace::TapIndex>(i),
                                  static_cast<trace::TapIndex>(found->second), 0, 0,
                                  ours[i].width});
    }
    for (std::size_t i = 0; i < theirs.size(); ++i)
        if (!taken[i] && passes(patterns, theirs[i].name))
            alignment.summary.tapsOnlyTarget.push_back(theirs[i].name);
}

void matchRouters(const Run& reference, const Run& target, const std::vector<std::string>& patterns,
                  Alignment& alignment)
{
    const auto& ours = reference.header().routers;
    const auto& theirs = target.header().routers;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (!passes(patterns, tapNameOf(ours[i])))
            continue;
        const auto found =
            std::find_if(theirs.begin(), theirs.end(),
                         [&](const trace::RouterLayer& r) { return r.module == ours[i].module; });
        if (found == theirs.end())
            continue;
        if (found->experts != ours[i].experts || found->chosen != ours[i].chosen) {
            alignment.summary.remarks.push_back(
                "Router " + ours[i].module + " chooses " + std::to_string(ours[i].chosen) + " of "
                + std::to_string(ours[i].experts) + " experts in the reference and "
                + std::to_string(found->chosen) + " of " + std::to_string(found->experts)
                + " in the target: its routing is not compared");
            continue;
        }
        alignment.routers.emplace_back(i, static_cast<std::size_t>(found - theirs.begin()));
    }
}

void matchSamples(const Run& reference, const Run& target, Alignment& alignment)
{
    using Key = std::pair<std::string, std::uint32_t>;
    const auto theirs = target.samples();
    std::map<Key, std::vector<std::size_t>> waiting; // latest first, so that back() is the earliest
    for (std::size_t i = theirs.size(); i-- > 0;)
        waiting[{theirs[i].id, theirs[i].repeat}].push_back(i);
    std::vector<bool> taken(theirs.size(), false);
    const auto ours = reference.samples();
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const auto found = waiting.find({ours[i].id, ours[i].repeat});
        if (found == waiting.end() || found->second.empty()) {
            alignment.summary.samplesOnlyReference.push_back(ours[i].id);
            continue;
        }
        const std::size_t other = found->second.back();
        found->second.pop_back();
        taken[other] = true;
        alignment.samples.push_back(
            {static_cast<SampleIndex>(i), static_cast<SampleIndex>(other), std::nullopt, {}});
    }
    for (std::size_t i = 0; i < theirs.size(); ++i)
        if (!taken[i])
            alignment.summary.samplesOnlyTarget.push_back(theirs[i].id);
}

struct Place
{
    std::uint32_t position;
    trace::RowIndex row;
};

/// The rows of every sample, by position; rows recorded twice keep their order.
std::vector<std::vector<Place>> rowsBySample(const Run& run)
{
    std::vector<std::vector<Place>> rows(run.samples().size());
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const trace::Row row = run.row(r);
        rows[indexOf(row.sample)].push_back({row.position, r});
    }
    for (auto& ofSample : rows)
        std::stable_sort(ofSample.begin(), ofSample.end(),
                         [](const Place& a, const Place& b) { return a.position < b.position; });
    return rows;
}

std::optional<std::uint32_t> firstDifferentToken(std::span<const trace::Token> a,
                                                 std::span<const trace::Token> b)
{
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i)
        if (a[i].id != b[i].id)
            return static_cast<std::uint32_t>(i);
    return std::nullopt;
}

/// Rows after the split, taken off the end of `rows`.
std::uint64_t dropAfterSplit(std::vector<Place>& rows, std::uint32_t split)
{
    const auto end = std::partition_point(rows.begin(), rows.end(),
                                          [&](const Place& p) { return p.position < split; });
    const auto dropped = static_cast<std::uint64_t>(rows.end() - end);
    rows.erase(end, rows.end());
    return dropped;
}

void pairRows(const std::vector<Place>& ours, const std::vector<Place>& theirs, SampleIndex sample,
              Alignment& alignment)
{
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < ours.size() && b < theirs.size()) {
        if (ours[a].position < theirs[b].position) {
            ++a;
            ++alignment.summary.rowsOnlyReference;
        } else if (theirs[b].position < ours[a].position) {
            ++b;
            ++alignment.summary.rowsOnlyTarget;
        } else {
            alignment.rows.push_back({ours[a].row, theirs[b].row, sample, ours[a].position});
            ++a;
            ++b;
        }
    }
    alignment.summary.rowsOnlyReference += ours.size() - a;
    alignment.summary.rowsOnlyTarget += theirs.size() - b;
}

void matchRows(const Run& reference, const Run& target, Alignment& alignment)
{
    auto ours = rowsBySample(reference);
    auto theirs = rowsBySample(target);
    for (Alignment::SamplePair& pair : alignment.samples) {
        auto& a = ours[indexOf(pair.reference)];
        auto& b = theirs[indexOf(pair.target)];
        const auto tokens = reference.tokens(pair.reference);
        pair.split = firstDifferentToken(tokens, target.tokens(pair.target));
        if (pair.split) {
            alignment.summary.rowsNotComparableReference += dropAfterSplit(a, *pair.split);
            alignment.summary.rowsNotComparableTarget += dropAfterSplit(b, *pair.split);
            if (!tokens[*pair.split].response)
                alignment.summary.remarks.push_back(
                    "The prompts of sample " + reference.samples()[indexOf(pair.reference)].id
                    + " differ at token " + std::to_string(*pair.split));
        }
        pairRows(a, b, pair.reference, alignment);
        a.clear();
        b.clear();
    }
    for (const auto& left : ours) // what is left belongs to samples without a counterpart
        alignment.summary.rowsOnlyReference += left.size();
    for (const auto& left : theirs)
        alignment.summary.rowsOnlyTarget += left.size();
}

Result<void> checkCommonGround(const Run& reference, const Run& target, const Alignment& alignment)
{
    const std::string place = reference.source() + " and " + target.source();
    if (alignment.samples.empty())
        return Error{Errc::Incomparable, "the runs have no sample in common", place,
                     "Samples are matched by id; compare captures of the same prompts"};
    if (alignment.taps.empty())
        return Error{Errc::Incomparable, "the runs have no tap in common", place,
                     "List the taps of both with: moire-diff info FILE"};
    if (!alignment.rows.empty())
        return {};
    if (alignment.summary.rowsNotComparableReference + alignment.summary.rowsNotComparableTarget
        > 0)
        return Error{Errc::Incomparable,
                     "no row of the runs stands for the same tokens: the prompts differ from the "
                     "first token on",
                     place, "Capture both with the same prompts and tokenizer"};
    return Error{Errc::Incomparable, "the runs have no row in common", place,
                 "Compare captures in which the same positions were recorded"};
}

} // namespace

Result<Alignment> align(const trace::Run& reference, const trace::Run& target,
                        const AlignmentOptions& options)
{
    if (auto checked = checkPatterns(reference, target, options.tapPatterns); !checked)
        return checked.error();
    Alignment alignment;
    matchTaps(reference, target, options.tapPatterns, alignment);
    matchRouters(reference, target, options.tapPatterns, alignment);
    alignment.comparesLogits = reference.header().logits.vocabulary > 0
                               && target.header().logits.vocabulary > 0
                               && passes(options.tapPatterns, trace::headTapName);
    matchSamples(reference, target, alignment);
    matchRows(reference, target, alignment);
    if (auto checked = checkCommonGround(reference, target, alignment); !checked)
        return checked.error();
    alignment.summary.samples = alignment.samples.size();
    alignment.summary.rows = alignment.rows.size();
    alignment.summary.taps = alignment.taps.size();
    addRemarks(reference, target, alignment);
    return alignment;
}

} // namespace moire::diff
