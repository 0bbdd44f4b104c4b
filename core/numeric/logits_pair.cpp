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

/// C3, C5, C6 and C11, entry by entry from p and y = ln(q/p). With h = y/2: p·ln(p/m) + q·ln(q/m) =
/// p·(h·expm1(y) − (2 + expm1(y))·ln cosh h); √q − √p = √p·expm1(h).
class RatioSums
{
public:
    void add(std::size_t i, double p, double y)
    {
        const double h = y / 2;
        const double half = std::expm1(h);
        m_hellinger.add(i, p * half * half);
        if (y > largestExponent) { // e^y times p: from q, so that nothing overflows early
            const double q = std::exp(y + std::log(p));
            m_jensenShannon.add(i, p == 0 ? 0 : q * std::log(2.0) + p * (std::log(2.0) - y));
        } else {
            const double em = half * (half + 2);
            m_jensenShannon.add(i, p * (h * em - (2 + em) * logCosh(h)));
        }
        const double em = std::expm1(y);
        m_chiSquare.add(i, p == 0 ? 0 : p * em * em);
        if (p > smallestShown || p * (em + 1) > smallestShown)
            m_largest = std::max(m_largest, std::fabs(y));
    }
    void finish(LogitsSums& sums) const
    {
        sums.jensenShannon = std::max(0.0, 0.5 * m_jensenShannon.total());
        sums.hellinger = std::sqrt(0.5 * m_hellinger.total());
        sums.chiSquare = m_chiSquare.total();
        sums.largestLogRatio = m_largest;
    }

private:
    static constexpr double smallestShown = 1e-6;
    /// ln cosh h; the series' next term is 3·10⁻³·h⁸.
    static double logCosh(double h)
    {
        const double square = h * h;
        if (square < seriesBound * seriesBound)
            return square * (0.5 - square / 12 + square * square / 45);
        const double size = std::fabs(h);
        return size + std::log1p(std::exp(-2 * size)) - std::log(2.0);
    }
    Striped m_jensenShannon, m_hellinger, m_chiSquare;
    double m_largest = 0;
};

/// Σw, E[s] and Var[s] of s = r − max under the weights w = e^{βs}.
struct Tempered
{
    double mean, variance;
};
Tempered temper(const Entries& e, double beta)
{
    Striped weight;
    Striped first;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double w = std::exp(beta * (e.r[i] - e.largestReference));
        weight.add(i, w);
        first.add(i, w * (e.r[i] - e.largestReference));
    }
    const double mean = first.total() / weight.total();
    Striped second;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double s = e.r[i] - e.largestReference;
        second.add(i, std::exp(beta * s) * (s - mean) * (s - mean));
    }
    return {mean, second.total() / weight.total()};
}

/// C10 by Newton's method. The mean grows with β, so a step that leaves [0, ∞) or does not shrink
/// is halved. `wanted`: E_q[s].
void fitTemperature(const Entries& e, double wanted, LogitsSums& sums)
{
    constexpr int mostSteps = 60;
    constexpr double small = 1e-14;
    sums.temperatureKl = sums.reverseKl;
    double beta = 1;
    Tempered at = temper(e, beta);
    if (!(at.variance > 0))
        return;
    for (int step = 0; step < mostSteps; ++step) {
        double next = beta + (wanted - at.mean) / at.variance;
        if (!(next > beta / 4))
            next = beta / 4;
        if (!(next < beta * 4))
            next = beta * 4;
        const double change = std::fabs(next - beta);
        beta = next;
        at = temper(e, beta);
        if (change <= small * beta || !(at.variance > 0))
            break;
    }
    sums.temperatureExponent = beta;
    // ln q − ln p_β without cancellation: the reverse KL of the rows (β·r, t).
    Striped weight;
    Striped growth;
    for (std::size_t i = 0; i < e.r.size(); ++i)
        if (e.use[i] != 0)
            weight.add(i, std::exp(beta * (e.r[i] - e.largestReference)));
    const double logWeight = std::log(weight.total());
    const auto ratio = [&](std::size_t i) {
        return e.t[i] - sums.targetLogSumExp - beta * (e.r[i] - e.largestReference) + logWeight;
    };
    for (std::size_t i = 0; i < e.r.size(); ++i)
        if (e.use[i] != 0) {
            const double y = ratio(i);
            const double q = std::exp(e.t[i] - sums.targetLogSumExp);
            // q·y − q + p_β, no term below 0
            growth.add(i, q * (y + std::expm1(-y)));
        }
    sums.temperatureKl = std::max(0.0, growth.total());
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
    RatioSums ratios;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double p = std::exp(e.r[i] - e.largestReference) / m.weightSum;
        ratios.add(i, p, e.t[i] - e.r[i] - m.mu - logGrowth);
        const double change = p * (std::expm1(e.t[i] - e.r[i] - m.mu) - a) / (1 + a);
        variation.add(i, std::fabs(change));
        squares.add(i, change * change);
        entropy.add(i, change * (e.r[i] - sums.referenceLogSumExp));
        sums.maxProbabilityChange = std::max(sums.maxProbabilityChange, std::fabs(change));
    }
    sums.totalVariation = 0.5 * variation.total();
    sums.sumProbabilitySquares = squares.total();
    sums.targetEntropy = sums.referenceEntropy - entropy.total() - sums.reverseKl;
    ratios.finish(sums);
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
    RatioSums ratios;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        if (e.use[i] == 0)
            continue;
        const double logP = e.r[i] - sums.referenceLogSumExp;
        const double logQ = e.t[i] - sums.targetLogSumExp;
        const double p = std::exp(logP);
        const double q = std::exp(logQ);
        const double change = q - p;
        ratios.add(i, p, logQ - logP);
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
    ratios.finish(sums);
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
    Striped wanted;
    for (std::size_t i = 0; i < entries.t.size(); ++i)
        if (entries.use[i] != 0)
            wanted.add(i, std::exp(entries.t[i] - sums.targetLogSumExp)
                              * (entries.r[i] - entries.largestReference));
    fitTemperature(entries, wanted.total(), sums);
    return sums;
}

} // namespace moire::numeric
