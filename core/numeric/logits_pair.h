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
    std::uint32_t excluded = 0;
    bool comparable = false; ///< at least two entries finite on both sides
};

LogitsSums compareLogits(const std::byte* reference, DType referenceType, const std::byte* target,
                         DType targetType, std::size_t vocabulary);

} // namespace moire::numeric
