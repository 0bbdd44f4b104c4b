// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/row_summary.h"
#include "core/numeric/digest.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

class RowSummaryTest : public QObject
{
    Q_OBJECT

private slots:
    void digestAndCountsAreThoseOfCoreNumeric()
    {
        std::mt19937 g(6);
        for (const DType type : storageTypes) {
            for (const std::size_t width : {1UL, 31UL, 32UL, 33UL, 1000UL}) {
                Buffer row(type, width);
                for (std::byte& byte : row.bytes)
                    byte = static_cast<std::byte>(g());
                checkRow(row);
            }
        }
    }

    void lanesAddInTheStatedOrder()
    {
        // Lane 0 holds 2^53; its partner 16 adds 1, a tie that goes back to 2^53. Lanes 1 and 17
        // hold 1 each and make 2 before they meet lane 0.
        std::vector<float> row(32, 0.0F);
        row[0] = 0x1p53F;
        row[1] = row[16] = row[17] = 1.0F;
        RowSummary out;
        summariseRows(row.data(), DType::FP32, 1, row.size(), 0, &out);
        QCOMPARE(out.mean, static_cast<float>((0x1p53 + 2) / 32));
        QCOMPARE(out.max, 0x1p53F);
        // Minus 2^53 in lane 8, which is added after 0+16: what is left are the two of lane 1.
        row[8] = -0x1p53F;
        summariseRows(row.data(), DType::FP32, 1, row.size(), 0, &out);
        QCOMPARE(out.mean, 2.0F / 32);
    }

    void rowsAreStrideBytesApart()
    {
        const float rows[] = {1, 2, 99, 3, 5, 99};
        RowSummary out[2];
        summariseRows(rows, DType::FP32, 2, 2, 3 * sizeof(float), out);
        QCOMPARE(out[0].mean, 1.5F);
        QCOMPARE(out[1].mean, 4.0F);
    }

    void signedZeros()
    {
        const float row[] = {0.0F, -0.0F};
        RowSummary out;
        summariseRows(row, DType::FP32, 1, 2, 0, &out);
        QVERIFY(std::signbit(out.min) && !std::signbit(out.max));
    }

private:
    static void checkRow(const Buffer& row)
    {
        const std::size_t width = row.size();
        RowSummary out;
        summariseRows(row.data(), row.dtype, 1, width, 0, &out);
        std::uint32_t finite = 0;
        std::uint32_t nan = 0;
        long double sum = 0;
        long double squares = 0;
        long double magnitudes = 0;
        for (std::size_t i = 0; i < width; ++i) {
            const float value = row[i];
            nan += std::isnan(value) ? 1 : 0;
            if (!std::isfinite(value))
                continue;
            ++finite;
            QVERIFY(out.min <= value && value <= out.max);
            sum += value;
            magnitudes += std::fabs(value);
            squares += static_cast<long double>(value) * value;
        }
        QCOMPARE(out.digest, moire::numeric::rowDigest(row.bytes.data(), row.dtype, width));
        QCOMPARE(out.finite, finite);
        QCOMPARE(out.nan, nan);
        QCOMPARE(out.infinite, static_cast<std::uint32_t>(width) - finite - nan);
        if (finite == 0) {
            QVERIFY(std::isnan(out.mean) && std::isnan(out.min));
            return;
        }
        const long double mean = sum / finite;
        QVERIFY(std::fabs(out.mean - mean)
                <= std::fabs(mean) * 0x1p-23L + magnitudes / finite * 0x1p-45L);
        const long double l2 = std::sqrt(squares);
        if (l2 > std::numeric_limits<float>::max())
            QVERIFY(std::isinf(out.l2)); // beyond fp32
        else
            QVERIFY(std::fabs(out.l2 - l2) <= l2 * 0x1p-23L);
    }
};

QTEST_APPLESS_MAIN(RowSummaryTest)
#include "row_summary_test.moc"
