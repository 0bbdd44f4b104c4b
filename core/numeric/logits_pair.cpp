// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_pair.h"

#include "core/numeric/logits_far.h"
#include "core/numeric/logits_kernel.h"
#include "core/numeric/logits_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace moire::numeric {

namespace {

/// Differences beyond this (from the difference at the reference's best) are left to
/// compareFarLogits: e^80 still leaves room for squares.
constexpr double furthestDifference = 80;
/// Logits beyond this too: fp32 has no place left for differences of 1/8.
constexpr float largestValue = 1 << 20;
/// An entry is shown by C11 when its probability is above this on either side.
constexpr double shownProbability = 1e-6;

bool hasKernel(DType dtype)
{
    return dtype == DType::BF16 || dtype == DType::FP16 || dtype == DType::FP32;
}

float valueAt(const std::byte* data, DType dtype, std::size_t i)
{
    return static_cast<float>(toDouble(bitsAt(data, dtype, i), dtype));
}

/// Both rows in fp64.
struct WideRows
{
    std::vector<double> r, t;
    explicit WideRows(const LogitsRows& rows)
        : r(rows.count)
        , t(rows.count)
    {
        for (std::size_t i = 0; i < rows.count; ++i) {
            r[i] = static_cast<double>(valueAt(rows.reference, rows.referenceType, i));
            t[i] = static_cast<double>(valueAt(rows.target, rows.targetType, i));
        }
    }
};

/// One row pair within the reach of the kernels.
class NearRows
{
public:
    NearRows(const LogitsRows& rows, const LargestLogit& top, LogitsSums& sums)
        : m_rows(rows)
        , m_top(top)
        , m_targetAtTop(valueAt(rows.target, rows.targetType, top.index))
        , m_sums(sums)
    {}

    /// False when the rows are out of reach.
    bool compare(LogitsDetail detail)
    {
        if (!(std::fabs(m_top.value) <= largestValue && std::fabs(m_targetAtTop) <= largestValue))
            return false;
        const LogitsCentre centre = centreOfLogits(m_rows, m_top, m_targetAtTop);
        if (!(centre.furthest <= furthestDifference))
            return false;
        accumulate(centre, detail == LogitsDetail::All);
        setDivergences();
        if (detail == LogitsDetail::All) {
            setMoments();
            setRatios();
            fitTemperature();
        }
        return true;
    }

private:
    double mean(LogitsTerm term) const { return m_terms.sum(term) / m_weight; }

    /// The centre is c = ln E_p[e^d], known to about 1e-6 of E_p|expm1(d)| at first; what is left
    /// of it, ln(1 + S), corrects the sums exactly, all but E_p|expm1(y) − S|, whose signs it may
    /// turn within |expm1(y)| ≤ S: where that counts, the pass is made again.
    void accumulate(const LogitsCentre& centre, bool all)
    {
        constexpr double nearShare = 1e-5;
        constexpr double negligible = 1e-10;
        constexpr int mostPasses = 4;
        m_request.centre = std::log1p(centre.growth / centre.weight);
        m_request.near = nearShare * centre.size / centre.weight;
        m_request.shown = shownProbability * centre.weight;
        m_request.all = all;
        for (int pass = 0; pass < mostPasses; ++pass) {
            accumulateLogits(m_rows, m_top, m_targetAtTop, m_request, m_terms);
            m_weight = m_terms.sum(LogitsTerm::Weight);
            m_left = mean(LogitsTerm::Growth);
            if (std::fabs(m_left) <= m_request.near
                && std::fabs(m_left) * mean(LogitsTerm::Near)
                       <= negligible * mean(LogitsTerm::Magnitude))
                break;
            m_request.centre += std::log1p(m_left);
        }
        m_logLeft = std::log1p(m_left);
    }

