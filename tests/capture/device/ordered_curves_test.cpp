// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/curves.h"
#include "capture/device/ordered_rows.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <functional>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float quietNaN = std::numeric_limits<float>::quiet_NaN();

/// Distance of two floats in units of the last place of the second.
double ulps(float value, long double exact)
{
    const auto nearest = static_cast<float>(exact);
    const float next = std::nextafter(std::fabs(nearest), inf);
    return static_cast<double>(std::fabs(value - exact)
                               / (static_cast<long double>(next) - std::fabs(nearest)));
}

float curveOf(Curve curve, float x)
{
    Workers workers(1);
    float y = 0;
    applyCurve(curve, &x, &y, DType::FP32, 1, workers);
    return y;
}

} // namespace

class OrderedCurvesTest : public QObject
{
    Q_OBJECT

private:
    void holdsWithin(Curve curve, const std::function<long double(long double)>& exact, double low,
                     double high, double bound = 0.501)
    {
        constexpr std::size_t count = 20003;
        std::mt19937 generator(5);
        std::uniform_real_distribution<double> uniform(low, high);
        Buffer in(DType::FP32, count);
        for (std::size_t i = 0; i < count; ++i)
            in.set(i, static_cast<float>(uniform(generator)));
        Workers workers(2);
        Buffer first(DType::FP32, count);
        applyCurve(curve, in.data(), first.data(), DType::FP32, count, workers);
        for (std::size_t i = 0; i < count; ++i)
            QVERIFY2(ulps(first[i], exact(in[i])) <= bound,
                     qPrintable(QString("at %1").arg(static_cast<double>(in[i]))));
        forEachTarget([&](const std::string& target) {
            Buffer out(DType::FP32, count);
            applyCurve(curve, in.data(), out.data(), DType::FP32, count, workers);
            QVERIFY2(out == first, target.c_str());
        });
    }

private slots:
    void exponentials()
    {
        holdsWithin(
            Curve::Exp, [](long double x) { return std::exp(x); }, -103.9, 88.7);
        holdsWithin(
            Curve::Sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, -80, 80);
        holdsWithin(
            Curve::Silu, [](long double x) { return x / (1 + std::exp(-x)); }, -80, 80);
    }

    void anglesUpToAMillion()
    {
        holdsWithin(
            Curve::Sin, [](long double x) { return std::sin(x); }, -10, 10);
        holdsWithin(
            Curve::Sin, [](long double x) { return std::sin(x); }, -1.1e6, 1.1e6);
        holdsWithin(
            Curve::Cos, [](long double x) { return std::cos(x); }, -1.1e6, 1.1e6);
        holdsWithin(
            Curve::Cos, [](long double x) { return std::cos(x); }, -5e8, 5e8);
    }

    void tanhAndGelu()
    {
        holdsWithin(
            Curve::Tanh, [](long double x) { return std::tanh(x); }, -9, 9);
        holdsWithin(
            Curve::Tanh, [](long double x) { return std::tanh(x); }, -0.01, 0.01);
        holdsWithin(
            Curve::Gelu, [](long double x) { return 0.5L * x * std::erfc(-x / std::sqrt(2.0L)); },
            -12, 12);
        holdsWithin(
            Curve::GeluTanh,
            [](long double x) {
                const long double inner =
                    std::sqrt(2 / 3.14159265358979323846264L) * (x + 0.044715L * x * x * x);
                return x / (1 + std::exp(-2 * inner)); // 0.5·(1 + tanh u) = 1/(1 + e^−2u)
            },
            -3, 6);
    }

    void specialValues()
    {
        forEachTarget([&](const std::string& target) {
            const char* name = target.c_str();
            QVERIFY2(curveOf(Curve::Exp, inf) == inf && curveOf(Curve::Exp, -inf) == 0.0F, name);
            QVERIFY2(curveOf(Curve::Exp, 89.0F) == inf && curveOf(Curve::Exp, -104.0F) == 0.0F,
                     name);
            QVERIFY2(curveOf(Curve::Exp, 0.0F) == 1.0F, name);
            QVERIFY2(curveOf(Curve::Silu, inf) == inf && std::isnan(curveOf(Curve::Silu, -inf)),
                     name); // torch: −∞/(1 + e^∞) = NaN
            QVERIFY2(curveOf(Curve::Sigmoid, -inf) == 0.0F, name);
            QVERIFY2(curveOf(Curve::Sigmoid, inf) == 1.0F, name);
        });
        for (const Curve curve :
             {Curve::Exp, Curve::Sin, Curve::Cos, Curve::Tanh, Curve::Sigmoid, Curve::Silu,
              Curve::Gelu, Curve::GeluTanh, Curve::GeluNew, Curve::Relu, Curve::ReluSquared})
            QVERIFY(std::isnan(curveOf(curve, quietNaN)));
        QVERIFY(std::isnan(curveOf(Curve::Sin, inf)) && std::isnan(curveOf(Curve::Cos, -inf)));
        QCOMPARE(curveOf(Curve::Tanh, inf), 1.0F);
        QCOMPARE(curveOf(Curve::Tanh, -inf), -1.0F);
        QCOMPARE(curveOf(Curve::Gelu, inf), inf);
        QCOMPARE(curveOf(Curve::Relu, -3.0F), 0.0F);
        QCOMPARE(curveOf(Curve::ReluSquared, 3.0F), 9.0F);
        QVERIFY(std::signbit(curveOf(Curve::Sin, -0.0F)));
    }

    void geluNewRoundsEveryOperation()
    {
        // torch 2.11, bf16: transformers.activations.NewGELUActivation()(x) for x = −2 … 2.75.
        const float inputs[] = {-2.0F, -1.25F, -0.5F, 0.125F, 0.75F, 1.5F, 2.75F};
        const float expected[] = {-0x1.8000000000000p-5F, -0x1.1400000000000p-3F,
                                  -0x1.3c00000000000p-3F, 0x1.1a00000000000p-4F,
                                  0x1.2800000000000p-1F,  0x1.6400000000000p+0F,
                                  0x1.6000000000000p+1F};
        Workers workers(1);
        for (std::size_t i = 0; i < std::size(inputs); ++i) {
            Buffer value(DType::BF16, 1);
            value.set(0, inputs[i]);
            applyCurve(Curve::GeluNew, value.data(), value.data(), DType::BF16, 1, workers);
            QCOMPARE(value[0], expected[i]);
        }
    }

    void narrowTypesRoundTheFloat()
    {
        Workers workers(1);
        std::mt19937 generator(2);
        for (const DType type : {DType::BF16, DType::FP16}) {
            const Buffer in = randomBuffer(generator, type, 1001, 3.0F);
            for (const Curve curve : {Curve::Silu, Curve::Exp, Curve::Tanh, Curve::Gelu}) {
                Buffer out(type, in.size());
                applyCurve(curve, in.data(), out.data(), type, in.size(), workers);
                for (std::size_t i = 0; i < in.size(); ++i)
                    QCOMPARE(out[i], roundedScalar(curveOf(curve, in[i]), type));
            }
        }
    }
};

QTEST_APPLESS_MAIN(OrderedCurvesTest)
#include "ordered_curves_test.moc"
