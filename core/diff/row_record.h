// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/diff/table_bounds.h"
#include "core/numeric/logits_pair.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// What the fold keeps of one row pair. A record depends on its own row pair only, so that records
/// can be made in any order; all sums over rows are taken from them in row order at the end.
namespace moire::diff {

/// A cell of a site's class matrix that is not (normal, normal): few sites have any.
struct ClassCell
{
    std::uint32_t tap = 0; ///< index of the tap pair
    std::uint8_t cell = 0; ///< reference class · 6 + target class, or withoutCounterpart
    std::uint32_t count = 0;
};

/// The cell of elements that stand for an expert which the other run did not choose.
inline constexpr std::uint8_t withoutCounterpart = 36;

inline constexpr double notKnown = std::numeric_limits<double>::quiet_NaN();

/// The K that E7 is taken at, and the thresholds of F2 in logits.
inline constexpr std::array<std::uint32_t, 2> rankAgreementSizes{5, 20};
inline constexpr std::array<double, 4> crowdWidths{0.25, 0.5, 1, 2};

/// What two rankings of a row tell beyond LogitsRow. A NaN is not known; bit i stands for the i-th
/// of topKSizes.
struct RankingRecord
{
    static constexpr std::uint8_t notListed = 255;

    std::uint8_t tieKnown = 0; ///< E5 can be said
    std::uint8_t tied = 0;     ///< a side's best K can be ordered or chosen in several ways
    std::uint8_t setPossible = 0, setCertain = 0;     ///< some, every way of breaking ties agrees
    std::uint8_t orderPossible = 0, orderCertain = 0; ///< the same of the sequence
    /// E10, where free runs part: the target's token's rank in the reference and the other way
    /// round.
    std::uint8_t targetTokenRank = notListed, referenceTokenRank = notListed;
    std::array<double, rankAgreementSizes.size()> kendall{notKnown, notKnown}; ///< E7, τ_b
    std::array<double, rankAgreementSizes.size()> rankBiased{notKnown, notKnown};
    double renormalisedVariation = notKnown; ///< E8
    double nucleusJaccard = notKnown;        ///< E11
    std::uint32_t referenceNucleus = 0, targetNucleus = 0;
};

/// How a row's d = z_t − z_r is spread, over the elements finite on both sides.
struct SpreadRecord
{
    std::array<double, 2> gapLoss{notKnown, notKnown}; ///< B10, k = 1 and 5
    std::array<std::uint32_t, 2> outside{}; ///< B11: elements that fail, strict and loose
    double referenceSum = 0, targetSum = 0; ///< B12
    std::array<std::uint32_t, crowdWidths.size()> crowd{}; ///< F2, of the reference
    double slack = notKnown;     ///< F3: margin_r − max_j(d_j − d_a), a the reference's best
    double halfRange = notKnown; ///< F3: ½(max d − min d)
};

/// What is kept of a pair of logits rows beyond LogitsRow. Absent numbers are unknown.
struct LogitsRecord
{
    LogitsRow row;
    bool full = false;         ///< the values of lm_head.out were read on both sides
    bool tablesDiffer = false; ///< the recorded top-K tables differ in an id or a value
    numeric::LogitsSums sums;  ///< valid where row.compared

    // Element-wise, valid where `full`.
    std::uint32_t roundedEqual = 0;    ///< equal after rounding to bf16 (A2)
    std::uint32_t exponentMatched = 0; ///< finite, sign and exponent fields equal (A5)
    double mantissaDistance = 0;       ///< Σ|Δmantissa| over those, in units of the last place
    double maxRelative = 0;            ///< B3
    std::uint32_t maxRelativeAt = 0;
    double centredSquares = 0; ///< Σ(d − mean d)² over elements finite on both sides (B7)

    std::optional<double> directionalError; ///< d_b − d_a, (a, b) the reference's top two (B9)
    std::optional<std::int32_t> rankOfTop;  ///< the target's rank of the reference's best (E6)
    std::optional<std::int32_t> rankShift;  ///< largest rank change within the reference's top 5
    std::array<std::optional<double>, topKSizes.size()> referenceMass, targetMass; ///< E9
    std::optional<std::uint64_t> referenceMarginUlps, targetMarginUlps;            ///< F1
    std::optional<double> flipGap; ///< z_r[a] − z_r[b], a and b the two choices; only on flips (F4)
    std::optional<std::uint64_t> flipGapUlps;
    bool topNotFinite = false;           ///< a side's best logit is NaN or infinite
    std::optional<double> claimedMargin; ///< max z_t − z_t[y], y the reference's next token (F7)
    bool claimMissed = false;            ///< that token is in no table of the target's row
    bool directionMissed = false; ///< B9: the target's table lacks one of the reference's best two

    // The token that follows in both runs: natural log-probabilities as recorded (D).
    std::optional<double> referenceLogProb, targetLogProb;
    std::int32_t referenceNext = -1, targetNext = -1; ///< the tokens that follow, −1: none
    bool predictsResponse = false;                    ///< a response token follows in the reference
    bool targetPredictsResponse = false;              ///< and in the target

    RankingRecord ranking;
    SpreadRecord spread; ///< valid where `full`
    /// What tables say where values were not recorded; null where they were, or say nothing.
    std::shared_ptr<const TableBounds> bounds;
};

/// What is kept of one MoE layer at one row pair.
struct RouteRecord
{
    RouteCell cell;
    std::uint32_t overlap = 0;   ///< |A∩B|
    std::uint32_t unionSize = 0; ///< |A∪B|
    double logitSquares = 0;     ///< Σ(g_t − g_r)² over logits finite on both sides (H6)
    std::uint32_t logitCount = 0;
    double gateDistance = 0; ///< Σ_E |w_t − w_r|, 0 where not chosen (H7); NaN: a weight is none
    std::optional<double> gateKl;            ///< KL of the full gate softmax, nats
    std::optional<std::uint64_t> marginUlps; ///< reference margin in the logits' last places (H8)
    std::optional<double> margin; ///< reference margin; none where every expert is chosen
    std::vector<std::int32_t> referenceIds, targetIds; ///< slot order, padding left out
};

/// What an element-wise tolerance found at a site that differs.
struct ElementwiseCell
{
    std::uint32_t tap = 0;    ///< index of the tap pair
    std::uint32_t beyond = 0; ///< elements beyond the tolerance
    double largest = 0; ///< max |t − r| / (atol + rtol·|r|); Inf where that is not a number
};

struct RowRecord
{
    std::span<Site> sites;          ///< one a tap pair; the memory is the fold's
    std::vector<ClassCell> classes; ///< by tap pair, then cell
    /// Tap pairs where an element is NaN, +Inf, −Inf or finite on one side only.
    std::vector<std::uint32_t> nonFinite;
    std::vector<ElementwiseCell> elementwise; ///< by tap pair; only where a tolerance asks for it
    LogitsRecord logits;
    std::vector<RouteRecord> routes; ///< one a router pair
};

} // namespace moire::diff
