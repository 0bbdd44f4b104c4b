// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_pair.h"
#include "tests/core/diff/plain_run.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace moire;
using moire::diff::test::packed;

namespace {

/// The same quantities straight from their definitions, in 80-bit arithmetic: log-softmax of both
/// sides over the entries that are finite on both.
struct Slow
{
    long double forward = 0, reverse = 0, variation = 0, squares = 0, largest = 0, shift = 0,
                weighted = 0, entropyR = 0, entropyT = 0, logSumR = 0, logSumT = 0, shannon = 0,
                hellinger = 0, chiSquare = 0, ratio = 0, exponent = 1;
    std::size_t count = 0;
};

long double logSumExp(const std::vector<long double>& values)
{
    long double top = values[0];
    for (const long double v : values)
        top = std::max(top, v);
    long double sum = 0;
    for (const long double v : values)
        sum += std::exp(v - top);
    return top + std::log(sum);
}

/// E[z] under weights e^(βz).
long double meanAt(const std::vector<long double>& z, long double beta)
{
    long double top = beta * z[0];
    for (const long double v : z)
        top = std::max(top, beta * v);
    long double weight = 0;
    long double sum = 0;
    for (const long double v : z) {
        weight += std::exp(beta * v - top);
        sum += std::exp(beta * v - top) * v;
    }
    return sum / weight;
}

/// Longer rows would take the bisection seconds each.
constexpr std::size_t mostBisected = 1000;

/// C10 by bisection of E_β[z_r] = E_q[z_r] over −64 … 64.
long double slowExponent(const std::vector<long double>& a, const std::vector<long double>& b,
                         long double logSumT)
{
    long double wanted = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        wanted += std::exp(b[i] - logSumT) * a[i];
    long double low = -64;
    long double high = 64;
    for (int i = 0; i < 80; ++i) {
        const long double middle = (low + high) / 2;
        (meanAt(a, middle) < wanted ? low : high) = middle;
    }
    return (low + high) / 2;
}

Slow slowForm(const std::vector<double>& r, const std::vector<double>& t)
{
    std::vector<long double> a;
    std::vector<long double> b;
    for (std::size_t i = 0; i < r.size(); ++i)
        if (std::isfinite(r[i]) && std::isfinite(t[i])) {
            a.push_back(r[i]);
            b.push_back(t[i]);
        }
    Slow slow;
    slow.count = a.size();
    if (a.size() < 2)
        return slow;
    slow.logSumR = logSumExp(a);
    slow.logSumT = logSumExp(b);
    long double mean = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        mean += std::exp(a[i] - slow.logSumR) * (b[i] - a[i]);
        slow.shift += b[i] - a[i];
    }
    slow.shift /= static_cast<long double>(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        const long double logP = a[i] - slow.logSumR;
        const long double logQ = b[i] - slow.logSumT;
        const long double p = std::exp(logP);
        const long double q = std::exp(logQ);
        slow.forward += p * (logP - logQ);
        slow.reverse += q * (logQ - logP);
        slow.variation += std::fabs(q - p) / 2;
        slow.squares += (q - p) * (q - p);
        slow.largest = std::max(slow.largest, std::fabs(q - p));
        slow.weighted += p * (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
        slow.entropyR -= p * logP;
        slow.entropyT -= q * logQ;
        const long double middle = std::log((p + q) / 2);
        slow.shannon +=
            (p > 0 ? p * (logP - middle) : 0) / 2 + (q > 0 ? q * (logQ - middle) : 0) / 2;
        slow.hellinger += (std::sqrt(p) - std::sqrt(q)) * (std::sqrt(p) - std::sqrt(q)) / 2;
        slow.chiSquare += (q - p) * (q - p) / p; // infinite, or NaN, where p leaves the range
        if (p > 1e-6L || q > 1e-6L)
            slow.ratio = std::max(slow.ratio, std::fabs(logQ - logP));
    }
    slow.hellinger = std::sqrt(slow.hellinger);
    if (a.size() <= mostBisected)
        slow.exponent = slowExponent(a, b, slow.logSumT);
    return slow;
}

std::vector<double> decoded(const std::vector<std::byte>& bytes, numeric::DType dtype)
{
    std::vector<double> values(bytes.size() / numeric::sizeOf(dtype));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = numeric::toDouble(numeric::bitsAt(bytes.data(), dtype, i), dtype);
    return values;
}

void expectClose(double ours, long double slow, double relative, double absolute, const char* what)
{
    const double gap = static_cast<double>(std::fabs(static_cast<long double>(ours) - slow));
    const double allowed = relative * static_cast<double>(std::fabs(slow)) + absolute;
    QVERIFY2(gap <= allowed, qPrintable(QString("%1: %2 is not %3")
                                            .arg(what)
                                            .arg(ours, 0, 'g', 17)
                                            .arg(static_cast<double>(slow), 0, 'g', 17)));
}

/// `klRelative` holds down to `klFloor`; the 80-bit slow form itself knows KL to about 1e-18.
void expectLikeSlow(const std::vector<double>& reference, const std::vector<double>& target,
                    numeric::DType dtype, double klRelative = 1e-7)
{
    const auto a = packed(reference, dtype);
    const auto b = packed(target, dtype);
    const numeric::LogitsSums sums =
        numeric::compareLogits(a.data(), dtype, b.data(), dtype, reference.size());
    const Slow slow = slowForm(decoded(a, dtype), decoded(b, dtype));
    QCOMPARE(static_cast<std::size_t>(sums.excluded), reference.size() - slow.count);
    QCOMPARE(sums.comparable, slow.count >= 2);
    if (!sums.comparable)
        return;
    QVERIFY(sums.forwardKl >= 0 && sums.reverseKl >= 0);
    const double noise = 1e-17; // of the slow form
    expectClose(sums.forwardKl, slow.forward, klRelative, noise, "forward KL");
    expectClose(sums.reverseKl, slow.reverse, klRelative, noise, "reverse KL");
    expectClose(sums.totalVariation, slow.variation, 1e-9, noise, "total variation");
    expectClose(sums.sumProbabilitySquares, slow.squares, 1e-9, noise * noise, "squares");
    expectClose(sums.maxProbabilityChange, slow.largest, 1e-9, noise, "largest change");
    expectClose(sums.meanDifference, slow.shift, 1e-9, 1e-15, "shift");
    expectClose(sums.weightedVariance, slow.weighted, 1e-9, 1e-30, "weighted variance");
    expectClose(sums.referenceEntropy, slow.entropyR, 1e-9, 1e-14, "entropy");
    expectClose(sums.targetEntropy, slow.entropyT, 1e-9, 1e-14, "entropy");
    expectClose(sums.referenceLogSumExp, slow.logSumR, 1e-12, 1e-11, "log-sum-exp");
    expectClose(sums.targetLogSumExp, slow.logSumT, 1e-12, 1e-11, "log-sum-exp");
    expectClose(sums.jensenShannon, slow.shannon, klRelative, noise, "Jensen-Shannon");
    expectClose(sums.hellinger, slow.hellinger, 1e-9, 1e-17, "Hellinger");
    if (slow.chiSquare < 1e300L) // not NaN
        expectClose(sums.chiSquare, slow.chiSquare, 1e-9, 1e-30, "chi square");
    expectClose(sums.largestLogRatio, slow.ratio, 1e-9, 1e-15, "log ratio");
    const bool inRange =
        slow.count <= mostBisected && std::fabs(slow.exponent) < 60 && slow.entropyR > 1e-3L
        && static_cast<double>(slow.entropyR) < std::log(static_cast<double>(slow.count)) - 1e-6;
    if (inRange)
        expectClose(sums.temperatureExponent, slow.exponent, 1e-9, 1e-12, "exponent");
    QVERIFY(sums.temperatureKl <= sums.reverseKl * (1 + 1e-9) + 1e-15);
}

std::vector<double> normal(std::mt19937_64& engine, std::size_t count, double scale)
{
    std::normal_distribution<double> draw(0, scale);
    std::vector<double> values(count);
    for (double& value : values)
        value = draw(engine);
    return values;
}

} // namespace

class LogitsSlowTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void random_data();
    void random();
    void commonShift();
    void tiedAndConstant();
    void huge();
    void notFinite();
    void singles();
    void known();
};

void LogitsSlowTest::random_data()
{
    QTest::addColumn<double>("sigma");
    for (const double sigma : {3.0, 1e-1, 1e-2, 1e-3, 1e-4, 2e-5})
        QTest::newRow(qPrintable(QString::number(sigma))) << sigma;
}

void LogitsSlowTest::random()
{
    QFETCH(double, sigma);
    std::mt19937_64 engine(31);
    for (const std::size_t vocabulary : {2U, 17U, 1000U, 16411U}) {
        const auto reference = normal(engine, vocabulary, 3);
        const auto noise = normal(engine, vocabulary, sigma);
        auto target = reference;
        for (std::size_t i = 0; i < target.size(); ++i)
            target[i] += noise[i];
        // fp32 logits: the smallest KL here is near 1e-10.
        expectLikeSlow(reference, target, numeric::DType::FP32, 1e-7);
        expectLikeSlow(reference, target, numeric::DType::BF16, 1e-7);
        expectLikeSlow(reference, target, numeric::DType::FP16, 1e-7);
    }
}

void LogitsSlowTest::commonShift()
{
    std::mt19937_64 engine(32);
    const auto reference = normal(engine, 5000, 3);
    auto target = reference;
    const auto noise = normal(engine, 5000, 1e-4);
    for (std::size_t i = 0; i < target.size(); ++i)
        target[i] += 0.375 + noise[i];
    expectLikeSlow(reference, target, numeric::DType::FP32, 1e-7);
}

