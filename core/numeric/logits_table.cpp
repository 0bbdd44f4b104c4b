// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_table.h"

#include "core/numeric/exp_table.h"

#include <algorithm>
#include <cmath>

namespace moire::numeric {

namespace {

/// Largest logits that guessLogGrowth takes in fp32.
constexpr float leastPeak = -60;
constexpr float greatestPeak = 80;
/// Of ΣQ/ΣP, either way: beyond, the sums hide too much of each other.
constexpr double greatestGrowth = 16;
/// E_p[Δ/P − y] over the KL: more than this is a common shift, which costs digits.
constexpr double mostHidden = 32;

class TableRows
{
public:
    explicit TableRows(const LogitsRows& rows)
        : m_rows(rows)
    {
        m_request.table = expTable(rows.referenceType);
    }

    bool compare(double guess, LogitsSums& sums)
    {
        aimAt(guess);
        if (!accumulate())
            return false;
        if (hidesShift()) {
            constexpr double grid = 64; // a shift by one of 16 bits is met exactly
            m_request.centre = static_cast<float>(std::round(m_logGrowth * grid) / grid);
            if (m_request.centre == 0)
                return false;
            m_request.scale = plainExp(-static_cast<double>(m_request.centre));
            aimAt(m_logGrowth - static_cast<double>(m_request.centre));
            if (!accumulate() || hidesShift())
                return false;
        }
        set(sums);
        return true;
    }

private:
    void aimAt(double logGrowth)
    {
        constexpr double share = 1.0 / 256;
        constexpr double least = 1e-5;
        m_request.threshold = logGrowth;
        m_request.reach = static_cast<float>(share * std::fabs(logGrowth) + least);
    }

    /// Until the elements between the threshold and ln(1 + G) are among those listed.
    bool accumulate()
    {
        constexpr double sure = 0.9; // the list is made in fp32
        constexpr int mostPasses = 4;
        for (int pass = 0; pass < mostPasses; ++pass) {
            sumByTable(m_rows, m_request, m_sums);
            m_growth = m_sums.growth / m_sums.weight;
            if (!(1 + m_growth <= greatestGrowth && 1 + m_growth >= 1 / greatestGrowth
                  && std::isfinite(m_sums.joint)))
                return false;
            m_logGrowth = std::log1p(m_growth);
            m_excess = m_sums.excess / m_sums.weight;
            m_forward = std::max(0.0, m_excess - (m_growth - m_logGrowth));
            if (std::fabs(m_logGrowth - m_request.threshold)
                <= sure * static_cast<double>(m_request.reach)) {
                return true;
            }
            aimAt(m_logGrowth);
        }
        return false;
    }

    bool hidesShift() const { return !(m_excess <= mostHidden * m_forward); }

    /// Σ(Δ − G·P) over y > ln(1 + G): what lies between there and the threshold is put right.
    double above() const
    {
        double sum = m_sums.aboveGrowth - m_growth * m_sums.aboveWeight;
        const bool countedTooMany = m_request.threshold < m_logGrowth;
        for (const std::uint32_t i : m_sums.near) {
            const std::uint64_t r = bitsAt(m_rows.reference, m_rows.referenceType, i);
            const std::uint64_t t = bitsAt(m_rows.target, m_rows.targetType, i);
            const double y = toDouble(t, m_rows.targetType) - toDouble(r, m_rows.referenceType)
                             - static_cast<double>(m_request.centre);
            if ((y > m_request.threshold) == (y > m_logGrowth))
                continue;
            const double weight = m_request.table[r];
            const double term =
                growthByTable(weight, m_request.table[t], y, m_request) - m_growth * weight;
            sum += countedTooMany ? -term : term;
        }
        return std::max(0.0, sum);
    }

    void set(LogitsSums& sums) const
    {
        const double centre = static_cast<double>(m_request.centre);
        const double reverse = (m_sums.joint - m_sums.excess) / m_sums.weight;
        sums.forwardKl = m_forward;
        sums.reverseKl = std::max(0.0, (reverse + m_growth) / (1 + m_growth) - m_logGrowth);
        sums.totalVariation = above() / (m_sums.weight * (1 + m_growth));
        sums.referenceLogSumExp = std::log(m_sums.weight);
        sums.targetLogSumExp = sums.referenceLogSumExp + centre + m_logGrowth;
    }

    const LogitsRows& m_rows;
    TableRequest m_request;
    TableSums m_sums;
    double m_growth = 0;    ///< G
    double m_logGrowth = 0; ///< ln(1 + G)
    double m_excess = 0;    ///< E_p[Δ/P − y]
    double m_forward = 0;
};

} // namespace

bool compareByTable(const LogitsRows& rows, LogitsSums& sums, LogitsPeaks& peaks)
{
    const std::size_t chunks = (rows.count + logitsChunk - 1) / logitsChunk;
    peaks.reference.resize(chunks);
    peaks.target.resize(chunks);
    const double guess = guessLogGrowth(rows, peaks.reference.data(), peaks.target.data());
    for (const auto* side : {&peaks.reference, &peaks.target}) {
        const float largest = *std::max_element(side->begin(), side->end());
        if (!(largest >= leastPeak && largest <= greatestPeak))
            return false;
    }
    return TableRows(rows).compare(guess, sums);
}

} // namespace moire::numeric
