// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_pair.h"
#include "core/numeric/simd_target.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace moire::numeric;

namespace {

constexpr DType kernelTypes[] = {DType::BF16, DType::FP16, DType::FP32};

using Row = std::vector<std::byte>;

void setBits(Row& row, DType dtype, std::size_t i, std::uint64_t bits)
{
    std::memcpy(row.data() + i * sizeOf(dtype), &bits, sizeOf(dtype));
}

std::uint64_t bitsOf(float value, DType dtype)
{
    if (dtype == DType::BF16)
        return bf16FromFloat(value);
    if (dtype == DType::FP16)
        return fp16FromFloat(value);
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

Row rowOf(const std::vector<float>& values, DType dtype)
{
    Row row(values.size() * sizeOf(dtype));
    for (std::size_t i = 0; i < values.size(); ++i)
        setBits(row, dtype, i, bitsOf(values[i], dtype));
    return row;
}

bool sameBits(const ElementSums& a, const ElementSums& b)
{
    const auto same = [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; };
    return a.unequal == b.unequal && a.classChanges == b.classChanges && a.finite == b.finite
           && a.worst == b.worst && a.maxUlp == b.maxUlp && a.sumUlp == b.sumUlp
           && same(a.maxAbs, b.maxAbs) && same(a.sumAbs, b.sumAbs)
           && same(a.sumSquares, b.sumSquares) && same(a.referenceSquares, b.referenceSquares)
           && same(a.targetSquares, b.targetSquares) && same(a.dot, b.dot);
}

/// A pair of rows of a kind: random bits, equal, few changes, tied, subnormal, huge, sparse.
struct Pair
{
    Row reference, target;
};

Pair makePair(std::mt19937_64& g, DType dtype, std::size_t width, int kind)
{
    Pair pair{Row(width * sizeOf(dtype)), {}};
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < width; ++i) {
        std::uint64_t bits = g();
        if (kind == 2)
            bits = bitsOf(normal(g), dtype);
        if (kind == 3)
            bits = bitsOf(static_cast<float>(g() % 3), dtype); // tied
        if (kind == 4)
            bits = g() % (dtype == DType::FP16 ? 0x400 : 0x80); // subnormal (tiny in fp32)
        if (kind == 5)
            bits = bitsOf(dtype == DType::FP16 ? 60000.0F : 3e38F, dtype) ^ (g() % 4);
        setBits(pair.reference, dtype, i, bits);
    }
    pair.target = pair.reference;
    if (kind == 0)
        for (std::byte& byte : pair.target)
            byte = static_cast<std::byte>(g());
    for (std::size_t change = 0; kind >= 2 && change < width / 7; ++change) {
        const std::size_t i = g() % width;
        const std::uint64_t sign = std::uint64_t{1} << (sizeOf(dtype) * 8 - 1);
        setBits(pair.target, dtype, i,
                bitsAt(pair.target.data(), dtype, i) ^ (change % 2 == 0 ? sign : g() % 8));
    }
    return pair;
}

/// Rows of 16-bit words that put the kernel's exact short cuts to the test: neighbours of one
/// exponent, exponents as far apart as sums bear or one step more, cancelling signs, blocks of ever
/// larger values, and pieces of other kinds between, so that one chunk changes its form on the way.
Pair makeHardPair(std::mt19937_64& g, DType dtype, std::size_t width)
{
    constexpr std::size_t piece = 128;
    constexpr std::size_t block = 256; // of the kernel where a vector is one word
    const unsigned mantissaBits = dtype == DType::BF16 ? 7 : dtype == DType::FP16 ? 10 : 23;
    const std::uint64_t exponents = dtype == DType::FP16 ? 30 : 254; // of normal values: 1 … these
    const std::uint64_t mantissas = std::uint64_t{1} << mantissaBits;
    const std::uint64_t sign = std::uint64_t{1} << (sizeOf(dtype) * 8 - 1);
    const std::uint64_t spread = g() % 2 == 0 ? g() % 4 : g() % exponents;
    std::uint64_t lowest = 1 + g() % (exponents - std::min(spread, exponents - 1));
    const bool climbs = g() % 2 == 0;
    Pair pair{Row(width * sizeOf(dtype)), Row(width * sizeOf(dtype))};
    std::uint64_t kind = 0;
    for (std::size_t i = 0; i < width; ++i) {
        if (i % piece == 0)
            kind = g() % 16;
        if (climbs && i % block == 0 && i > 0)
            lowest = std::min(lowest + g() % 32, exponents);
        const std::uint64_t exponent = std::min(lowest + g() % (spread + 1), exponents);
        const std::uint64_t mantissa = kind == 1   ? mantissas - 1
                                       : kind == 2 ? mantissas - 1 - g() % 2
                                                   : g() % mantissas;
        const std::uint64_t bits =
            (exponent << mantissaBits | mantissa) | (kind != 3 && g() % 2 == 0 ? sign : 0);
        std::uint64_t other = bits;
        if (kind >= 4 && kind < 10)
            other ^= g() % (kind < 7 ? 2 : 64) % mantissas;
        if (kind == 10 || kind == 1 || kind == 2)
            other ^= sign;
        if (kind >= 11 && kind < 14)
            other = (std::min(lowest + g() % (spread + 1), exponents) << mantissaBits)
                    | g() % mantissas | (g() % 2 == 0 ? sign : 0);
        if (kind == 14 && g() % piece == 0)
            other = g() % 4 == 0 ? (exponents + 1) << mantissaBits | g() % 2 : g() % mantissas;
        setBits(pair.reference, dtype, i, bits);
        setBits(pair.target, dtype, i, other);
    }
    return pair;
}

} // namespace