void LogitsSlowTest::tiedAndConstant()
{
    const std::vector<double> flat(100, 2.5);
    expectLikeSlow(flat, flat, numeric::DType::BF16);
    expectLikeSlow(flat, std::vector<double>(100, -1.25), numeric::DType::FP32);
    auto target = flat;
    target[3] += 1;
    expectLikeSlow(flat, target, numeric::DType::FP32);
    std::vector<double> tied(64);
    for (std::size_t i = 0; i < tied.size(); ++i)
        tied[i] = static_cast<double>(i % 3);
    expectLikeSlow(tied, std::vector<double>(64, 0.5), numeric::DType::BF16);
}

void LogitsSlowTest::huge()
{
    std::mt19937_64 engine(33);
    expectLikeSlow(normal(engine, 300, 200), normal(engine, 300, 200), numeric::DType::FP32);
    expectLikeSlow(normal(engine, 300, 3e4), normal(engine, 300, 3e4), numeric::DType::BF16);
    expectLikeSlow({1e30, 0, -1e30}, {0, 1e30, -1e30}, numeric::DType::FP32);
    expectLikeSlow({0, 0, 0, 90}, {0, 0, 0, -90}, numeric::DType::FP32);
    expectLikeSlow({1e-40, 0, -1e-40}, {-1e-40, 1e-40, 0}, numeric::DType::FP32);
}

void LogitsSlowTest::notFinite()
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::mt19937_64 engine(34);
    auto reference = normal(engine, 200, 2);
    auto target = reference;
    for (double& value : target)
        value += 1e-3;
    reference[3] = nan;
    target[5] = infinity;
    reference[9] = target[9] = -infinity;
    target[11] += 0.01;
    expectLikeSlow(reference, target, numeric::DType::FP32);
    expectLikeSlow({nan, nan, 1}, {nan, 1, 2}, numeric::DType::FP32);
    expectLikeSlow({nan, nan}, {1, 1}, numeric::DType::FP32);
}

void LogitsSlowTest::singles()
{
    expectLikeSlow({1}, {2}, numeric::DType::FP32);
    expectLikeSlow({}, {}, numeric::DType::FP32);
}

// p = (1/4, 3/4), q = (1/2, 1/2): by hand, in natural logarithms.
void LogitsSlowTest::known()
{
    const auto a = packed({0, 1.0986122886681098}, numeric::DType::FP32); // ln 3, rounded to fp32
    const auto b = packed({0, 0}, numeric::DType::FP32);
    const numeric::LogitsSums sums =
        numeric::compareLogits(a.data(), numeric::DType::FP32, b.data(), numeric::DType::FP32, 2);
    const double forward = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
    const double reverse = 0.5 * std::log(2) + 0.5 * std::log(2.0 / 3);
    expectClose(sums.forwardKl, forward, 1e-6, 0, "forward KL");
    expectClose(sums.reverseKl, reverse, 1e-6, 0, "reverse KL");
    expectClose(sums.totalVariation, 0.25L, 1e-6, 0, "total variation");
    expectClose(sums.sumProbabilitySquares, 0.125L, 1e-6, 0, "squares");
    expectClose(sums.targetEntropy, std::log(2.0L), 1e-6, 0, "entropy");
}

QTEST_APPLESS_MAIN(LogitsSlowTest)
#include "logits_slow_test.moc"
