// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/grid.h"
#include "core/diff/measure.h"
#include "core/trace/run.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The one value that a comparison yields. Views, writers and the JSON contract (moire-report/1,
/// core/report/report.schema.json) read nothing else. All lists are in the order stated, so that
/// equal inputs give equal bytes.
namespace moire::diff {

/// Was the difference made by this op, or had its inputs already differed?
enum class Origin : std::uint8_t
{
    Unknown,
    Introduced,
    Carried
};
std::string_view nameOf(Origin origin);

/// One element of one tap at one row, in both runs.
struct Divergence
{
    std::string sample;      ///< id in the reference
    trace::RowIndex row = 0; ///< row number in the reference
    trace::RowIndex targetRow = 0;
    std::uint32_t position = 0;
    trace::Phase phase = trace::Phase::Prefill;
    std::string tap;
    std::int32_t layer = -1;
    std::optional<std::uint32_t> element; ///< worst element; none where values were not recorded
    std::optional<std::uint64_t> referenceBits, targetBits;
    std::optional<double> referenceValue,
        targetValue; ///< ids for token, argmax, top-K and expert kinds
    numeric::DType referenceType = numeric::DType::FP32, targetType = numeric::DType::FP32;
    std::optional<std::uint64_t> ulps;
    Origin origin = Origin::Unknown;
    std::optional<double> amplification; ///< relative L2 over the largest of the op's inputs
    std::string flipClass;               ///< F4's class, on argmax flips only
    std::string note; ///< what differs where one element does not say it ("expert 5 for expert 2")
};

/// The kinds of first divergence; each is the smallest (sample, position, tap order) or absent.
struct FirstDivergences
{
    std::optional<Divergence> bitwise, tolerance, floor, topK, experts, argmax, token, nonFinite;
};

struct TapReport
{
    std::string name;
    std::int32_t layer = -1;
    trace::TapKind kind = trace::TapKind::Other;
    std::uint64_t rows = 0;
    std::uint64_t elements = 0;
    std::vector<Measure> measures; ///< in METRICS.md order
};

struct SampleReport
{
    std::string id;
    std::uint32_t repeat = 0;                 ///< of the id
    trace::SampleIndex reference{}, target{}; ///< in their runs
    std::string category;
    std::uint64_t rowsCompared = 0;
    std::optional<std::uint32_t> firstBitwise; ///< position
    std::optional<std::uint32_t> firstArgmax;  ///< position
    std::optional<std::uint32_t>
        split; ///< first position whose tokens differ; later rows are not comparable
    std::uint64_t notComparable = 0; ///< rows after the split, both sides
    std::vector<TokenBlock> blocks;  ///< in order; see TokenBlock
    std::vector<Measure> measures;
};

/// What was compared and what was left over.
struct AlignmentSummary
{
    std::uint64_t samples = 0, rows = 0, taps = 0; ///< compared
    std::vector<std::string> samplesOnlyReference, samplesOnlyTarget;
    std::vector<std::string> tapsOnlyReference, tapsOnlyTarget; ///< "y.out[10:50]": a slice of one
    std::vector<std::string> routersOnlyReference, routersOnlyTarget; ///< modules
    /// Samples of which only that run holds the tokens.
    std::uint64_t tokensOnlyReference = 0, tokensOnlyTarget = 0;
    std::uint64_t rowsOnlyReference = 0, rowsOnlyTarget = 0; ///< no counterpart recorded
    std::uint64_t rowsNotComparableReference = 0, rowsNotComparableTarget = 0; ///< after a split
    std::uint64_t missingReference = 0,
                  missingTarget = 0; ///< of incomplete captures, as far as known
    bool incompleteReference = false, incompleteTarget = false;
    bool growing = false;                   ///< AlignmentOptions::growing
    std::uint64_t tokenisedDifferently = 0; ///< samples aligned by bytes of text, not by ids
    std::vector<std::string> remarks; ///< sentences: construction differs, weights differ, …
};

struct EnvironmentDifference
{
    std::string key;
    std::string reference;
    std::string target;
};

struct RunSummary
{
    std::string file;
    trace::Environment environment;
    std::uint64_t samples = 0, rows = 0, taps = 0;
    bool complete = true;
};

/// One criterion of a tolerance profile and what it met.
struct CriterionOutcome
{
    std::string pattern;       ///< of tap names, as the profile has it
    std::string criterion;     ///< as the profile has it: "ulp<=2"
    std::uint64_t checked = 0; ///< sites, or rows for criteria on rows
    std::uint64_t failed = 0;
    /// Sites that differ by digest and whose values, or whose floor, are not there; 1 where nothing
    /// was there to check.
    std::uint64_t undecided = 0;
    std::optional<double> worst; ///< in the criterion's own quantity
    std::string at;              ///< SITE of the worst
};

/// A row pair and a tap pair of a report.
struct GridPlace
{
    std::size_t row = 0;
    std::size_t tap = 0;
    friend auto operator<=>(const GridPlace&, const GridPlace&) = default;
};

/// One rule of the ordered cause rules that had something to say.
struct CauseFinding
{
    std::string rule;     ///< "inputs", "construction", "introduced", "tensor-parallel", …
    std::string sentence; ///< what a colleague would write
    std::vector<std::string> evidence; ///< one fact with its numbers a line
};

struct Report
{
    std::string verdict;                     ///< the sentence
    std::string cause;                       ///< one sentence; empty when nothing differs
    std::vector<CauseFinding> causeFindings; ///< in the order of the rules, the deciding one first
    std::string toleranceProfile;            ///< its name; empty without one
    std::vector<CriterionOutcome> tolerance; ///< in the profile's order
    /// Where checks fail, in order: the first of neighbouring taps of a row; experts at their
    /// router, logits at the head. Only with a grid of sites.
    std::vector<GridPlace> beyondTolerance;
    std::string noiseFloor; ///< the repeat's file; empty without one
    int exit = 0;           ///< 0 equal, 1 divergent, 3 not comparable
    RunSummary reference, target;
    std::vector<EnvironmentDifference> environmentDifferences; ///< incidental fields left out
    AlignmentSummary alignment;
    FirstDivergences first;
    std::vector<Measure> measures; ///< in METRICS.md order; families A–F over lm_head.out
    std::vector<TapReport> taps;   ///< execution order of the reference
    std::vector<SampleReport> samples;

    // The grid behind the views; writers of text formats leave it out.
    std::vector<RowPair> rows;     ///< sample order of the reference, then position
    std::vector<TapPair> tapPairs; ///< parallel to taps
    std::vector<Site> sites;       ///< rows × tapPairs, row-major
    std::vector<LogitsRow> logits; ///< parallel to rows
    std::vector<std::pair<std::size_t, std::size_t>>
        routerPairs;               ///< indices into both headers' routers
    std::vector<RouteCell> routes; ///< rows × routerPairs, row-major

    const Site& site(std::size_t row, std::size_t tap) const
    {
        return sites[row * tapPairs.size() + tap];
    }
    const Measure* findMeasure(std::string_view id) const;
};

} // namespace moire::diff
