// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/digest.h"
#include "core/numeric/dtype.h"
#include "core/numeric/top_k.h"

#include <QtTest/QtTest>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace moire::numeric;

class DTypeTest : public QObject
{
    Q_OBJECT

private slots:
    void namesAndNumbersRoundTrip()
    {
        std::uint64_t number = 1;
        for (const DType dtype : allDTypes) {
            QVERIFY(dtypeFromName(nameOf(dtype)) == dtype);
            QVERIFY(dtypeFromNumber(number++) == dtype);
        }
        QVERIFY(!dtypeFromNumber(0) && !dtypeFromNumber(number) && !dtypeFromName("float"));
    }

    void valuesOfKnownBits()
    {
        // IEEE 754-2019 and the OCP 8-bit floating point specification 1.0, tables 1 and 2; the
        // fnuz kinds as in ONNX's float8 page.
        struct Known
        {
            DType dtype;
            std::uint64_t bits;
            double value;
        };
        const Known known[] = {{DType::BF16, 0x3F80, 1.0},
                               {DType::BF16, 0x7F7F, 0x1.FEp127},
                               {DType::BF16, 0x0001, 0x1p-133},
                               {DType::BF16, 0xC049, -3.140625},
                               {DType::FP16, 0x3C00, 1.0},
                               {DType::FP16, 0x7BFF, 65504.0},
                               {DType::FP16, 0x0001, 0x1p-24},
                               {DType::FP16, 0x0400, 0x1p-14},
                               {DType::FP16, 0x3555, 0.333251953125},
                               {DType::FP32, 0x00000001, 0x1p-149},
                               {DType::FP64, 0x4000000000000000, 2.0},
                               {DType::E4M3FN, 0x7E, 448.0},
                               {DType::E4M3FN, 0x01, 0x1p-9},
                               {DType::E4M3FN, 0x08, 0x1p-6},
                               {DType::E5M2, 0x7B, 57344.0},
                               {DType::E5M2, 0x01, 0x1p-16},
                               {DType::E4M3FNUZ, 0x7F, 240.0},
                               {DType::E4M3FNUZ, 0x01, 0x1p-10},
                               {DType::E5M2FNUZ, 0x7F, 57344.0},
                               {DType::E5M2FNUZ, 0x01, 0x1p-17},
                               {DType::I8, 0xFF, -1.0},
                               {DType::U8, 0xFF, 255.0},
                               {DType::I16, 0x8000, -32768.0},
                               {DType::I32, 0x80000000, -2147483648.0}};
        for (const Known& k : known)
            QCOMPARE(toDouble(k.bits, k.dtype), k.value);
        const double inf = std::numeric_limits<double>::infinity();
        QCOMPARE(toDouble(0x7F80, DType::BF16), inf);
        QCOMPARE(toDouble(0xFC00, DType::FP16), -inf);
        QCOMPARE(toDouble(0x7C, DType::E5M2), inf);
        for (const auto& [dtype, bits] : {std::pair{DType::BF16, 0x7F81U},
                                          {DType::FP16, 0xFE00U},
                                          {DType::E4M3FN, 0x7FU},
                                          {DType::E4M3FN, 0xFFU},
                                          {DType::E5M2, 0x7DU},
                                          {DType::E4M3FNUZ, 0x80U},
                                          {DType::E5M2FNUZ, 0x80U}})
            QVERIFY(std::isnan(toDouble(bits, dtype)));
    }