    void setDivergences()
    {
        m_sums.forwardKl = std::max(0.0, mean(LogitsTerm::Excess) - m_left + m_logLeft);
        m_sums.reverseKl = reverseKl(mean(LogitsTerm::Reverse), m_left);
        m_sums.totalVariation =
            std::max(0.0, 0.5 * (mean(LogitsTerm::Magnitude) - m_left * mean(LogitsTerm::Sign))
                              / (1 + m_left));
        m_sums.referenceLogSumExp = static_cast<double>(m_top.value) + std::log(m_weight);
        m_sums.targetLogSumExp =
            static_cast<double>(m_targetAtTop) + std::log(m_weight) + m_request.centre + m_logLeft;
    }
    static double reverseKl(double reverse, double left)
    {
        return std::max(0.0, (reverse + left) / (1 + left) - std::log1p(left));
    }

    void setMoments()
    {
        const double below = mean(LogitsTerm::Below);
        // Σ(q − p)·s: what the entropies differ by beside the KL.
        m_meanShift = (mean(LogitsTerm::GrowthBelow) - m_left * below) / (1 + m_left);
        m_sums.referenceEntropy = std::log(m_weight) - below;
        m_sums.targetEntropy = m_sums.referenceEntropy - m_meanShift - m_sums.reverseKl;
        m_sums.meanDifference = sumOfDifferences(m_rows) / static_cast<double>(m_rows.count);
        const double distance = m_left - mean(LogitsTerm::Excess);
        m_sums.weightedVariance = std::max(0.0, mean(LogitsTerm::Distance) - distance * distance);
        const double square = m_terms.sum(LogitsTerm::GrowthSquare)
                              - 2 * m_left * m_terms.sum(LogitsTerm::WeightGrowth)
                              + m_left * m_left * m_terms.sum(LogitsTerm::WeightSquare);
        const double scale = m_weight * (1 + m_left);
        m_sums.sumProbabilitySquares = std::max(0.0, square) / (scale * scale);
        m_sums.maxProbabilityChange = largestChange();
    }

    /// |q − p| to the last digits, in the chunks that may hold the largest.
    double largestChange() const
    {
        constexpr double reach = 1 - 1e-6;
        const auto& chunks = m_terms.largestOfChunks;
        const double bound = reach * *std::max_element(chunks.begin(), chunks.end());
        double largest = 0;
        for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
            if (!(chunks[chunk] >= bound) || chunks[chunk] == 0)
                continue;
            const std::size_t end = std::min(m_rows.count, (chunk + 1) * logitsChunk);
            for (std::size_t i = chunk * logitsChunk; i < end; ++i) {
                const double s =
                    static_cast<double>(valueAt(m_rows.reference, m_rows.referenceType, i))
                    - static_cast<double>(m_top.value);
                const double up = static_cast<double>(valueAt(m_rows.target, m_rows.targetType, i))
                                  - static_cast<double>(m_targetAtTop);
                const double change =
                    std::exp(s) / m_weight * std::expm1(up - s - m_request.centre - m_logLeft);
                largest = std::max(largest, std::fabs(change));
            }
        }
        return largest;
    }

    void setRatios()
    {
        const double shrink = std::exp(-m_logLeft / 2);
        const double shift = std::expm1(-m_logLeft / 2);
        m_sums.hellinger = std::sqrt(
            std::max(0.0, 0.5
                              * (shrink * shrink * mean(LogitsTerm::HalfSquare)
                                 + 2 * shrink * shift * mean(LogitsTerm::Half) + shift * shift)));
        m_sums.chiSquare = std::max(0.0, mean(LogitsTerm::Square) - m_left * m_left)
                           / ((1 + m_left) * (1 + m_left));
        m_sums.jensenShannon = std::max(
            0.0, 0.5 * (mean(LogitsTerm::Shannon) - m_logLeft * mean(LogitsTerm::ShannonSlope)));
        m_sums.largestLogRatio =
            std::max(std::fabs(m_terms.lowest - m_logLeft), std::fabs(m_terms.highest - m_logLeft));
    }

