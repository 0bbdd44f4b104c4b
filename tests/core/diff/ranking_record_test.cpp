// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/ranking_record.h"

#include <QtTest>

#include <cmath>
#include <vector>

using namespace moire;
using moire::diff::LogitsRecord;
using moire::diff::RankedSide;

namespace {

LogitsRecord rankingsOf(const std::vector<float>& reference, const std::vector<float>& target)
{
    constexpr std::size_t listed = 64;
    const auto logSumExp = [](const std::vector<float>& row) {
        double sum = 0;
        for (const float value : row)
            sum += std::exp(static_cast<double>(value));
        return std::log(sum);
    };
    const auto ours = numeric::topK(reference.data(), reference.size(), listed);
    const auto theirs = numeric::topK(target.data(), target.size(), listed);
    LogitsRecord record;
    diff::addRankings({ours, reference, logSumExp(reference)}, {theirs, target, logSumExp(target)},
                      record);
    return record;
}

} // namespace

class RankingRecordTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    // All logits equal: the first 90 % of the ids, plus one where the sum stays a hair below.
    void flatRows()
    {
        for (const std::size_t size : {128U, 2048U, 40000U}) {
            const std::vector<float> flat(size, 1.5F);
            const auto record = rankingsOf(flat, flat);
            const auto expected = static_cast<double>(size) * 0.9;
            QVERIFY(std::fabs(record.ranking.referenceNucleus - expected) <= 1);
            QCOMPARE(record.ranking.targetNucleus, record.ranking.referenceNucleus);
            QCOMPARE(record.ranking.nucleusJaccard, 1.0);
        }
    }

    // 10,000 tokens of e^3 in front of 30,000 of e^0: 200855 / 230855 = 0.870, so that 6,915 of the
    // others are needed; the target's heavy ones are the last ones.
    void twoLevels()
    {
        std::vector<float> reference(40000, 0);
        std::vector<float> target(40000, 0);
        for (std::size_t i = 0; i < 10000; ++i) {
            reference[i] = 3;
            target[39999 - i] = 3;
        }
        const auto record = rankingsOf(reference, target);
        QCOMPARE(record.ranking.referenceNucleus, 16915U);
        QCOMPARE(record.ranking.targetNucleus, 16915U);
        // Both hold 0 … 6,914 (the target as its lightest); the reference's others end at 16,914.
        QCOMPARE(record.ranking.nucleusJaccard, 6915.0 / (2 * 16915 - 6915));
    }

    void notFinite()
    {
        std::vector<float> row(300, 0);
        row[7] = std::numeric_limits<float>::infinity();
        const auto record = rankingsOf(row, std::vector<float>(300, 0));
        QVERIFY(std::isnan(record.ranking.nucleusJaccard));
    }
};

QTEST_APPLESS_MAIN(RankingRecordTest)
#include "ranking_record_test.moc"
