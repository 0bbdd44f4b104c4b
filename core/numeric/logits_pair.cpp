// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_pair.h"

#include "core/numeric/element_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace moire::numeric {

namespace {

/// Beyond this |x| the form without cancellation gives way to an fp64 log-softmax.
constexpr double largestExponent = 80;
/// Below this |x| expm1(x) − x is taken from its series: the difference would cancel.
constexpr double seriesBound = 1e-2;

/// A sum in stripes, added up as the balanced tree of element_pair.h.
class Striped
{
public:
    void add(std::size_t i, double term) { m_stripes[i % elementStripes] += term; }
    double total() const
    {
        auto s = m_stripes;
        for (std::size_t half = elementStripes / 2; half > 0; half /= 2)
            for (std::size_t i = 0; i < half; ++i)
                s[i] += s[i + half];
        return s[0];
    }

private:
    std::array<double, elementStripes> m_stripes{};
};

/// The entries finite on both sides, at their own places; `use[i]` is 0 for the others.
struct Entries
{
    std::vector<double> r, t;
    std::vector<char> use;
    std::size_t count = 0;
    double largestReference = -std::numeric_limits<double>::infinity();
    double largestTarget = -std::numeric_limits<double>::infinity();
};

Entries widen(const std::byte* reference, DType referenceType, const std::byte* target,
              DType targetType, std::size_t vocabulary)
{
    Entries e;
    e.r.resize(vocabulary);
    e.t.resize(vocabulary);
    e.use.resize(vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i) {
        e.r[i] = toDouble(bitsAt(reference, referenceType, i), referenceType);
        e.t[i] = toDouble(bitsAt(target, targetType, i), targetType);
        if (!std::isfinite(e.r[i]) || !std::isfinite(e.t[i]))
            continue;
        e.use[i] = 1;
        ++e.count;
        e.largestReference = std::max(e.largestReference, e.r[i]);
        e.largestTarget = std::max(e.largestTarget, e.t[i]);
    }
    return e;
}

/// expm1(x) − x, given expm1(x). Series: x²/2·(1 + x/3 + x²/12 + x³/60), next term x⁴/360.
double expm1MinusX(double x, double expm1X)
{
    if (std::fabs(x) < seriesBound)
        return x * x * 0.5 * (1 + x / 3 + x * x / 12 + x * x * x / 60);
    return expm1X - x;
}

/// What both forms share: log-sum-exp and entropy of the reference, mean and weighted moments of d.
struct Moments
{
    double weightSum = 0; ///< Σ exp(r − max)
    double mu = 0;        ///< E_p[d]
    double furthest = 0;  ///< max |d − μ|
};

Moments takeMoments(const Entries& e, LogitsSums& sums)
{
    Striped weight;
    Striped weightedD;
    Striped weightedR;
    Striped plainD;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double below = e.r[i] - e.largestReference;
        const double w = std::exp(below);
        const double d = e.t[i] - e.r[i];
        weight.add(i, w);
        weightedD.add(i, w * d);
        weightedR.add(i, w * below);
        plainD.add(i, d);
    }
    Moments m;
    m.weightSum = weight.total();
    m.mu = weightedD.total() / m.weightSum;
    Striped variance;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double x = e.t[i] - e.r[i] - m.mu;
        m.furthest = std::max(m.furthest, std::fabs(x));
        variance.add(i, std::exp(e.r[i] - e.largestReference) * x * x);
    }
    sums.meanDifference = plainD.total() / static_cast<double>(e.count);
    sums.weightedVariance = variance.total() / m.weightSum;
    sums.referenceLogSumExp = e.largestReference + std::log(m.weightSum);
    sums.referenceEntropy = std::log(m.weightSum) - weightedR.total() / m.weightSum;
    return m;
}

/// The form without cancellation. Entropy change: H(q) − H(p) = −Σ(q−p)·ln p − KL(q‖p).
void withoutCancellation(const Entries& e, const Moments& m, LogitsSums& sums)
{
    Striped excess;
    Striped reverse;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double w = std::exp(e.r[i] - e.largestReference);
        const double x = e.t[i] - e.r[i] - m.mu;
        const double em = std::expm1(x);
        excess.add(i, w * expm1MinusX(x, em));
        reverse.add(i, w * x * em);
    }
    const double a = excess.total() / m.weightSum;
    const double logGrowth = std::log1p(a);
    sums.forwardKl = logGrowth;
    sums.reverseKl = std::max(0.0, reverse.total() / m.weightSum / (1 + a) - logGrowth);
    sums.targetLogSumExp = sums.referenceLogSumExp + m.mu + logGrowth;

    Striped variation;
    Striped squares;
    Striped entropy;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double p = std::exp(e.r[i] - e.largestReference) / m.weightSum;
        const double change = p * (std::expm1(e.t[i] - e.r[i] - m.mu) - a) / (1 + a);
        variation.add(i, std::fabs(change));
        squares.add(i, change * change);
        entropy.add(i, change * (e.r[i] - sums.referenceLogSumExp));
        sums.maxProbabilityChange = std::max(sums.maxProbabilityChange, std::fabs(change));
    }
    sums.totalVariation = 0.5 * variation.total();
    sums.sumProbabilitySquares = squares.total();
    sums.targetEntropy = sums.referenceEntropy - entropy.total() - sums.reverseKl;
}

/// fp64 log-softmax of both sides, for differences so large that nothing cancels.
void bySoftmax(const Entries& e, LogitsSums& sums)
{
    Striped weight;
    for (std::size_t i = 0; i < e.t.size(); ++i)
        if (e.use[i] != 0)
            weight.add(i, std::exp(e.t[i] - e.largestTarget));
    sums.targetLogSumExp = e.largestTarget + std::log(weight.total());
    Striped forward;
    Striped reverse;
    Striped variation;
    Striped squares;
    Striped entropy;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double logP = e.r[i] - sums.referenceLogSumExp;
        const double logQ = e.t[i] - sums.targetLogSumExp;
        const double p = std::exp(logP);
        const double q = std::exp(logQ);
        const double change = q - p;
        forward.add(i, p * (logP - logQ));
        reverse.add(i, q * (logQ - logP));
        variation.add(i, std::fabs(change));
        squares.add(i, change * change);
        entropy.add(i, q * -logQ);
        sums.maxProbabilityChange = std::max(sums.maxProbabilityChange, std::fabs(change));
    }
    sums.forwardKl = std::max(0.0, forward.total());
    sums.reverseKl = std::max(0.0, reverse.total());
    sums.totalVariation = 0.5 * variation.total();
    sums.sumProbabilitySquares = squares.total();
    sums.targetEntropy = entropy.total();
}

} // namespace

LogitsSums compareLogits(const std::byte* reference, DType referenceType, const std::byte* target,
                         DType targetType, std::size_t vocabulary)
{
    const Entries entries = widen(reference, referenceType, target, targetType, vocabulary);
    LogitsSums sums;
    sums.excluded = static_cast<std::uint32_t>(vocabulary - entries.count);
    sums.comparable = entries.count >= 2;
    if (!sums.comparable)
        return sums;
    const Moments moments = takeMoments(entries, sums);
    if (!(moments.furthest <= largestExponent))
        bySoftmax(entries, sums);
    else
        withoutCancellation(entries, moments, sums);
    return sums;
}

} // namespace moire::numeric
