// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment.h"

#include "core/base/text.h"
#include "core/diff/alignment_remarks.h"
#include "core/diff/row_matching.h"
#include "core/diff/sample_matching.h"
#include "core/diff/tap_matching.h"
#include "core/diff/tap_names.h"

#include <algorithm>
#include <string_view>

namespace moire::diff {

namespace {

using trace::Run;

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

void matchRouters(const Run& reference, const Run& target, const std::vector<std::string>& patterns,
                  Alignment& alignment)
{
    const auto& ours = reference.header().routers;
    const auto& theirs = target.header().routers;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (!passes(patterns, tapNameOf(ours[i])))
            continue;
        const auto found =
            std::find_if(theirs.begin(), theirs.end(), [&](const trace::RouterLayer& r) {
                return hubName(r.module) == hubName(ours[i].module);
            });
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

Result<void> checkCommonGround(const Run& reference, const Run& target, const Alignment& alignment)
{
    const std::string place = reference.source() + " and " + target.source();
    for (const Run* run : {&reference, &target})
        if (run->rowCount() == 0)
            return Error{Errc::Incomparable,
                         run->complete() ? "holds no row" : "is incomplete and holds no row",
                         run->source(), "Capture it again"};
    if (alignment.samples.empty())
        return Error{
            Errc::Incomparable, "the runs have no sample in common", place,
            "Samples are matched by id and by prompt; compare captures of the same prompts"};
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

Result<void> keepRows(const AlignmentOptions& options, Alignment& alignment)
{
    if (options.rows == nullptr)
        return {};
    std::erase_if(alignment.rows, [&](const RowPair& pair) {
        return pair.reference >= options.rows->size() || !(*options.rows)[pair.reference];
    });
    if (alignment.rows.empty())
        return Error{Errc::Incomparable, "none of the rows asked for stands in both runs", {}, {}};
    return {};
}

} // namespace

Result<Alignment> align(const trace::Run& reference, const trace::Run& target,
                        const AlignmentOptions& options)
{
    if (auto checked = checkPatterns(reference, target, options.tapPatterns); !checked)
        return checked.error();
    Alignment alignment;
    if (auto matched = matchTaps(reference, target, options, alignment); !matched)
        return matched.error();
    matchRouters(reference, target, options.tapPatterns, alignment);
    alignment.comparesLogits = reference.header().logits.vocabulary > 0
                               && target.header().logits.vocabulary > 0
                               && passes(options.tapPatterns, trace::headTapName);
    if (auto matched = matchSamples(reference, target, options, alignment); !matched)
        return matched.error();
    if (auto matched = matchRows(reference, target, options, alignment); !matched)
        return matched.error();
    if (auto checked = checkCommonGround(reference, target, alignment); !checked)
        return checked.error();
    if (auto kept = keepRows(options, alignment); !kept)
        return kept.error();
    alignment.summary.samples = alignment.samples.size();
    alignment.summary.rows = alignment.rows.size();
    alignment.summary.taps = alignment.taps.size();
    addRemarks(reference, target, alignment);
    return alignment;
}

} // namespace moire::diff