    void every16BitValueRoundTrips()
    {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            if (!std::isnan(floatFromBf16(half)))
                QCOMPARE(bf16FromFloat(floatFromBf16(half)), half);
            else
                QVERIFY(std::isnan(floatFromBf16(bf16FromFloat(floatFromBf16(half)))));
            if (!std::isnan(floatFromFp16(half)))
                QCOMPARE(fp16FromFloat(floatFromFp16(half)), half);
            else
                QVERIFY(std::isnan(floatFromFp16(fp16FromFloat(floatFromFp16(half)))));
        }
    }

    void roundingTakesTheNearerNeighbourTiesToEven()
    {
        // Against the definition: of the two neighbours in the 16-bit type the nearer, else the
        // even.
        std::mt19937 g(8);
        for (const bool half : {false, true}) {
            const auto narrow = half ? fp16FromFloat : bf16FromFloat;
            const auto widen = half ? floatFromFp16 : floatFromBf16;
            for (int i = 0; i < 200000; ++i) {
                auto bits = static_cast<std::uint32_t>(g());
                if (half && i % 2 == 0) // fp16's own range, subnormals included
                    bits = (bits & 0x87FFFFFFU) | ((98U + bits % 48U) << 23U & 0x7F800000U);
                if (i % 3 == 0)
                    bits &= half ? 0xFFFFF000U : 0xFFFF8000U; // many ties
                const auto value = std::bit_cast<float>(bits);
                if (!std::isfinite(value))
                    continue;
                const std::uint16_t got = narrow(value);
                const double distance = std::fabs(double{widen(got)} - value);
                if (std::isinf(widen(got))) {
                    QVERIFY(std::fabs(value) >= (half ? 65520.0F : 0x1.FFp127F));
                    continue;
                }
                for (const int step : {-1, 1}) {
                    const float other = widen(static_cast<std::uint16_t>(got + step));
                    if (!std::isfinite(other) || std::signbit(other) != std::signbit(value))
                        continue;
                    const double otherDistance = std::fabs(double{other} - value);
                    QVERIFY(distance < otherDistance
                            || (distance == otherDistance && got % 2 == 0));
                }
            }
        }
    }

    void classes()
    {
        QVERIFY(classOf(0x0000, DType::BF16) == ValueClass::Zero);
        QVERIFY(classOf(0x8000, DType::BF16) == ValueClass::Zero);
        QVERIFY(classOf(0x007F, DType::BF16) == ValueClass::Subnormal);
        QVERIFY(classOf(0x0080, DType::BF16) == ValueClass::Normal);
        QVERIFY(classOf(0x7F80, DType::BF16) == ValueClass::PlusInf);
        QVERIFY(classOf(0xFF80, DType::BF16) == ValueClass::MinusInf);
        QVERIFY(classOf(0xFFC0, DType::BF16) == ValueClass::NaN);
        QVERIFY(classOf(0x80, DType::E4M3FNUZ) == ValueClass::NaN);
        QVERIFY(classOf(0, DType::I32) == ValueClass::Zero);
    }

    void ulpsCountSteps()
    {
        QCOMPARE(ulpDistance(0x3F80, 0x3F81, DType::BF16).value(), 1U);
        QCOMPARE(ulpDistance(0x0000, 0x8000, DType::FP32).value(), 0x8000U);
        QCOMPARE(ulpDistance(0x8000, 0x0000, DType::FP16).value(), 0U); // −0 and +0
        QCOMPARE(ulpDistance(0x8001, 0x0001, DType::FP16).value(), 2U);
        QCOMPARE(ulpDistance(0x7C00, 0xFC00, DType::FP16).value(), 2U * 0x7C00U);
        QVERIFY(!ulpDistance(0x7E00, 0x3C00, DType::FP16));
        QCOMPARE(ulpDistance(0x7E00, 0x7E00, DType::FP16).value(), 0U);
        QCOMPARE(ulpDistance(0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, DType::FP64).value(),
                 std::uint64_t{0x7FFFFFFFFFFFFFFF}); // saturates
        QCOMPARE(ulpDistance(0x80, 0x7F, DType::I8).value(), 255U);
    }

    void digests()
    {
        // Python, from the definition in core/store/FORMAT.md:
        //   M=(1<<64)-1
        //   def mix(z): z=((z^(z>>30))*0xBF58476D1CE4E5B9)&M
        //               z=((z^(z>>27))*0x94D049BB133111EB)&M; return z^(z>>31)
        //   sum(mix((b+(i+1)*0x9E3779B97F4A7C15)&M) for i,b in enumerate(bits))&M
        const float floats[] = {1, -2, 0.5F, -0.0F};
        const std::uint16_t halves[] = {0x3F80, 0xC000, 0x3F00};
        const std::uint64_t words[] = {1, std::numeric_limits<std::uint64_t>::max()};
        const auto* bytes = reinterpret_cast<const std::byte*>("abc");
        const auto digestOf = [](const auto& values, DType dtype) {
            return rowDigest(reinterpret_cast<const std::byte*>(values), dtype, std::size(values));
        };
        QCOMPARE(digestOf(floats, DType::FP32), 0xA960A5BE0DE0B1D8U);
        QCOMPARE(digestOf(halves, DType::BF16), 0xF28B266B1E69E9B9U);
        QCOMPARE(wordsDigest(words, 2), 0x7AAA265464F8DF8AU);
        QCOMPARE(bytesDigest(bytes, 3), 0x020423F520CB9146U);
        QCOMPARE(bytesDigest(bytes, 0), 0U);
        std::uint8_t hundred[100];
        for (std::uint8_t i = 0; i < 100; ++i)
            hundred[i] = i;
        QCOMPARE(digestOf(hundred, DType::U8), 0x5629AE5AA0C1139DU);
    }

    void topKRanksAsDocumented()
    {
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        constexpr float inf = std::numeric_limits<float>::infinity();
        const float values[] = {1, nan, 3, -inf, 3, 0, -0.0F, inf};
        const auto ids = [&](std::size_t k) {
            std::vector<std::int32_t> result;
            for (const Ranked& entry : topK(values, std::size(values), k))
                result.push_back(entry.id);
            return result;
        };
        QCOMPARE(ids(3), (std::vector<std::int32_t>{7, 2, 4}));
        QCOMPARE(ids(99), (std::vector<std::int32_t>{7, 2, 4, 0, 5, 6, 3, 1}));
        QVERIFY(ids(0).empty());
    }

    void topKEqualsASort()
    {
        std::mt19937 g(4);
        for (int round = 0; round < 200; ++round) {
            std::vector<float> values(g() % 300 + 1);
            for (float& value : values)
                value = static_cast<float>(g() % 40);
            std::vector<std::int32_t> order(values.size());
            for (std::size_t i = 0; i < order.size(); ++i)
                order[i] = static_cast<std::int32_t>(i);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
                return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
            });
            const std::size_t k = g() % 20 + 1;
            const auto best = topK(values.data(), values.size(), k);
            QCOMPARE(best.size(), std::min(k, values.size()));
            for (std::size_t i = 0; i < best.size(); ++i)
                QCOMPARE(best[i].id, order[i]);
        }
    }
};

QTEST_APPLESS_MAIN(DTypeTest)
#include "dtype_test.moc"
