// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_rows.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

/// 16 stripes and a tree, by fused multiply-add of x·y into the stripes.
float plainStriped(const std::vector<float>& x, const std::vector<float>& y)
{
    float stripe[16] = {};
    for (std::size_t i = 0; i < x.size(); ++i)
        stripe[i % 16] = std::fma(x[i], y[i], stripe[i % 16]);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            stripe[i] += stripe[i + half];
    return stripe[0];
}

std::vector<float> rowOf(const Buffer& buffer, std::size_t row, std::size_t width)
{
    std::vector<float> values;
    for (std::size_t i = 0; i < width; ++i)
        values.push_back(buffer[row * width + i]);
    return values;
}

void plainNorm(Norm norm, std::vector<float> x, const Buffer& weight, const Buffer& bias, float eps,
               Buffer& out, std::size_t row)
{
    const std::size_t width = x.size();
    const DType type = out.dtype;
    const auto count = static_cast<float>(width);
    if (norm == Norm::Layer) {
        const float mean = plainStriped(x, std::vector<float>(width, 1.0F)) / count;
        for (float& value : x)
            value -= mean;
    }
    const float r = 1.0F / std::sqrt(plainStriped(x, x) / count + eps);
    for (std::size_t i = 0; i < width; ++i) {
        const float scaled = x[i] * r;
        const float result = norm == Norm::Layer           ? std::fma(scaled, weight[i], bias[i])
                             : norm == Norm::RmsRoundTwice ? roundedScalar(scaled, type) * weight[i]
                                                           : scaled * weight[i];
        out.set(row * width + i, result);
    }
}

} // namespace

class OrderedRowsTest : public QObject
{
    Q_OBJECT

private slots:
    void normsGiveThePlainFormOnEveryTarget()
    {
        std::mt19937 generator(21);
        for (const DType type : storageTypes) {
            for (const std::size_t width : {1UL, 15UL, 16UL, 33UL, 576UL}) {
                for (const Norm norm : {Norm::RmsRoundTwice, Norm::RmsRoundOnce, Norm::Layer}) {
                    constexpr std::size_t rows = 11;
                    constexpr float eps = 1e-5F;
                    const Buffer x = randomBuffer(generator, type, rows * width, 2.0F);
                    const Buffer weight = randomBuffer(generator, type, width);
                    const Buffer bias = randomBuffer(generator, type, width);
                    Buffer plain(type, rows * width);
                    for (std::size_t r = 0; r < rows; ++r)
                        plainNorm(norm, rowOf(x, r, width), weight, bias, eps, plain, r);
                    forEachTarget([&](const std::string& target) {
                        for (const unsigned threads : {1U, 3U}) {
                            Workers workers(threads);
                            Buffer out(type, rows * width);
                            normalise(norm, x.data(), width, weight.data(), bias.data(), eps,
                                      out.data(), width, type, rows, width, workers);
                            QVERIFY2(out == plain, target.c_str());
                        }
                    });
                }
            }
        }
    }

    void aNormWithoutWeightOnlyScales()
    {
        // By hand: mean 4, deviations −3 −1 1 3, variance 5; eps 0 gives 1/√5.
        const float x[] = {1, 3, 5, 7};
        float out[4];
        Workers workers(1);
        normalise(Norm::Layer, x, 4, nullptr, nullptr, 0.0F, out, 4, DType::FP32, 1, 4, workers);
        const float r = 1.0F / std::sqrt(5.0F);
        for (int i = 0; i < 4; ++i)
            QCOMPARE(out[i], (x[i] - 4.0F) * r);
        // RMS of 3, 4 with width 2: √12.5.
        const float y[] = {3, 4};
        normalise(Norm::RmsRoundOnce, y, 2, nullptr, nullptr, 0.0F, out, 2, DType::FP32, 1, 2,
                  workers);
        QCOMPARE(out[0], 3.0F * (1.0F / std::sqrt(12.5F)));
    }

    void softmaxGivesThePlainFormOnEveryTarget()
    {
        std::mt19937 generator(22);
        for (const std::size_t width : {1UL, 2UL, 31UL, 64UL, 1000UL}) {
            const Buffer x = randomBuffer(generator, DType::FP32, 3 * width, 8.0F);
            Buffer plain(DType::FP32, 3 * width);
            for (std::size_t r = 0; r < 3; ++r) {
                std::vector<float> row = rowOf(x, r, width);
                const float top = *std::max_element(row.begin(), row.end());
                for (float& value : row)
                    value = static_cast<float>(std::exp(static_cast<double>(value - top)));
                const float sum = plainStriped(row, std::vector<float>(width, 1.0F));
                for (std::size_t i = 0; i < width; ++i)
                    plain.set(r * width + i, row[i] / sum);
            }
            forEachTarget([&](const std::string& target) {
                Workers workers(2);
                Buffer out(DType::FP32, 3 * width);
                softmaxRows(x.data(), DType::FP32, out.data(), DType::FP32, 3, width, workers);
                QVERIFY2(out == plain, target.c_str());
            });
        }
    }

    void softmaxOfUnusualRows()
    {
        constexpr float inf = std::numeric_limits<float>::infinity();
        forEachTarget([&](const std::string& target) {
            Workers workers(1);
            const float x[] = {0, -inf, 0, -inf, -inf, -inf, 1, NAN, 2, 1, inf, 0};
            float out[12];
            softmaxRows(x, DType::FP32, out, DType::FP32, 4, 3, workers);
            QVERIFY2(out[0] == 0.5F && out[1] == 0.0F && out[2] == 0.5F, target.c_str());
            for (int i = 3; i < 12; ++i)
                QVERIFY2(std::isnan(out[i]), target.c_str());
        });
    }