class ElementPairTest : public QObject
{
    Q_OBJECT

private slots:
    void kernelsGiveTheScalarBits()
    {
        for (const std::string& target : availableSimdTargets()) {
            QVERIFY(forceSimdTarget(target));
            QCOMPARE(currentSimdTarget(), target);
            std::mt19937_64 g(4);
            for (const DType dtype : kernelTypes) {
                for (int round = 0; round < 120; ++round) {
                    const std::size_t width = round < 40     ? static_cast<std::size_t>(round) + 1
                                              : round == 119 ? 9001
                                                             : g() % 700 + 1;
                    const Pair pair = makePair(g, dtype, width, round % 6);
                    const auto kernel = compareElements(pair.reference.data(), dtype,
                                                        pair.target.data(), dtype, width);
                    const auto scalar = compareElementsScalar(pair.reference.data(), dtype,
                                                              pair.target.data(), dtype, width);
                    QVERIFY2(sameBits(kernel, scalar), target.c_str());
                }
            }
        }
        QVERIFY(forceSimdTarget(""));
        QVERIFY(!forceSimdTarget("no such target"));
        QCOMPARE(currentSimdTarget(), availableSimdTargets().front());
    }

    /// Rows longer than a chunk, where sums that short cuts keep exact grow and change their form.
    void shortCutsGiveTheScalarBits()
    {
        constexpr int rounds = 600;
        for (const std::string& target : availableSimdTargets()) {
            QVERIFY(forceSimdTarget(target));
            std::mt19937_64 g(11);
            for (const DType dtype : kernelTypes) {
                for (int round = 0; round < rounds; ++round) {
                    const std::size_t width = 1 + g() % 2600;
                    const Pair pair = makeHardPair(g, dtype, width);
                    const auto kernel = compareElements(pair.reference.data(), dtype,
                                                        pair.target.data(), dtype, width);
                    const auto scalar = compareElementsScalar(pair.reference.data(), dtype,
                                                              pair.target.data(), dtype, width);
                    QVERIFY2(sameBits(kernel, scalar),
                             (target + ", round " + std::to_string(round)).c_str());
                }
            }
        }
        QVERIFY(forceSimdTarget(""));
    }

