// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/alignment.h"

#include "core/base/text.h"
#include "core/diff/alignment_remarks.h"
#include "core/diff/row_matching.h"
#include "core/diff/sample_matching.h"
#include "core/diff/tap_matching.h"
#include "core/diff/tap_names.h"
#include "core/diff/tap_spelling.h"

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

/// The patterns of names as the runs have them.
Result<std::vector<std::string>> spelledPatterns(const Run& reference, const Run& target,
                                                 const std::vector<std::string>& patterns)
{
    std::vector<std::string> spelled;
    for (const std::string& pattern : patterns) {
        const auto whole = spelledOut(pattern, [&](const std::string& name) {
            return matchesAny(reference, name) || matchesAny(target, name);
        });
        if (!whole)
            return Error{Errc::Invalid, "the pattern matches no tap of either run", pattern,
                         "List the taps with: moire-diff info FILE"};
        spelled.push_back(*whole);
    }
    return spelled;
}

void matchRouters(const Run& reference, const Run& target, const std::vector<std::string>& patterns,
                  Alignment& alignment)
{
    const auto& ours = reference.header().routers;
    const auto& theirs = target.header().routers;
    AlignmentSummary& summary = alignment.summary;
    std::vector<bool> met(theirs.size(), false);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (!passes(patterns, tapNameOf(ours[i])))
            continue;
        auto found = theirs.begin();
        while (found != theirs.end()
               && (met[static_cast<std::size_t>(found - theirs.begin())]
                   || hubName(found->module) != hubName(ours[i].module)))
            ++found;
        if (found == theirs.end()) {
            summary.routersOnlyReference.push_back(ours[i].module);
            continue;
        }
        if (found->experts != ours[i].experts || found->chosen != ours[i].chosen) {
            summary.routersOnlyReference.push_back(ours[i].module);
            alignment.summary.remarks.push_back(
                "Router " + ours[i].module + " chooses " + std::to_string(ours[i].chosen) + " of "
                + std::to_string(ours[i].experts) + " experts in the reference and "
                + std::to_string(found->chosen) + " of " + std::to_string(found->experts)
                + " in the target: its routing is not compared");
            continue;
        }
        const auto place = static_cast<std::size_t>(found - theirs.begin());
        met[place] = true;
        alignment.routers.emplace_back(i, place);
    }
    for (std::size_t i = 0; i < theirs.size(); ++i)
        if (!met[i] && passes(patterns, tapNameOf(theirs[i])))
            summary.routersOnlyTarget.push_back(theirs[i].module);
}

/// Top-K tables of one run alone: the logits of a run that did not tap them.
void listLoneTables(const Run& reference, const Run& target,
                    const std::vector<std::string>& patterns, AlignmentSummary& summary)
{
    const auto alone = [&](const Run& run, const Run& other) {
        return run.header().logits.vocabulary > 0 && other.header().logits.vocabulary == 0
               && !run.findTap(trace::headTapName) && !other.findTap(trace::headTapName)
               && passes(patterns, trace::headTapName);
    };
    if (alone(reference, target))
        summary.tapsOnlyReference.emplace_back(trace::headTapName);
    if (alone(target, reference))
        summary.tapsOnlyTarget.emplace_back(trace::headTapName);
}

/// Why no row has a counterpart although rows of both stand in samples that do.
std::string whyNoRow(const Alignment& alignment)
{
    const auto differsAt0 = [](const Alignment::SamplePair& pair) { return pair.split == 0U; };
    if (std::any_of(alignment.samples.begin(), alignment.samples.end(), differsAt0))
        return "no row of the runs stands for the same tokens: the prompts differ from the first "
               "token on";
    if (alignment.summary.tokenisedDifferently > 0)
        return "no row of the runs stands for the same tokens: the text is tokenised differently "
               "throughout";
    return "no row of the runs stands for the same tokens: what was recorded lies behind the first "
           "token that differs";
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
        return Error{Errc::Incomparable, whyNoRow(alignment), place,
                     "Capture both with the same prompts and tokenizer"};
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

/// What of a run is not there yet, the other may have: it is no difference. Of taps it is.
void passOverWhatMayCome(AlignmentSummary& summary)
{
    summary.growing = true;
    summary.samplesOnlyReference.clear();
    summary.samplesOnlyTarget.clear();
    summary.rowsOnlyReference = summary.rowsOnlyTarget = 0;
    summary.tokensOnlyReference = summary.tokensOnlyTarget = 0;
}

} // namespace

Result<Alignment> align(const trace::Run& reference, const trace::Run& target,
                        const AlignmentOptions& given)
{
    auto patterns = spelledPatterns(reference, target, given.tapPatterns);
    if (!patterns)
        return patterns.error();
    AlignmentOptions options = given;
    options.tapPatterns = std::move(*patterns);
    Alignment alignment;
    if (auto matched = matchTaps(reference, target, options, alignment); !matched)
        return matched.error();
    matchRouters(reference, target, options.tapPatterns, alignment);
    listLoneTables(reference, target, options.tapPatterns, alignment.summary);
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
    if (options.growing)
        passOverWhatMayCome(alignment.summary);
    addRemarks(reference, target, alignment);
    return alignment;
}

} // namespace moire::diff
