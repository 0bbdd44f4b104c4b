// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/records.h"

#include <array>
#include <cstdint>

/// What stands for what in two runs, and what a comparison keeps of each meeting: the cells behind
/// the views.
namespace moire::diff {

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
    bool sameTokens = true; ///< false: the same bytes, tokenised differently
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

} // namespace moire::diff