    /// Every exponent against every other, in rows of which each sum comes close to what fp64 holds
    /// of the smallest value's last place.
    void everyPairOfExponents()
    {
        for (const DType dtype : {DType::BF16, DType::FP16}) {
            const unsigned mantissaBits = dtype == DType::BF16 ? 7 : 10;
            const std::uint64_t exponents = dtype == DType::BF16 ? 254 : 30;
            const std::uint64_t ones = (std::uint64_t{1} << mantissaBits) - 1;
            const std::uint64_t step = dtype == DType::BF16 ? 7 : 1;
            constexpr std::size_t width = 256;
            Row r(width * sizeOf(dtype));
            Row t(width * sizeOf(dtype));
            for (std::uint64_t a = 1; a <= exponents; a += step) {
                for (std::uint64_t b = 1; b <= exponents; ++b) {
                    for (std::size_t i = 0; i < width; ++i) {
                        const bool first = i / elementStripes % 2 == 0;
                        setBits(r, dtype, i, (first ? a : b) << mantissaBits | ones);
                        setBits(t, dtype, i,
                                (first ? a : b) << mantissaBits | (ones - i % 3)
                                    | (i % 5 == 0 ? 0x8000U : 0U));
                    }
                    const auto kernel = compareElements(r.data(), dtype, t.data(), dtype, width);
                    const auto scalar =
                        compareElementsScalar(r.data(), dtype, t.data(), dtype, width);
                    QVERIFY2(sameBits(kernel, scalar),
                             (std::to_string(a) + ' ' + std::to_string(b)).c_str());
                }
            }
        }
    }

    void sumsByHand()
    {
        // r = 1, 2, −3, 4; t = 1, 2.5, −3, 3: d = 0, 0.5, 0, −1.
        for (const DType dtype : kernelTypes) {
            const Row r = rowOf({1, 2, -3, 4}, dtype);
            const Row t = rowOf({1, 2.5F, -3, 3}, dtype);
            const ElementSums s = compareElements(r.data(), dtype, t.data(), dtype, 4);
            QCOMPARE(s.unequal, 2U);
            QCOMPARE(s.classChanges, 0U);
            QCOMPARE(s.finite, 4U);
            QCOMPARE(s.worst, 3U);
            QCOMPARE(s.maxAbs, 1.0);
            QCOMPARE(s.sumAbs, 1.5);
            QCOMPARE(s.sumSquares, 1.25);
            QCOMPARE(s.referenceSquares, 30.0);
            QCOMPARE(s.targetSquares, 1 + 6.25 + 9 + 9);
            QCOMPARE(s.dot, 1 + 5 + 9 + 12.0);
            // 2 → 2.5 is a quarter of a binade, 3 → 4 half a binade.
            const std::uint64_t binade = dtype == DType::BF16   ? 128
                                         : dtype == DType::FP16 ? 1024
                                                                : 1U << 23U;
            QCOMPARE(s.maxUlp, binade / 2);
            QCOMPARE(s.sumUlp, binade / 2 + binade / 4);
        }
    }

    void worstPrefersAChangeOfClassThenSizeThenIndex()
    {
        constexpr float inf = std::numeric_limits<float>::infinity();
        for (const DType dtype : kernelTypes) {
            const auto worst = [&](const std::vector<float>& r, const std::vector<float>& t) {
                const Row a = rowOf(r, dtype);
                const Row b = rowOf(t, dtype);
                return compareElements(a.data(), dtype, b.data(), dtype, r.size()).worst;
            };
            QCOMPARE(worst({1, 2, 3, 4}, {1, 5, 6, 4}), 1U); // a tie: the lower index
            QCOMPARE(worst({1, 2, 3, 4}, {9, 2, inf, 4}), 2U);
            QCOMPARE(worst({1, 2, 3, 4}, {1, 2, 3, 4}), 0U);
            QCOMPARE(worst({1, 0, 3, 4}, {1, -0.0F, 3, 4}), 1U); // only a sign of zero
            std::vector<float> r(1000, 1.0F);
            std::vector<float> t = r;
            t[997] = 3; // in the part behind the last 16
            QCOMPARE(worst(r, t), 997U);
            t[300] = t[900] = 5;
            QCOMPARE(worst(r, t), 300U);
        }
    }

    void notFinitePairsStayOutOfTheSums()
    {
        constexpr float inf = std::numeric_limits<float>::infinity();
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        for (const DType dtype : kernelTypes) {
            const Row r = rowOf({inf, nan, 1, -inf, 2, nan}, dtype);
            const Row t = rowOf({-inf, 1, nan, -inf, 2, nan}, dtype);
            const ElementSums s = compareElements(r.data(), dtype, t.data(), dtype, 6);
            QCOMPARE(s.unequal, 3U);
            QCOMPARE(s.classChanges, 3U);
            QCOMPARE(s.finite, 1U);
            QCOMPARE(s.worst, 0U);
            QCOMPARE(s.referenceSquares, 4.0);
            QCOMPARE(s.maxAbs, 0.0);
            // ±∞ are 2·magnitude apart; pairs with a NaN have no distance.
            const std::uint64_t top = dtype == DType::BF16   ? 0x7F80
                                      : dtype == DType::FP16 ? 0x7C00
                                                             : 0x7F800000;
            QCOMPARE(s.sumUlp, 2 * top);
        }
    }