    /// C10. E_pβ[s] grows with β at the rate Var_pβ[s]; each step solves the series of that growth
    /// up to its square. A β beyond the kernels' reach is found entry by entry.
    void fitTemperature()
    {
        constexpr int mostSteps = 40;
        constexpr double settled = 1e-5; // what is left then is about the square of the last step
        m_sums.temperatureKl = m_sums.reverseKl;
        if (m_meanShift == 0)
            return;
        const double about = mean(LogitsTerm::Below);
        Spread spread{0, mean(LogitsTerm::BelowSquare) - about * about,
                      mean(LogitsTerm::BelowCube) - 3 * about * mean(LogitsTerm::BelowSquare)
                          + 2 * about * about * about};
        double logWeight = std::log(m_weight);
        double beta = 1;
        for (int step = 0; step < mostSteps; ++step) {
            if (!(spread.variance > 0))
                return;
            const double change = stepTowards(m_meanShift - spread.shift, spread);
            const double next = beta + change;
            if (!(next >= leastExponent && next <= greatestExponent))
                return fitFarRows();
            beta = next;
            logWeight += change * (about + spread.shift + change / 2 * spread.variance);
            if (std::fabs(change) <= settled * std::fabs(beta - 1))
                break;
            const LogitsMoments at = momentsOfLogits(m_rows.reference, m_rows.referenceType,
                                                     m_rows.count, m_top.value, beta, about);
            logWeight = std::log(at.weight);
            const double first = at.first / at.weight;
            const double second = at.second / at.weight;
            spread = {first, second - first * first,
                      at.third / at.weight - 3 * first * second + 2 * first * first * first};
        }
        m_sums.temperatureExponent = beta;
        m_sums.temperatureKl = divergenceFrom(beta, logWeight);
    }

    /// E_pβ[s] − E_p[s], and the second and third central moments of s under p_β.
    struct Spread
    {
        double shift, variance, skew;
    };
    static double stepTowards(double wanted, const Spread& spread)
    {
        constexpr double trusted = 0.25;
        const double change = wanted / spread.variance;
        const double bend = spread.skew * change / (2 * spread.variance);
        return std::fabs(bend) <= trusted ? change * (1 - bend) : change;
    }

    /// KL(q‖p_β), `logWeight` = ln Σe^βs.
    double divergenceFrom(double beta, double logWeight) const
    {
        LogitsRequest request;
        request.exponent = beta;
        request.all = false;
        request.centre = m_request.centre + m_logLeft + std::log(m_weight) - logWeight;
        LogitsAccumulated terms;
        accumulateLogits(m_rows, m_top, m_targetAtTop, request, terms);
        const double weight = terms.sum(LogitsTerm::Weight);
        return reverseKl(terms.sum(LogitsTerm::Reverse) / weight,
                         terms.sum(LogitsTerm::Growth) / weight);
    }

    void fitFarRows()
    {
        const WideRows wide(m_rows);
        LogitsSums far;
        compareFarLogits(wide.r, wide.t, far);
        m_sums.temperatureExponent = far.temperatureExponent;
        m_sums.temperatureKl = far.temperatureKl;
    }

    const LogitsRows& m_rows;
    LargestLogit m_top;
    float m_targetAtTop;
    LogitsSums& m_sums;
    LogitsRequest m_request;
    LogitsAccumulated m_terms;
    double m_weight = 0;    ///< Σw
    double m_left = 0;      ///< S = E_p[expm1(y)]: 0 up to the centre's error
    double m_logLeft = 0;   ///< ln(1 + S)
    double m_meanShift = 0; ///< E_q[s] − E_p[s]
};

