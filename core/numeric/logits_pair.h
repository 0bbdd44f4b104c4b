// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moire::numeric {

/// Distribution measures of one pair of full-vocabulary logits rows, p = softmax(r), q =
/// softmax(t), in nats, by a form without cancellation: y = ln(q/p) = d − ln E_p[e^d] with d = t −
/// r, KL(p‖q) = E_p[expm1(y) − y], KL(q‖p) = E_p[y·expm1(y) − (expm1(y) − y)], TV =
/// ½·E_p|expm1(y)|; no term is negative. bf16, fp16 and fp32 go through kernels: fp64 terms of
/// polynomials (3e-14 relative for e^x, 1e-12 for expm1(x) − x), summed in the stripes of
/// element_pair.h, the same bits for every instruction set. Divergences of two rows
/// of bf16 or of fp16 with logits up to 80 come from tables of e^x (logits_table.h): KLs within
/// 1e-7, the rest within 1e-9. Rows whose d lies more than 80 from its value at the reference's
/// best entry, and other dtypes, go one entry after the other, by an fp64 log-softmax where |y|
/// > 80. Relative error of KLs, distances and sums ≤ 1e-9, of the KLs ≤ 1e-5 down to 1e-10 nats of
/// fp32 logits near 20. Entries not finite on both sides are left out; `excluded` counts them.
struct LogitsSums
{
    double forwardKl = 0;
    double reverseKl = 0;
    double totalVariation = 0;
    double referenceLogSumExp = 0;
    double targetLogSumExp = 0;
    double referenceEntropy = 0; ///< nats
    double targetEntropy = 0;
    double meanDifference = 0;        ///< plain mean of d (B6)
    double weightedVariance = 0;      ///< Var_p(d) (B8)
    double sumProbabilitySquares = 0; ///< Σ(q−p)² (C7 numerator)
    double maxProbabilityChange = 0;  ///< C8
    double jensenShannon = 0;         ///< C3, nats
    double hellinger = 0;             ///< C5: √(½Σ(√p−√q)²)
    double chiSquare = 0;             ///< C6: Σ(q−p)²/p, infinite when it leaves fp64
    double largestLogRatio = 0;       ///< C11: max |ln(q/p)| over {p > 1e-6 or q > 1e-6}, nats
    /// C10: the β whose p_β ∝ p^β is nearest to q, by KL(q‖p_β) (E_pβ[ln p] = E_q[ln p]), and that
    /// KL. 1 and reverseKl where p is uniform, so that no β differs from another.
    double temperatureExponent = 1;
    double temperatureKl = 0;
    std::uint32_t excluded = 0;
    bool comparable = false; ///< at least two entries finite on both sides
};

enum class LogitsDetail : std::uint8_t
{
    Divergences, ///< the two KLs, total variation, log-sum-exps; the others may stay 0
    All
};

/// The largest elements of the chunks of two finite rows, which topK can start from; empty where
/// they were not found on the way.
struct LogitsPeaks
{
    std::vector<float> reference, target;
};

/// `peaks`: null where they are not wanted.
LogitsSums compareLogits(const std::byte* reference, DType referenceType, const std::byte* target,
                         DType targetType, std::size_t vocabulary,
                         LogitsDetail detail = LogitsDetail::All, LogitsPeaks* peaks = nullptr);

} // namespace moire::numeric
