// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::numeric {

/// Distribution measures of one pair of full-vocabulary logits rows, p = softmax(r), q =
/// softmax(t), in nats, by the form without cancellation: μ = E_p[d], x = d − μ, A = E_p[expm1(x) −
/// x], KL(p‖q) = log1p(A), KL(q‖p) = E_p[x·expm1(x)]/(1+A) − log1p(A), TV = ½·E_p|expm1(x) −
/// A|/(1+A). Never negative; relative error of the KLs ≤ 1e-5 down to 1e-10 nats. Sums in fp64,
/// striped as in element_pair.h. Where |x| > 80 or a value is not finite, an fp64 log-softmax over
/// the entries finite on both sides is used and `excluded` counts the others.
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

LogitsSums compareLogits(const std::byte* reference, DType referenceType, const std::byte* target,
                         DType targetType, std::size_t vocabulary);

} // namespace moire::numeric
