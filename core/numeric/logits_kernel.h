// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/element_pair.h"
#include "core/numeric/top_k.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The passes of logits_pair.cpp over a row, by the best instruction set. Every target gives the
/// same bits: no fused operation is used, terms are made one by one and summed in the stripes of
/// element_pair.h.
namespace moire::numeric {

/// Elements that a pass takes in one go.
inline constexpr std::size_t logitsChunk = 256;

/// Two rows of finite bf16, fp16 or fp32, any alignment.
struct LogitsRows
{
    const std::byte* reference;
    DType referenceType;
    const std::byte* target;
    DType targetType;
    std::size_t count; ///< ≥ 1
};

/// True when no element is NaN or infinite.
bool allFinite(const std::byte* data, DType dtype, std::size_t count);

/// The first of the largest elements.
struct LargestLogit
{
    float value;
    std::size_t index;
};
LargestLogit largestLogit(const std::byte* data, DType dtype, std::size_t count);

/// With s = r − max and d = (t − t of the largest) − s: sums good enough (1e-6) to centre by, in
/// fp32 with weights e^s.
struct LogitsCentre
{
    double weight = 0;   ///< Σw
    double growth = 0;   ///< Σw·expm1(d)
    double size = 0;     ///< Σw·|expm1(d)|
    double furthest = 0; ///< max |d|
};
LogitsCentre centreOfLogits(const LogitsRows& rows, const LargestLogit& top, float targetAtTop);

/// Names of the sums; w = e^βs, y = d − centre, u = expm1(y/2), m = expm1(y).
enum class LogitsTerm : std::uint8_t
{
    Weight,            ///< w
    Growth,            ///< w·m
    Excess,            ///< w·(m − y)
    Reverse,           ///< w·(y·m − (m − y))
    Magnitude,         ///< w·|m|
    Sign,              ///< w with the sign of m
    Near,              ///< w where |m| ≤ near
    CoreCount,         ///< the terms before are all that LogitsDetail::Divergences needs
    Below = CoreCount, ///< w·s
    Square,            ///< w·m²
    WeightSquare,      ///< w²
    WeightGrowth,      ///< w²·m
    GrowthSquare,      ///< w²·m²
    Half,              ///< w·u
    HalfSquare,        ///< w·u²
    Shannon,           ///< w·j, j = h·m − (2 + m)·ln cosh h, h = y/2
    ShannonSlope,      ///< w·j′/2 by y: w·(1 + m)·(h − ln cosh h)
    Distance,          ///< w·y²
    GrowthBelow,       ///< w·m·s
    BelowSquare,       ///< w·s²
    BelowCube,         ///< w·s³
    Count
};
inline constexpr auto logitsTerms = static_cast<std::size_t>(LogitsTerm::Count);

struct LogitsRequest
{
    double exponent = 1; ///< β
    double centre = 0;
    double near = 0;
    double shown = 0; ///< the largest log ratio is taken where w > shown or w·e^y > shown
    bool all = true;  ///< false: the core terms only
};

struct LogitsAccumulated
{
    std::array<double, logitsTerms> sums{};
    double lowest = 0, highest = 0;      ///< of y, where shown; 0 when nothing is
    std::vector<double> largestOfChunks; ///< max |w·m|
    double sum(LogitsTerm term) const { return sums[static_cast<std::size_t>(term)]; }
};
void accumulateLogits(const LogitsRows& rows, const LargestLogit& top, float targetAtTop,
                      const LogitsRequest& request, LogitsAccumulated& result);

/// Σ(t − r).
double sumOfDifferences(const LogitsRows& rows);

/// Exponents β that accumulateLogits and momentsOfLogits take.
inline constexpr double leastExponent = 0.25;
inline constexpr double greatestExponent = 4;

/// Σw·(s − about)ⁿ of one row, n = 0 … 3, w = e^βs.
struct LogitsMoments
{
    double weight = 0, first = 0, second = 0, third = 0;
};
LogitsMoments momentsOfLogits(const std::byte* data, DType dtype, std::size_t count, float largest,
                              double exponent, double about);

/// The largest element of every chunk, into count / logitsChunk places, rounded up. Finite rows.
void largestOfChunks(const std::byte* data, DType dtype, std::size_t count, float* largest);

/// Appends the elements ≥ bound of the chunks whose largest is, in ascending order of index.
void collectAtLeast(const std::byte* data, DType dtype, std::size_t count, const float* largest,
                    float bound, std::vector<Ranked>& found);

/// Of one chunk from `begin` on (finite rows): pairs equal after rounding to bf16, and about the
/// largest |d|/(|r| + floor), in fp32.
struct ChunkSpread
{
    std::uint32_t roundedEqual;
    float relative;
};
/// All chunks: one entry of `chunks` each; adds Σ(d − mean)² up.
double spreadOfChunks(const LogitsRows& rows, double mean, float floor, ChunkSpread* chunks);

/// Pairs of the same sign and exponent, and Σ|Δmantissa| over them. Finite rows of one dtype.
struct FieldSums
{
    std::uint64_t matched = 0, distance = 0;
};
FieldSums compareFields(const std::byte* reference, const std::byte* target, DType dtype,
                        std::size_t count);

} // namespace moire::numeric
