// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_far.h"

#include "core/numeric/element_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

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

/// Both rows, and their largest entries.
struct Entries
{
    std::span<const double> r, t;
    double largestReference;
    double largestTarget;
};

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
        const double x = e.t[i] - e.r[i] - m.mu;
        m.furthest = std::max(m.furthest, std::fabs(x));
        variance.add(i, std::exp(e.r[i] - e.largestReference) * x * x);
    }
    sums.meanDifference = plainD.total() / static_cast<double>(e.r.size());
    sums.weightedVariance = variance.total() / m.weightSum;
    sums.referenceLogSumExp = e.largestReference + std::log(m.weightSum);
    sums.referenceEntropy = std::log(m.weightSum) - weightedR.total() / m.weightSum;
    return m;
}

/// C3, C5, C6 and C11, entry by entry from ln p and y = ln(q/p). With h = y/2: p·ln(p/m) +
/// q·ln(q/m) = p·(h·expm1(y) − (2 + expm1(y))·ln cosh h); √q − √p = √p·expm1(h). Far apart nothing
/// cancels.
class RatioSums
{
public:
    void add(std::size_t i, double logP, double y)
    {
        const double p = std::exp(logP);
        const double q = std::exp(logP + y);
        if (std::fabs(y) <= 1) {
            const double h = y / 2;
            const double half = std::expm1(h);
            const double em = half * (half + 2);
            m_hellinger.add(i, p * half * half);
            m_jensenShannon.add(i, p * (h * em - (2 + em) * logCosh(h)));
            m_chiSquare.add(i, p * em * em);
        } else {
            const double step = std::sqrt(q) - std::sqrt(p);
            m_hellinger.add(i, step * step);
            m_jensenShannon.add(i,
                                p * (ln2 - logOnePlusPower(y)) + q * (ln2 - logOnePlusPower(-y)));
            m_chiSquare.add(i, y > 0 ? std::exp(logP + 2 * y) - 2 * q + p
                                     : p * std::expm1(y) * std::expm1(y));
        }
        if (p > smallestShown || q > smallestShown)
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
    static constexpr double ln2 = 0.6931471805599453;
    /// ln(1 + e^y)
    static double logOnePlusPower(double y)
    {
        return y > 0 ? y + std::log1p(std::exp(-y)) : std::log1p(std::exp(y));
    }
    /// ln cosh h; the series' next term is 3·10⁻³·h⁸.
    static double logCosh(double h)
    {
        const double square = h * h;
        if (square < seriesBound * seriesBound)
            return square * (0.5 - square / 12 + square * square / 45);
        const double size = std::fabs(h);
        return size + std::log1p(std::exp(-2 * size)) - ln2;
    }
    Striped m_jensenShannon, m_hellinger, m_chiSquare;
    double m_largest = 0;
};

/// E[s] and Var[s] of s = r − max under p_β ∝ e^βs, and ln Σe^βs.
struct Tempered
{
    double mean, variance, logWeight;
};
Tempered temper(const Entries& e, double beta)
{
    const double least = *std::min_element(e.r.begin(), e.r.end()) - e.largestReference;
    const double top = beta < 0 ? beta * least : 0;
    Striped weight;
    Striped first;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        const double s = e.r[i] - e.largestReference;
        const double w = std::exp(beta * s - top);
        weight.add(i, w);
        first.add(i, w * s);
    }
    const double mean = first.total() / weight.total();
    Striped second;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        const double s = e.r[i] - e.largestReference;
        second.add(i, std::exp(beta * s - top) * (s - mean) * (s - mean));
    }
    return {mean, second.total() / weight.total(), top + std::log(weight.total())};
}

/// C10: E_pβ[s] = `wanted` = E_q[s], which grows with β, by Newton's method within a bracket. A
/// one-sided q may ask for an infinite β: the search ends where nothing varies any more.
double fittedExponent(const Entries& e, double wanted)
{
    constexpr int mostSteps = 200;
    constexpr double small = 1e-15;
    double low = -std::numeric_limits<double>::infinity();
    double high = -low;
    double beta = 1;
    double reach = 1;
    for (int step = 0; step < mostSteps; ++step) {
        const Tempered at = temper(e, beta);
        (at.mean < wanted ? low : high) = beta;
        if (!(at.variance > 0) || at.mean == wanted)
            break;
        double next = beta + (wanted - at.mean) / at.variance;
        next = std::clamp(next, beta - reach, beta + reach);
        reach *= 2;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (std::fabs(next - beta) <= small * std::fabs(beta))
            break;
        beta = next;
    }
    return beta;
}

void fitTemperature(const Entries& e, LogitsSums& sums)
{
    sums.temperatureKl = sums.reverseKl;
    if (!(temper(e, 1).variance > 0))
        return;
    Striped wanted;
    for (std::size_t i = 0; i < e.t.size(); ++i)
        wanted.add(i, std::exp(e.t[i] - sums.targetLogSumExp) * (e.r[i] - e.largestReference));
    const double beta = fittedExponent(e, wanted.total());
    const double logWeight = temper(e, beta).logWeight;
    Striped divergence;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        const double logQ = e.t[i] - sums.targetLogSumExp;
        const double y = logQ - beta * (e.r[i] - e.largestReference) + logWeight;
        divergence.add(i, std::exp(logQ) * (y + std::expm1(-y))); // q·y − q + p_β: never negative
    }
    sums.temperatureExponent = beta;
    sums.temperatureKl = std::max(0.0, divergence.total());
}

/// The form without cancellation. Entropy change: H(q) − H(p) = −Σ(q−p)·ln p − KL(q‖p).
void withoutCancellation(const Entries& e, const Moments& m, LogitsSums& sums)
{
    Striped excess;
    Striped reverse;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
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
        const double p = std::exp(e.r[i] - e.largestReference) / m.weightSum;
        ratios.add(i, e.r[i] - sums.referenceLogSumExp, e.t[i] - e.r[i] - m.mu - logGrowth);
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
        weight.add(i, std::exp(e.t[i] - e.largestTarget));
    sums.targetLogSumExp = e.largestTarget + std::log(weight.total());
    Striped forward;
    Striped reverse;
    Striped variation;
    Striped squares;
    Striped entropy;
    RatioSums ratios;
    for (std::size_t i = 0; i < e.r.size(); ++i) {
        const double logP = e.r[i] - sums.referenceLogSumExp;
        const double logQ = e.t[i] - sums.targetLogSumExp;
        const double p = std::exp(logP);
        const double q = std::exp(logQ);
        const double change = q - p;
        ratios.add(i, logP, logQ - logP);
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

void compareFarLogits(std::span<const double> reference, std::span<const double> target,
                      LogitsSums& sums)
{
    const Entries entries{reference, target, *std::max_element(reference.begin(), reference.end()),
                          *std::max_element(target.begin(), target.end())};
    const Moments moments = takeMoments(entries, sums);
    if (!(moments.furthest <= largestExponent))
        bySoftmax(entries, sums);
    else
        withoutCancellation(entries, moments, sums);
    fitTemperature(entries, sums);
}

} // namespace moire::numeric
