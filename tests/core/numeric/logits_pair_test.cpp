// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_pair.h"
#include "core/numeric/logits_spread.h"
#include "core/numeric/simd_target.h"
#include "core/numeric/top_k.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace moire::numeric;

namespace {

using Row = std::vector<std::byte>;

Row rowOf(const std::vector<float>& values, DType dtype)
{
    Row row(values.size() * sizeOf(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint32_t bits = 0;
        if (dtype == DType::BF16)
            bits = bf16FromFloat(values[i]);
        else if (dtype == DType::FP16)
            bits = fp16FromFloat(values[i]);
        else
            std::memcpy(&bits, &values[i], sizeof bits);
        std::memcpy(row.data() + i * sizeOf(dtype), &bits, sizeOf(dtype));
    }
    return row;
}

/// All numbers of the sums, to be compared bit for bit.
std::vector<std::uint64_t> bitsOf(const LogitsSums& s)
{
    const double numbers[] = {s.forwardKl,
                              s.reverseKl,
                              s.totalVariation,
                              s.referenceLogSumExp,
                              s.targetLogSumExp,
                              s.referenceEntropy,
                              s.targetEntropy,
                              s.meanDifference,
                              s.weightedVariance,
                              s.sumProbabilitySquares,
                              s.maxProbabilityChange,
                              s.jensenShannon,
                              s.hellinger,
                              s.chiSquare,
                              s.largestLogRatio,
                              s.temperatureExponent,
                              s.temperatureKl,
                              static_cast<double>(s.excluded)};
    std::vector<std::uint64_t> bits(std::size(numbers));
    std::memcpy(bits.data(), numbers, sizeof numbers);
    return bits;
}

std::vector<std::uint64_t> bitsOf(const LogitsSpread& s)
{
    const double numbers[] = {s.mantissaDistance, s.maxRelative, s.centredSquares};
    std::vector<std::uint64_t> bits(std::size(numbers));
    std::memcpy(bits.data(), numbers, sizeof numbers);
    bits.insert(bits.end(), {s.roundedEqual, s.exponentMatched, s.maxRelativeAt});
    return bits;
}

struct Pair
{
    std::vector<float> reference, target;
};

/// Noise of many sizes; ties; a peak; NaN and infinities.
Pair makePair(std::mt19937& g, std::size_t count, int kind)
{
    std::normal_distribution<float> normal;
    constexpr float sizes[] = {0, 1e-4F, 1e-2F, 1, 30};
    const float size = sizes[static_cast<std::size_t>(kind) % 5];
    Pair pair;
    for (std::size_t i = 0; i < count; ++i) {
        float value = 3 * normal(g);
        if (kind % 4 == 1)
            value = std::round(value);
        pair.reference.push_back(value);
        pair.target.push_back(value + size * normal(g));
    }
    if (kind % 7 == 2)
        pair.reference[count / 2] = 60;
    if (kind % 11 == 3) {
        pair.target[count / 3] = std::numeric_limits<float>::quiet_NaN();
        pair.reference[count / 4] = -std::numeric_limits<float>::infinity();
    }
    return pair;
}

} // namespace

class LogitsPairTest : public QObject
{
    Q_OBJECT

private slots:
    void everyTargetGivesTheSameBits()
    {
        std::mt19937 g(7);
        for (int round = 0; round < 90; ++round) {
            const std::size_t count =
                round % 3 == 0 ? static_cast<std::size_t>(round) + 2 : g() % 3000 + 2;
            const Pair pair = makePair(g, count, round);
            const DType types[] = {DType::BF16, DType::FP16, DType::FP32};
            const DType ours = types[round % 3];
            const DType theirs = round % 10 == 9 ? DType::FP32 : ours;
            const Row r = rowOf(pair.reference, ours);
            const Row t = rowOf(pair.target, theirs);
            std::vector<std::uint64_t> first;
            for (const std::string& target : availableSimdTargets()) {
                QVERIFY(forceSimdTarget(target));
                const LogitsSums sums = compareLogits(r.data(), ours, t.data(), theirs, count);
                auto bits = bitsOf(sums);
                const auto spread = bitsOf(
                    spreadOfLogits(r.data(), ours, t.data(), theirs, count, sums.meanDifference));
                bits.insert(bits.end(), spread.begin(), spread.end());
                const auto some = bitsOf(compareLogits(r.data(), ours, t.data(), theirs, count,
                                                       LogitsDetail::Divergences));
                bits.insert(bits.end(), some.begin(), some.end());
                if (first.empty())
                    first = bits;
                QVERIFY2(
                    bits == first,
                    qPrintable(
                        QString("%1, round %2").arg(QString::fromStdString(target)).arg(round)));
            }
            QVERIFY(forceSimdTarget(""));
        }
    }