    void differentTypesCompareByValue()
    {
        const Row r = rowOf({1, 2, 3.140625F}, DType::BF16);
        const Row t = rowOf({1, 2, 3.5F}, DType::FP32);
        const ElementSums s = compareElements(r.data(), DType::BF16, t.data(), DType::FP32, 3);
        QCOMPARE(s.unequal, 1U);
        QCOMPARE(s.maxUlp, 0U);
        QCOMPARE(s.maxAbs, 0.359375);
    }

    void classesOfEveryBitPattern()
    {
        for (const DType dtype : {DType::BF16, DType::FP16}) {
            Row row(2 * 0x10000);
            for (std::size_t i = 0; i < 0x10000; ++i)
                setBits(row, dtype, i, i);
            std::uint64_t matrix[36] = {};
            std::uint64_t slow[36] = {};
            countClasses(row.data(), dtype, row.data(), dtype, 0x10000, matrix);
            for (std::size_t i = 0; i < 0x10000; ++i)
                ++slow[static_cast<std::size_t>(classOf(i, dtype)) * 7]; // on the diagonal
            QVERIFY(std::memcmp(matrix, slow, sizeof matrix) == 0);
        }
    }

    void wideIntegers()
    {
        // fp64 holds neither 2⁵³ + 1 nor the largest integers.
        const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
        constexpr std::int64_t odd = (std::int64_t{1} << 53U) + 1;
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const std::int64_t ours[] = {odd - 1, odd, most, most, -odd, 5};
        const std::int64_t theirs[] = {odd, odd, most - 1, most - 3, odd, 2};
        const double expected[] = {1, 0, -1, -3, 0x1p54, -3};
        for (std::size_t i = 0; i < std::size(ours); ++i)
            QCOMPARE(elementDifference(bits(ours[i]), DType::I64, bits(theirs[i]), DType::I64),
                     expected[i]);
        double rounded = 0x1p53; // what odd rounds to is another number
        std::uint64_t fp64 = 0;
        std::memcpy(&fp64, &rounded, sizeof fp64);
        QCOMPARE(elementDifference(bits(odd), DType::I64, fp64, DType::FP64), -1.0);

        Row r(16);
        Row t(16);
        for (std::size_t i = 0; i < 2; ++i) {
            setBits(r, DType::I64, i, bits(ours[i]));
            setBits(t, DType::I64, i, bits(theirs[i]));
        }
        const ElementSums sums = compareElements(r.data(), DType::I64, t.data(), DType::I64, 2);
        QCOMPARE(sums.unequal, 1U);
        QCOMPARE(sums.maxAbs, 1.0);
        QCOMPARE(sums.sumSquares, 1.0);
    }

    void classMatrix()
    {
        const Row r = rowOf({1, 0, std::numeric_limits<float>::infinity(), 1e-40F}, DType::FP32);
        const Row t = rowOf({1, -0.0F, std::numeric_limits<float>::quiet_NaN(), 0}, DType::FP32);
        std::uint64_t matrix[36] = {};
        countClasses(r.data(), DType::FP32, t.data(), DType::FP32, 4, matrix);
        const auto at = [&](ValueClass a, ValueClass b) {
            return matrix[static_cast<std::size_t>(a) * 6 + static_cast<std::size_t>(b)];
        };
        QCOMPARE(at(ValueClass::Normal, ValueClass::Normal), 1U);
        QCOMPARE(at(ValueClass::Zero, ValueClass::Zero), 1U);
        QCOMPARE(at(ValueClass::PlusInf, ValueClass::NaN), 1U);
        QCOMPARE(at(ValueClass::Subnormal, ValueClass::Zero), 1U);
    }
};

QTEST_APPLESS_MAIN(ElementPairTest)
#include "element_pair_test.moc"