/// Rows of the same bits: only what one row tells.
void describeEqual(const LogitsRows& rows, LogitsSums& sums)
{
    const LargestLogit top = largestLogit(rows.reference, rows.referenceType, rows.count);
    const LogitsMoments moments =
        momentsOfLogits(rows.reference, rows.referenceType, rows.count, top.value, 1, 0);
    sums.referenceLogSumExp = static_cast<double>(top.value) + std::log(moments.weight);
    sums.targetLogSumExp = sums.referenceLogSumExp;
    sums.referenceEntropy = std::log(moments.weight) - moments.first / moments.weight;
    sums.targetEntropy = sums.referenceEntropy;
}

/// Finite rows of dtypes with kernels.
void compareFinite(const LogitsRows& rows, LogitsDetail detail, LogitsSums& sums)
{
    const LargestLogit top = largestLogit(rows.reference, rows.referenceType, rows.count);
    if (std::fabs(top.value) <= largestValue && rows.referenceType == rows.targetType
        && std::memcmp(rows.reference, rows.target, rows.count * sizeOf(rows.referenceType)) == 0)
        return describeEqual(rows, sums);
    if (NearRows(rows, top, sums).compare(detail))
        return;
    const WideRows wide(rows);
    compareFarLogits(wide.r, wide.t, sums);
}

/// The divergences where the table's form reaches; false, and nothing set, where it does not.
bool divergencesByTable(const LogitsRows& rows, LogitsPeaks* wanted, LogitsSums& sums)
{
    LogitsPeaks peaks;
    if (rows.count < logitsChunk || rows.referenceType != rows.targetType
        || (rows.referenceType != DType::BF16 && rows.referenceType != DType::FP16)
        || std::memcmp(rows.reference, rows.target, rows.count * sizeOf(rows.referenceType)) == 0
        || !compareByTable(rows, sums, peaks))
        return false;
    sums.comparable = true;
    if (wanted != nullptr)
        *wanted = std::move(peaks);
    return true;
}

/// The entries finite on both sides, brought together.
template <class Value>
struct FiniteEntries
{
    std::vector<Value> r, t;
    FiniteEntries(const std::byte* reference, DType referenceType, const std::byte* target,
                  DType targetType, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            const double a = toDouble(bitsAt(reference, referenceType, i), referenceType);
            const double b = toDouble(bitsAt(target, targetType, i), targetType);
            if (!std::isfinite(a) || !std::isfinite(b))
                continue;
            r.push_back(static_cast<Value>(a));
            t.push_back(static_cast<Value>(b));
        }
    }
};

} // namespace

LogitsSums compareLogits(const std::byte* reference, DType referenceType, const std::byte* target,
                         DType targetType, std::size_t vocabulary, LogitsDetail detail,
                         LogitsPeaks* peaks)
{
    LogitsSums sums;
    if (detail == LogitsDetail::Divergences && vocabulary >= 2
        && divergencesByTable({reference, referenceType, target, targetType, vocabulary}, peaks,
                              sums))
        return sums;
    const auto keep = [&](std::size_t count) {
        sums.excluded = static_cast<std::uint32_t>(vocabulary - count);
        sums.comparable = count >= 2;
        return sums.comparable;
    };
    if (!hasKernel(referenceType) || !hasKernel(targetType)) {
        const FiniteEntries<double> entries(reference, referenceType, target, targetType,
                                            vocabulary);
        if (keep(entries.r.size()))
            compareFarLogits(entries.r, entries.t, sums);
    } else if (allFinite(reference, referenceType, vocabulary)
               && allFinite(target, targetType, vocabulary)) {
        if (keep(vocabulary))
            compareFinite({reference, referenceType, target, targetType, vocabulary}, detail, sums);
    } else {
        const FiniteEntries<float> entries(reference, referenceType, target, targetType,
                                           vocabulary);
        if (keep(entries.r.size()))
            compareFinite({reinterpret_cast<const std::byte*>(entries.r.data()), DType::FP32,
                           reinterpret_cast<const std::byte*>(entries.t.data()), DType::FP32,
                           entries.r.size()},
                          detail, sums);
    }
    return sums;
}

} // namespace moire::numeric
