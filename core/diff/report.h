// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <array>
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

struct Interval
{
    double low;
    double high;
    std::string method;
};

/// What one sample adds to a measure that is a ratio of sums over rows: resampling by sample and
/// studies over several targets start from these.
struct SampleShare
{
    double numerator = 0;
    double denominator = 0;
};

/// How the two sums of a ratio become the value.
enum class RatioForm : std::uint8_t
{
    None,     ///< the measure is no ratio of sums
    Quotient, ///< n / d
    Percent,  ///< 100 · n / d
    PerMillion,
    Root ///< √(n / d), 0 for 0 / d
};

/// One number of METRICS.md with everything that belongs to it.
struct Measure
{
    std::string id; ///< "E3[k=5]"
    std::string name;
    std::string family; ///< "A" … "L"
    std::string unit;
    std::optional<double> value; ///< the first quantity that the id names
    std::uint64_t n = 0; ///< what the value was taken over (elements, positions, slots, samples)
    std::optional<Interval> interval;
    std::string whyNoInterval;                ///< set when there is a value and no interval
    RatioForm form = RatioForm::None;         ///< for the writers' eyes only, like bySample
    std::vector<SampleShare> bySample;        ///< parallel to Report::samples; empty without a form
    std::map<std::string, double> parameters; ///< the id's other quantities
    std::map<std::string, double> percentiles;     ///< "0.1", "50", "max", …
    std::vector<std::optional<double>> byPosition; ///< index = position
    std::map<std::int32_t, double> byLayer;
    std::map<std::string, double> byGroup;          ///< by category
    std::vector<std::vector<std::uint64_t>> matrix; ///< A7: 6 × 6, reference class × target class
    std::string at;                                 ///< site of the extreme, SITE form
    std::string whyNull;                            ///< set when value is absent
};

/// Two rows that stand for the same position.
struct RowPair
{
    trace::RowIndex reference = 0;
    trace::RowIndex target = 0;
    trace::SampleIndex sample{}; ///< of the reference
    std::uint32_t position = 0;
};

/// Two taps that stand for the same values: whole, or slices of a fused projection.
struct TapPair
{
    trace::TapIndex reference{};
    trace::TapIndex target{};
    std::uint32_t referenceOffset = 0; ///< first element of the slice
    std::uint32_t targetOffset = 0;
    std::uint32_t width = 0; ///< elements compared, ≥ 1

    /// Whether both are whole taps of that width: then their row digests say whether they are
    /// equal.
    bool whole(std::uint32_t referenceWidth, std::uint32_t targetWidth) const
    {
        return width == referenceWidth && width == targetWidth;
    }
};

/// Tokens of a sample that stand for each other: before the split one block of equal ids from 0 on,
/// after it the blocks found by re-alignment. Values after the split are never compared.
struct TokenBlock
{
    std::uint32_t referenceBegin = 0;
    std::uint32_t targetBegin = 0;
    std::uint32_t referenceLength =
        0; ///< differs from targetLength only where tokenised differently
    std::uint32_t targetLength = 0;
};

/// What the fold keeps of one site (row pair × tap pair); the heat map's cell.
struct Site
{
    enum class State : std::uint8_t
    {
        NotRecorded,
        Equal,
        Different
    };
    State state = State::NotRecorded; ///< by digest when values are absent
    bool valuesCompared = false;
    std::uint32_t elements = 0;
    std::uint32_t unequal = 0;      ///< elements whose bits differ
    std::uint64_t maxUlp = 0;       ///< NaN pairs left out
    std::uint32_t classChanges = 0; ///< elements whose value class differs beyond sign of zero
    std::uint32_t worstElement =
        0;             ///< a difference of class first, then largest |Δ|, then lowest index
    double maxAbs = 0; ///< over elements finite on both sides
    double sumAbs = 0;
    double sumSquares = 0;       ///< Σ(t−r)²
    double referenceSquares = 0; ///< Σr²
    double targetSquares = 0;    ///< Σt²
    double dot = 0;              ///< Σr·t
    std::uint64_t sumUlp = 0;
    std::uint32_t finite = 0; ///< elements finite on both sides, which the sums run over

    double relativeL2()
        const; ///< √(sumSquares / referenceSquares); 0 when both are 0; Inf when only the latter
    double oneMinusCosine() const; ///< ½‖r̂ − t̂‖² from the sums; NaN when a side is zero
};

/// What the fold keeps of one pair of logits rows.
struct LogitsRow
{
    bool compared = false; ///< full vocabulary on both sides, finite enough for the measures below
    double forwardKl = 0;  ///< KL(p‖q), nats (C1)
    double reverseKl = 0;  ///< C2
    double totalVariation = 0;                      ///< C4
    std::int32_t referenceTop = -1, targetTop = -1; ///< argmax, ties to the lowest id
    double referenceMargin = 0, targetMargin = 0;   ///< best minus second best logit
    std::array<std::uint8_t, 6> overlap{};          ///< |A∩B| for K = 1, 2, 5, 10, 20, 64
    std::uint8_t setEqual = 0;                      ///< bit i: sets equal for the i-th K
    std::uint8_t orderEqual = 0;                    ///< bit i: sequences equal for the i-th K
    std::uint8_t known = 0;                         ///< bit i: both sides recorded at least that K
};
inline constexpr std::array<std::uint32_t, 6> topKSizes{1, 2, 5, 10, 20, 64};

/// What the fold keeps of one MoE layer at one row pair.
struct RouteCell
{
    std::uint8_t chosen = 0;   ///< k; 0: not recorded
    std::uint8_t replaced = 0; ///< k − |A∩B|
    bool orderEqual = false;
    float referenceMargin = 0; ///< g_(k) − g_(k+1) of the router logits (or scores)
    float targetMargin = 0;
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
    std::vector<std::string> tapsOnlyReference, tapsOnlyTarget;
    std::uint64_t rowsOnlyReference = 0, rowsOnlyTarget = 0; ///< no counterpart recorded
    std::uint64_t rowsNotComparableReference = 0, rowsNotComparableTarget = 0; ///< after a split
    std::uint64_t missingReference = 0,
                  missingTarget = 0; ///< of incomplete captures, as far as known
    bool incompleteReference = false, incompleteTarget = false;
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
    std::optional<double> worst; ///< in the criterion's own quantity
    std::string at;              ///< SITE of the worst
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
    int exit = 0;                            ///< 0 equal, 1 divergent, 3 not comparable
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