    // The short form agrees with the long one, to the bit where it is the same one.
    void divergencesAlone()
    {
        std::mt19937 g(8);
        const Pair pair = makePair(g, 5000, 2);
        for (const DType dtype : {DType::BF16, DType::FP16, DType::FP32}) {
            const Row r = rowOf(pair.reference, dtype);
            const Row t = rowOf(pair.target, dtype);
            const auto all = compareLogits(r.data(), dtype, t.data(), dtype, 5000);
            const auto some =
                compareLogits(r.data(), dtype, t.data(), dtype, 5000, LogitsDetail::Divergences);
            const double allowed = dtype == DType::FP32 ? 0 : 1e-9;
            const auto close = [allowed](double a, double b) {
                return std::fabs(a - b) <= allowed * std::fabs(b);
            };
            QVERIFY(close(some.forwardKl, all.forwardKl));
            QVERIFY(close(some.reverseKl, all.reverseKl));
            QVERIFY(close(some.totalVariation, all.totalVariation));
            QVERIFY(close(some.referenceLogSumExp, all.referenceLogSumExp));
            QVERIFY(close(some.targetLogSumExp, all.targetLogSumExp));
        }
    }

    // q ∝ p^½ exactly: β is found and nothing is left over.
    void temperatureAlone()
    {
        std::vector<float> reference;
        std::vector<float> target;
        for (int i = 0; i < 400; ++i) {
            reference.push_back(static_cast<float>(i % 37) / 4);
            target.push_back(reference.back() / 2);
        }
        const Row r = rowOf(reference, DType::FP32);
        const Row t = rowOf(target, DType::FP32);
        const auto sums = compareLogits(r.data(), DType::FP32, t.data(), DType::FP32, 400);
        QVERIFY(std::fabs(sums.temperatureExponent - 0.5) < 1e-12);
        QVERIFY(sums.temperatureKl < 1e-20);
        QVERIFY(sums.reverseKl > 0.1);
        // Beyond the kernels' reach, and turned round.
        for (float& value : target)
            value *= -3;
        const Row turned = rowOf(target, DType::FP32);
        const auto far = compareLogits(r.data(), DType::FP32, turned.data(), DType::FP32, 400);
        QVERIFY(std::fabs(far.temperatureExponent + 1.5) < 1e-9);
        QVERIFY(far.temperatureKl < 1e-12);
    }

    void topKOfBytesIsThatOfFloats()
    {
        std::mt19937 g(9);
        for (const DType dtype : {DType::BF16, DType::FP16, DType::FP32})
            for (int round = 0; round < 24; ++round) {
                const std::size_t count = round < 12 ? 20000 + g() % 3000 : g() % 600 + 1;
                Pair pair = makePair(g, count, round);
                const Row row = rowOf(pair.target, dtype);
                std::vector<float> values(count);
                for (std::size_t i = 0; i < count; ++i)
                    values[i] = static_cast<float>(toDouble(bitsAt(row.data(), dtype, i), dtype));
                const auto fast = topK(row.data(), dtype, count, 64);
                const auto plain = topK(values.data(), count, 64);
                LogitsPeaks peaks;
                const Row other = rowOf(pair.reference, dtype);
                compareLogits(other.data(), dtype, row.data(), dtype, count,
                              LogitsDetail::Divergences, &peaks);
                const auto peaked = topK(row.data(), dtype, count, 64, peaks.target);
                QCOMPARE(fast.size(), plain.size());
                QCOMPARE(peaked.size(), plain.size());
                for (std::size_t i = 0; i < plain.size(); ++i) {
                    QCOMPARE(fast[i].id, plain[i].id);
                    QCOMPARE(peaked[i].id, plain[i].id);
                }
            }
    }

    void rankingOfWholeRows()
    {
        std::mt19937 g(10);
        std::vector<std::vector<float>> rows{{}, {1}, std::vector<float>(3000, 0.5F)};
        rows.push_back({0.0F, -0.0F, 1, -1, 0.0F});
        rows.push_back(makePair(g, 4000, 3).target); // a NaN
        rows.push_back(makePair(g, 4000, 1).target); // ties
        for (const float rare :
             {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(),
              std::numeric_limits<float>::infinity()})
            rows.push_back({2, rare, -3, rare, 1e-40F, -1e-40F});
        for (const auto& row : rows) {
            const auto plain = topK(row.data(), row.size(), row.size());
            const auto ids = rankAll(row);
            QCOMPARE(ids.size(), plain.size());
            for (std::size_t i = 0; i < plain.size(); ++i)
                QCOMPARE(ids[i], plain[i].id);
        }
    }

    // By hand: r = 1, 2, −4, 8; t = 1, 2.5, −4, 6; d = 0, ½, 0, −2, mean −⅜.
    void spreadByHand()
    {
        for (const DType dtype : {DType::BF16, DType::FP16, DType::FP32}) {
            const Row r = rowOf({1, 2, -4, 8}, dtype);
            const Row t = rowOf({1, 2.5F, -4, 6}, dtype);
            const auto s = spreadOfLogits(r.data(), dtype, t.data(), dtype, 4, -0.375);
            QCOMPARE(s.roundedEqual, 2U);
            QCOMPARE(s.exponentMatched, 3U); // 8 and 6 are of two binades
            const double binade = dtype == DType::BF16   ? 128
                                  : dtype == DType::FP16 ? 1024
                                                         : 8388608;
            QCOMPARE(s.mantissaDistance, binade / 4);
            QCOMPARE(s.maxRelativeAt, 3U); // the 1e-8 counts less beside 8
            QVERIFY(std::fabs(s.maxRelative - 0.25) < 1e-8);
            QCOMPARE(s.centredSquares, 2 * 0.375 * 0.375 + 0.875 * 0.875 + 1.625 * 1.625);
        }
    }
};

QTEST_APPLESS_MAIN(LogitsPairTest)
#include "logits_pair_test.moc"
