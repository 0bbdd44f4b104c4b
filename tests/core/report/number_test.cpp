// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/number.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace moire::report;
using moire::numeric::DType;

class NumberTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void figures_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("zero") << 0.0 << QByteArray("0");
        QTest::newRow("hundred") << 100.0 << QByteArray("100");
        QTest::newRow("not quite a hundred") << 99.99999 << QByteArray("99.99999");
        QTest::newRow("one below a hundred")
            << std::nextafter(100.0, 0.0) << QByteArray("99.99999999999999");
        QTest::newRow("rounded") << 41.23456 << QByteArray("41.23");
        QTest::newRow("small") << 3.14159e-9 << QByteArray("3.142e-09");
        QTest::newRow("whole") << 3309183.0 << QByteArray("3,309,183");
        QTest::newRow("large") << 354432.4 << QByteArray("354,432");
        QTest::newRow("large negative") << -12345.6 << QByteArray("-12,346");
        QTest::newRow("negative whole") << -1234.0 << QByteArray("-1,234");
        QTest::newRow("infinite") << -std::numeric_limits<double>::infinity()
                                  << QByteArray("-Infinity");
        QTest::newRow("NaN") << std::numeric_limits<double>::quiet_NaN() << QByteArray("NaN");
    }
    void figures()
    {
        QFETCH(double, value);
        QFETCH(QByteArray, text);
        QCOMPARE(QByteArray::fromStdString(figure(value)), text);
    }

    void shortestReadsBack()
    {
        for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 1e22, -2.5})
            QCOMPARE(std::strtod(shortest(value).c_str(), nullptr), value);
        QCOMPARE(shortest(0.1), std::string("0.1"));
    }

    void units()
    {
        QCOMPARE(figureWithUnit(98.2, "%"), std::string("98.2 %"));
        QCOMPARE(figureWithUnit(12, "layer"), std::string("layer 12"));
        QCOMPARE(figureWithUnit(0.5, ""), std::string("0.5"));
    }

    void bits()
    {
        QCOMPARE(bitsText(0x3f59, DType::BF16), std::string("0x3f59"));
        QCOMPARE(bitsText(1, DType::FP32), std::string("0x00000001"));
        QCOMPARE(bitsText(1, DType::E4M3FN), std::string("0x01"));
        QCOMPARE(digestText(255), std::string("0x00000000000000ff"));
        // 0.84765625 is 1.6953125 · 2^-1: exponent 126, mantissa .6953125 = 1011001 in 7 bits.
        QCOMPARE(fieldsText(0x3f59, DType::BF16), std::string("0 01111110 1011001"));
        QCOMPARE(fieldsText(0xc000, DType::FP16), std::string("1 10000 0000000000"));
        QCOMPARE(fieldsText(5, DType::I8), std::string("00000101"));
    }

    void values()
    {
        QCOMPARE(valueText(static_cast<double>(0.1F), DType::FP32), std::string("0.1"));
        QCOMPARE(valueText(0.1, DType::FP64), std::string("0.1"));
        QCOMPARE(valueText(-0.0, DType::BF16), std::string("-0"));
        QCOMPARE(elementText(0x3f59, DType::BF16), std::string("0.84765625"));
        // Neither 2^53 + 1 nor 2^24 + 1 is a number of the next smaller float.
        QCOMPARE(elementText((1ULL << 53U) + 1, DType::I64), std::string("9007199254740993"));
        QCOMPARE(elementText(~0ULL, DType::I64), std::string("-1"));
        QCOMPARE(elementText((1U << 24U) + 1, DType::I32), std::string("16777217"));
        QCOMPARE(elementText(0x80000000U, DType::I32), std::string("-2147483648"));
        QCOMPARE(elementText(0xFF, DType::U8), std::string("255"));
        QCOMPARE(grouped(1234567), std::string("1,234,567"));
        QCOMPARE(grouped(123), std::string("123"));
        QCOMPARE(countOf(1, "row"), std::string("1 row"));
        QCOMPARE(countOf(1000, "row"), std::string("1,000 rows"));
    }
};

QTEST_APPLESS_MAIN(NumberTest)
#include "number_test.moc"