    void elementsRoundOnce()
    {
        std::mt19937 generator(23);
        constexpr std::size_t count = 1003;
        for (const DType type : storageTypes) {
            const Buffer a = randomBuffer(generator, type, count, 100.0F);
            const Buffer b = randomBuffer(generator, type, count, 100.0F);
            forEachTarget([&](const std::string& target) {
                Workers workers(2);
                Buffer sum(type, count), product(type, count), scaled(type, count);
                addElements(a.data(), b.data(), sum.data(), type, count, workers);
                multiplyElements(a.data(), b.data(), product.data(), type, count, workers);
                scaleElements(a.data(), 0.1F, scaled.data(), type, count, workers);
                for (std::size_t i = 0; i < count; ++i) {
                    QVERIFY2(sum[i] == roundedScalar(a[i] + b[i], type), target.c_str());
                    QVERIFY2(product[i] == roundedScalar(a[i] * b[i], type), target.c_str());
                    QVERIFY2(scaled[i] == roundedScalar(a[i] * 0.1F, type), target.c_str());
                }
            });
        }
    }

    void every16BitValueSurvivesEveryTarget()
    {
        for (const DType type : {DType::BF16, DType::FP16}) {
            Buffer all(type, 65536);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto bits = static_cast<std::uint16_t>(i);
                std::memcpy(all.at(i), &bits, sizeof bits);
            }
            forEachTarget([&](const std::string& target) {
                Workers workers(1);
                Buffer out(type, all.size());
                scaleElements(all.data(), 1.0F, out.data(), type, all.size(), workers);
                for (std::size_t i = 0; i < all.size(); ++i) {
                    const std::uint64_t bits = moire::numeric::bitsAt(out.bytes.data(), type, i);
                    const std::uint64_t quiet = type == DType::BF16 ? 0x7FC0 : 0x7E00;
                    QVERIFY2(bits == (std::isnan(all[i]) ? quiet : i), target.c_str());
                }
            });
        }
    }

    void rotationRoundsWhereItSays()
    {
        // One head of two elements at position 3 with inverse frequency 0.5.
        Workers workers(1);
        const std::int64_t position = 3;
        const float frequency = 0.5F;
        for (const DType type : storageTypes) {
            for (const RotaryRounding rounding : {RotaryRounding::Each, RotaryRounding::Once}) {
                const bool each = rounding == RotaryRounding::Each;
                const DType tableType = each ? type : DType::FP32;
                float cosine = 0;
                float sine = 0;
                rotaryTable(&position, 1, &frequency, 1, 1.0F, tableType, &cosine, &sine);
                QCOMPARE(cosine, roundedScalar(static_cast<float>(std::cos(1.5)), tableType));
                QCOMPARE(sine, roundedScalar(static_cast<float>(std::sin(1.5)), tableType));
                Buffer x(type, 2);
                x.set(0, 1.7F);
                x.set(1, -0.3F);
                const float a = x[0];
                const float b = x[1];
                rotate(x.data(), 2, x.data(), 2, type, 1, 1, 1, &cosine, &sine, rounding, workers);
                const auto round = [&](float v) { return each ? roundedScalar(v, type) : v; };
                QCOMPARE(x[0], roundedScalar(round(a * cosine) + round(-b * sine), type));
                QCOMPARE(x[1], roundedScalar(round(b * cosine) + round(a * sine), type));
            }
        }
    }

    void routerRanksTiesByAscendingId()
    {
        Workers workers(1);
        const float logits[] = {1, 3, 3, 3, 0, 3, 2, 3, NAN, 0, 0, 0, 0, 0, 0, 0};
        std::int64_t ids[6];
        float weights[6];
        route(logits, DType::FP32, 2, 8, 3, true, ids, weights, DType::FP32, workers);
        QCOMPARE(ids[0], 1);
        QCOMPARE(ids[1], 2);
        QCOMPARE(ids[2], 3);
        for (int s = 0; s < 3; ++s)
            QCOMPARE(weights[s], 1.0F / 3.0F);
        QCOMPARE(ids[3], 0); // all NaN: still ascending
        QVERIFY(std::isnan(weights[3]));
    }

    void slotsAddInTheGivenOrder()
    {
        // bf16 spacing at 256 is 2: 256 + 1 stays 256 when rounded each time, 256 + (1 + 1) = 258.
        Workers workers(1);
        Buffer values(DType::BF16, 3);
        values.set(0, 256.0F);
        values.set(1, 1.0F);
        values.set(2, 1.0F);
        Buffer out(DType::BF16, 1);
        const std::int32_t ascending[] = {0, 1, 2};
        const std::int32_t descending[] = {2, 1, 0};
        sumSlots(values.data(), ascending, out.data(), DType::BF16, 1, 3, 1, true, workers);
        QCOMPARE(out[0], 256.0F);
        sumSlots(values.data(), descending, out.data(), DType::BF16, 1, 3, 1, true, workers);
        QCOMPARE(out[0], 258.0F);
        sumSlots(values.data(), ascending, out.data(), DType::BF16, 1, 3, 1, false, workers);
        QCOMPARE(out[0], 258.0F);
    }
};

QTEST_APPLESS_MAIN(OrderedRowsTest)
#include "ordered_rows_test.moc"
