// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/exp_table.h"
#include "core/numeric/logits_pair.h"
#include "core/numeric/logits_table.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace moire::numeric;

namespace {

using Values = std::vector<double>;
using Words = std::vector<std::uint16_t>;

Words wordsOf(const Values& values, DType dtype)
{
    Words words;
    for (const double value : values)
        words.push_back(dtype == DType::BF16 ? bf16FromFloat(static_cast<float>(value))
                                             : fp16FromFloat(static_cast<float>(value)));
    return words;
}

const std::byte* bytesOf(const Words& words)
{
    return reinterpret_cast<const std::byte*>(words.data());
}

/// From the definitions, in 80-bit arithmetic.
struct Slow
{
    long double forward = 0, reverse = 0, variation = 0, logSumR = 0, logSumT = 0;
};

Slow slowForm(const Words& reference, const Words& target, DType dtype)
{
    const auto logSum = [dtype](const Words& words) {
        long double top = -std::numeric_limits<long double>::infinity();
        for (const std::uint16_t word : words)
            top = std::max(top, static_cast<long double>(toDouble(word, dtype)));
        long double sum = 0;
        for (const std::uint16_t word : words)
            sum += std::exp(static_cast<long double>(toDouble(word, dtype)) - top);
        return top + std::log(sum);
    };
    Slow slow;
    slow.logSumR = logSum(reference);
    slow.logSumT = logSum(target);
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const long double logP =
            static_cast<long double>(toDouble(reference[i], dtype)) - slow.logSumR;
        const long double y =
            static_cast<long double>(toDouble(target[i], dtype)) - slow.logSumT - logP;
        const long double p = std::exp(logP);
        const long double m = std::expm1(y);
        // The linear terms add up to 0 and hide nothing.
        slow.forward += p * (std::fabs(y) < 1e-4L ? y * y * (0.5L + y / 6 + y * y / 24) : m - y);
        slow.reverse +=
            p * (std::fabs(y) < 1e-4L ? y * y * (0.5L + y / 3 + y * y / 8) : (1 + m) * y - m);
        slow.variation += p * std::fabs(m) / 2;
    }
    return slow;
}

bool close(double ours, long double slow, double relative, double absolute)
{
    return std::fabs(static_cast<long double>(ours) - slow)
           <= static_cast<long double>(relative) * std::fabs(slow)
                  + static_cast<long double>(absolute);
}

/// Both forms are right; `reached` says whether the table must have been enough.
void check(const std::string& name, const Values& reference, const Values& target, DType dtype,
           bool reached = true)
{
    const Words r = wordsOf(reference, dtype);
    const Words t = wordsOf(target, dtype);
    LogitsSums byTable;
    LogitsPeaks peaks;
    const bool done =
        compareByTable({bytesOf(r), dtype, bytesOf(t), dtype, r.size()}, byTable, peaks);
    QVERIFY2(done == reached, name.c_str());
    const LogitsSums sums =
        compareLogits(bytesOf(r), dtype, bytesOf(t), dtype, r.size(), LogitsDetail::Divergences);
    const Slow slow = slowForm(r, t, dtype);
    QVERIFY(sums.comparable);
    const std::string numbers = name + ": " + std::to_string(sums.forwardKl) + " for "
                                + std::to_string(static_cast<double>(slow.forward));
    QVERIFY2(sums.forwardKl >= 0 && sums.reverseKl >= 0, name.c_str());
    constexpr double klRelative = 1e-7;
    constexpr double noise = 1e-17; // of the slow form
    QVERIFY2(close(sums.forwardKl, slow.forward, klRelative, noise), numbers.c_str());
    QVERIFY2(close(sums.reverseKl, slow.reverse, klRelative, noise), numbers.c_str());
    QVERIFY2(close(sums.totalVariation, slow.variation, 1e-9, noise), name.c_str());
    QVERIFY2(close(sums.referenceLogSumExp, slow.logSumR, 1e-12, 1e-12), name.c_str());
    QVERIFY2(close(sums.targetLogSumExp, slow.logSumT, 1e-12, 1e-12), name.c_str());
}

Values normal(std::mt19937& engine, std::size_t count, double scale)
{
    std::normal_distribution<double> draw(0, scale);
    Values values(count);
    for (double& value : values)
        value = draw(engine);
    return values;
}

Values changed(Values values, const std::function<double(std::size_t, double)>& change)
{
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = change(i, values[i]);
    return values;
}

} // namespace

class LogitsTableTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exponentials()
    {
        for (double x = -700; x < 700; x += 0.37) {
            const long double exact = std::exp(static_cast<long double>(x));
            QVERIFY(std::fabs(static_cast<long double>(plainExp(x)) - exact) <= 3e-16L * exact);
        }
        QCOMPARE(plainExp(0), 1.0);
        QCOMPARE(plainExp(-1000), 0.0);
        const double* table = expTable(DType::BF16);
        QCOMPARE(table[0x3F80], plainExp(1));
        QVERIFY(std::isnan(table[0x7F80]) && std::isnan(table[0xFF80])
                && std::isnan(table[0x7FC0]));
        QVERIFY(std::isnan(table[0x4480])); // 1024
        QCOMPARE(expTable(DType::FP16)[0x4000], plainExp(2));
    }

    void noiseOfManySizes()
    {
        std::mt19937 engine(1);
        for (const DType dtype : {DType::BF16, DType::FP16})
            for (const double scale : {0.1, 3.0, 12.0})
                for (const double noise : {1e-5, 1e-3, 0.02, 0.3, 1.0})
                    for (const std::size_t count : {2U, 255U, 3001U}) {
                        const Values r = normal(engine, count, scale);
                        const Values d = normal(engine, count, noise);
                        const Values t =
                            changed(r, [&](std::size_t i, double v) { return v + d[i]; });
                        const Words a = wordsOf(r, dtype);
                        const Words b = wordsOf(t, dtype);
                        LogitsSums sums;
                        LogitsPeaks peaks;
                        const bool reached = compareByTable(
                            {bytesOf(a), dtype, bytesOf(b), dtype, count}, sums, peaks);
                        // Few entries may agree by chance in all but a shift.
                        QVERIFY(reached || count == 2 || a == b);
                        check("noise " + std::to_string(noise), r, t, dtype, reached);
                    }
    }

    // A shift of all logits is no difference of the distributions.
    void commonShift()
    {
        std::mt19937 engine(2);
        const Values r = normal(engine, 5000, 3);
        for (const double shift : {0.375, -2.0, 1.5}) {
            const Values d = normal(engine, 5000, 1e-3);
            const auto t = changed(r, [&](std::size_t i, double v) { return v + shift + d[i]; });
            check("shift", r, t, DType::BF16);
        }
        // Exactly shifted but for one: from integers nothing is lost.
        const auto whole = changed(r, [](std::size_t, double v) { return std::round(v); });
        auto t = changed(whole, [](std::size_t, double v) { return v + 2; });
        t[17] += 1;
        check("all but one", whole, t, DType::BF16);
    }

    void fewDifferences()
    {
        std::mt19937 engine(3);
        const Values r = normal(engine, 4000, 2);
        for (const std::size_t at : {0U, 100U, 3999U}) {
            Values t = r;
            t[at] += 0.25;
            check("one differs", r, t, DType::BF16);
            check("one differs", r, t, DType::FP16);
        }
        Values low = r;
        low[5] = -20;
        Values t = low;
        t[5] = -20.125; // p = 1e-13: a KL near 1e-15
        check("one of no weight differs", low, t, DType::BF16);
    }

    // Differences that fp32 cannot hold, and tiny ones.
    void smallValues()
    {
        std::mt19937 engine(4);
        const Values tiny = normal(engine, 1000, 1e-4);
        check("tiny", tiny, normal(engine, 1000, 1e-4), DType::BF16);
        Values mixed = tiny;
        mixed[3] = 1;
        Values t = mixed;
        t[3] = 1e-6;
        t[4] = 2e-9;
        check("far exponents", mixed, t, DType::BF16);
        check("subnormal", {1e-40, 0, -1e-40, 1}, {-1e-40, 1e-40, 0, 1.5}, DType::BF16);
    }

    void tiesAndConstants()
    {
        Values tied;
        for (int i = 0; i < 640; ++i)
            tied.push_back(i % 3);
        check("tied", tied, changed(tied, [](std::size_t i, double v) { return i % 5 ? v : 0.5; }),
              DType::FP16);
        check("constant", Values(300, 2.5),
              changed(Values(300, 2.5), [](std::size_t i, double v) { return i ? v : 3; }),
              DType::BF16);
    }

    void outOfReach()
    {
        std::mt19937 engine(5);
        check("high", {100, 101, 99}, {100, 101.5, 99}, DType::BF16, false);
        check("low", {-100, -101, -99}, {-100, -101.5, -99}, DType::BF16, false);
        check("far apart", {0, 0, 0, 60}, {0, 0, 0, -50}, DType::BF16, false);
        check("only a shift", {1, 2, 3}, {3, 4, 5}, DType::BF16);
        Words r = wordsOf(normal(engine, 500, 1), DType::BF16);
        Words t = wordsOf(normal(engine, 500, 1), DType::BF16);
        LogitsSums sums;
        LogitsPeaks peaks;
        for (const std::uint16_t bad : Words{0x7F80, 0xFF80, 0x7FC0}) {
            const std::uint16_t before = std::exchange(t[400], bad);
            QVERIFY(!compareByTable({bytesOf(r), DType::BF16, bytesOf(t), DType::BF16, r.size()},
                                    sums, peaks));
            const auto known = compareLogits(bytesOf(r), DType::BF16, bytesOf(t), DType::BF16,
                                             r.size(), LogitsDetail::Divergences);
            QCOMPARE(known.excluded, 1U);
            t[400] = before;
        }
    }
};

QTEST_APPLESS_MAIN(LogitsTableTest)
#include "logits_table_test.moc"
