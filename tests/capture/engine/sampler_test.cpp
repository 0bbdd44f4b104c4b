// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/sampler.h"

#include <QTest>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

using namespace moire::capture;

namespace {

/// Shares of many draws.
std::map<std::int32_t, double> shares(const std::vector<float>& logits, const Sampling& sampling)
{
    constexpr std::uint32_t draws = 40000;
    std::map<std::int32_t, double> out;
    for (std::uint32_t i = 0; i < draws; ++i)
        out[sampleToken(logits, sampling, {7, i % 97, i})] += 1.0 / draws;
    return out;
}

/// Four standard deviations of a share near one half among 40,000 draws.
constexpr double tolerance = 0.01;

} // namespace

class SamplerTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void uniformNumbers();
    void sharesAreProbabilities();
    void filters_data();
    void filters();
    void strangeLogits();
    void nothingButTheDrawCounts();
    void textAndChecks();
};

void SamplerTest::uniformNumbers()
{
    // Philox4x32-10 with counter and key 0: 6627e8d5 e169c58d … (Random123's known answers).
    const double expected = (static_cast<double>(0x6627e8d5U >> 5U) * 67108864.0
                             + static_cast<double>(0xe169c58dU >> 6U))
                            / 9007199254740992.0;
    QCOMPARE(uniformOf({0, 0, 0}), expected);
    double sum = 0;
    for (std::uint32_t i = 0; i < 10000; ++i) {
        const double u = uniformOf({1, 2, i});
        QVERIFY(u >= 0 && u < 1);
        sum += u / 10000;
    }
    QVERIFY(std::abs(sum - 0.5) < tolerance);
}

void SamplerTest::sharesAreProbabilities()
{
    // ln 4, ln 3, ln 2, ln 1: probabilities 0.4, 0.3, 0.2, 0.1.
    const std::vector<float> logits{0.0F, 1.3862944F, 0.6931472F, 1.0986123F};
    auto found = shares(logits, {1.0, 0, 1, 0});
    QVERIFY(std::abs(found[1] - 0.4) < tolerance);
    QVERIFY(std::abs(found[3] - 0.3) < tolerance);
    QVERIFY(std::abs(found[2] - 0.2) < tolerance);
    QVERIFY(std::abs(found[0] - 0.1) < tolerance);
    // Half the temperature squares the odds: 16, 9, 4, 1 of 30.
    found = shares(logits, {0.5, 0, 1, 0});
    QVERIFY(std::abs(found[1] - 16.0 / 30) < tolerance);
    QVERIFY(std::abs(found[0] - 1.0 / 30) < tolerance);
}

void SamplerTest::filters_data()
{
    QTest::addColumn<double>("topK");
    QTest::addColumn<double>("topP");
    QTest::addColumn<double>("minP");
    QTest::addColumn<QList<int>>("left");
    // Of 0.4, 0.3, 0.2, 0.1 for the ids 1, 3, 2, 0.
    QTest::newRow("top-k 1") << 1.0 << 1.0 << 0.0 << QList<int>{1};
    QTest::newRow("top-k 3") << 3.0 << 1.0 << 0.0 << QList<int>{1, 2, 3};
    QTest::newRow("top-k all") << 9.0 << 1.0 << 0.0 << QList<int>{0, 1, 2, 3};
    QTest::newRow("top-p below the first") << 0.0 << 0.1 << 0.0 << QList<int>{1};
    QTest::newRow("top-p 0.65") << 0.0 << 0.65 << 0.0 << QList<int>{1, 3};
    QTest::newRow("top-p 0.75") << 0.0 << 0.75 << 0.0 << QList<int>{1, 2, 3};
    QTest::newRow("min-p 0.4") << 0.0 << 1.0 << 0.4 << QList<int>{1, 2, 3};
    QTest::newRow("min-p 1") << 0.0 << 1.0 << 1.0 << QList<int>{1};
    // After top-k 2 the two have 4/7 and 3/7.
    QTest::newRow("top-k, then top-p") << 2.0 << 0.55 << 0.0 << QList<int>{1};
    QTest::newRow("top-p, then min-p") << 0.0 << 0.75 << 0.7 << QList<int>{1, 3};
}

void SamplerTest::filters()
{
    QFETCH(double, topK);
    QFETCH(double, topP);
    QFETCH(double, minP);
    QFETCH(QList<int>, left);
    const std::vector<float> logits{0.0F, 1.3862944F, 0.6931472F, 1.0986123F};
    QList<int> found;
    for (const auto& [id, share] :
         shares(logits, {1.0, static_cast<std::uint32_t>(topK), topP, minP}))
        found.append(id);
    QCOMPARE(found, left);
}

void SamplerTest::strangeLogits()
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const Sampling plain{1.0, 0, 1, 0};
    QCOMPARE(sampleToken(std::vector<float>{nan, nan}, plain, {}), 0);
    QCOMPARE(sampleToken(std::vector<float>{nan, -5.0F, -infinity}, plain, {}), 1);
    const auto found = shares({infinity, 3.0F, infinity}, plain);
    QCOMPARE(found.size(), std::size_t{2});
    QVERIFY(std::abs(found.at(0) - 0.5) < tolerance);
    // Ties with the k-th stay, as in transformers.
    QCOMPARE(shares({1.0F, 1.0F, 1.0F, 0.0F}, {1.0, 2, 1, 0}).size(), std::size_t{3});
    // Neither large logits nor a tiny temperature overflow.
    QCOMPARE(sampleToken(std::vector<float>{1.0F, 2.0F, 1.5F}, {1e-300, 0, 1, 0}, {}), 1);
    QCOMPARE(sampleToken(std::vector<float>{3e38F, -3e38F}, {1e-3, 0, 1, 0}, {}), 0);
}

void SamplerTest::nothingButTheDrawCounts()
{
    std::vector<float> logits(1000);
    std::iota(logits.begin(), logits.end(), -1000.0F);
    for (float& logit : logits)
        logit = std::sin(logit);
    const Sampling sampling{1.5, 0, 1, 0};
    QCOMPARE(sampleToken(logits, sampling, {1, 2, 3}), sampleToken(logits, sampling, {1, 2, 3}));
    std::map<std::int32_t, int> different;
    for (const Draw draw :
         {Draw{1, 2, 3}, Draw{2, 2, 3}, Draw{1, 3, 3}, Draw{1, 2, 4}, Draw{1ULL << 32U, 2, 3}})
        ++different[sampleToken(logits, sampling, draw)];
    QCOMPARE(different.size(), std::size_t{5});
}

void SamplerTest::textAndChecks()
{
    QCOMPARE((Sampling{0, 0, 1, 0}.text()), std::string("greedy"));
    QCOMPARE((Sampling{0.8, 50, 0.95, 0.05}.text()),
             std::string("temperature 0.8, top-k 50, top-p 0.95, min-p 0.05"));
    QVERIFY((Sampling{0.7, 0, 1, 0}.check()));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Sampling& bad : {Sampling{-1, 0, 1, 0}, Sampling{nan, 0, 1, 0}, Sampling{1, 0, 0, 0},
                                Sampling{1, 0, 1.5, 0}, Sampling{1, 0, nan, 0},
                                Sampling{1, 0, 1, -0.1}, Sampling{1, 0, 1, 2}, Sampling{0, 5, 1, 0},
                                Sampling{0, 0, 0.5, 0}, Sampling{0, 0, 1, 0.1}}) {
        const auto checked = bad.check();
        QVERIFY(!checked);
        QVERIFY(!checked.error().hint.empty());
    }
}

QTEST_APPLESS_MAIN(SamplerTest)
#include "sampler_test.moc"
