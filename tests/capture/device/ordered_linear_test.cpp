// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_linear.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

struct Shape
{
    std::size_t rows, outputs, inputs;
};

/// The contract written down plainly: one accumulator, ascending index, std::fma.
Buffer plainLinear(const Buffer& x, const Buffer& w, const Buffer* bias, Shape shape, DType outType)
{
    Buffer y(outType, shape.rows * shape.outputs);
    for (std::size_t m = 0; m < shape.rows; ++m) {
        for (std::size_t n = 0; n < shape.outputs; ++n) {
            float sum = 0.0F;
            for (std::size_t k = 0; k < shape.inputs; ++k)
                sum = std::fma(x[m * shape.inputs + k], w[n * shape.inputs + k], sum);
            y.set(m * shape.outputs + n, bias ? sum + (*bias)[n] : sum);
        }
    }
    return y;
}

Buffer kernelLinear(const Buffer& x, const Buffer& w, const Buffer* bias, Shape shape,
                    DType outType, unsigned threads)
{
    Workers workers(threads);
    const PackedLinear packed(w.data(), w.dtype, shape.outputs, shape.inputs, shape.inputs,
                              bias ? bias->data() : nullptr, workers);
    Buffer y(outType, shape.rows * shape.outputs);
    linear(x.data(), x.dtype, shape.inputs, shape.rows, packed, y.data(), outType, shape.outputs,
           workers);
    return y;
}

} // namespace

class OrderedLinearTest : public QObject
{
    Q_OBJECT

private slots:
    void everyTargetGivesThePlainForm()
    {
        std::mt19937 generator(7);
        const Shape shapes[] = {{1, 1, 1},   {1, 17, 5},   {2, 16, 33}, {3, 100, 64}, {5, 31, 7},
                                {6, 48, 20}, {7, 65, 300}, {13, 80, 3}, {26, 33, 520}};
        for (const Shape shape : shapes) {
            for (const DType weightType : storageTypes) {
                for (const DType valueType : storageTypes) {
                    const Buffer x = randomBuffer(generator, valueType, shape.rows * shape.inputs);
                    const Buffer w =
                        randomBuffer(generator, weightType, shape.outputs * shape.inputs);
                    const Buffer bias = randomBuffer(generator, weightType, shape.outputs);
                    const Buffer plain = plainLinear(x, w, &bias, shape, valueType);
                    const Buffer plainBare = plainLinear(x, w, nullptr, shape, valueType);
                    forEachTarget([&](const std::string& target) {
                        QVERIFY2(kernelLinear(x, w, &bias, shape, valueType, 1) == plain,
                                 target.c_str());
                        QVERIFY2(kernelLinear(x, w, nullptr, shape, valueType, 3) == plainBare,
                                 target.c_str());
                    });
                }
            }
        }
    }

    void aRowDoesNotDependOnTheOthers()
    {
        std::mt19937 generator(11);
        const Shape shape{150, 70, 290};
        for (const DType type : storageTypes) {
            const Buffer x = randomBuffer(generator, type, shape.rows * shape.inputs);
            const Buffer w = randomBuffer(generator, type, shape.outputs * shape.inputs);
            const Buffer all = kernelLinear(x, w, nullptr, shape, type, 2);
            for (const unsigned threads : {1U, 2U, 5U})
                QVERIFY(kernelLinear(x, w, nullptr, shape, type, threads) == all);
            Workers workers(2);
            const PackedLinear packed(w.data(), type, shape.outputs, shape.inputs, shape.inputs,
                                      nullptr, workers);
            for (const std::size_t batch : {1UL, 3UL, 8UL}) {
                Buffer parts(type, shape.rows * shape.outputs);
                for (std::size_t row = 0; row < shape.rows; row += batch)
                    linear(x.at(row * shape.inputs), type, shape.inputs,
                           std::min(batch, shape.rows - row), packed, parts.at(row * shape.outputs),
                           type, shape.outputs, workers);
                QVERIFY(parts == all);
            }
        }
    }

    void stridesAreRespected()
    {
        std::mt19937 generator(13);
        constexpr std::size_t rows = 9, outputs = 20, inputs = 12, inStride = 17, outStride = 25;
        const Buffer x = randomBuffer(generator, DType::FP32, rows * inStride);
        const Buffer w = randomBuffer(generator, DType::FP32, outputs * inStride);
        Workers workers(2);
        const PackedLinear packed(w.data(), DType::FP32, outputs, inputs, inStride, nullptr,
                                  workers);
        Buffer y(DType::FP32, rows * outStride);
        for (std::size_t i = 0; i < y.size(); ++i)
            y.set(i, 99.0F);
        linear(x.data(), DType::FP32, inStride, rows, packed, y.data(), DType::FP32, outStride,
               workers);
        for (std::size_t m = 0; m < rows; ++m) {
            for (std::size_t n = 0; n < outStride; ++n) {
                float sum = 0.0F;
                for (std::size_t k = 0; k < inputs && n < outputs; ++k)
                    sum = std::fma(x[m * inStride + k], w[n * inStride + k], sum);
                QCOMPARE(y[m * outStride + n], n < outputs ? sum : 99.0F);
            }
        }
    }

    void errorStaysWithinTheBound()
    {
        std::mt19937 generator(17);
        const Shape shape{20, 40, 1536};
        const Buffer x = randomBuffer(generator, DType::FP32, shape.rows * shape.inputs);
        const Buffer w = randomBuffer(generator, DType::FP32, shape.outputs * shape.inputs);
        const Buffer y = kernelLinear(x, w, nullptr, shape, DType::FP32, 2);
        const long double n = static_cast<long double>(shape.inputs) * 0x1p-24L;
        for (std::size_t m = 0; m < shape.rows; ++m) {
            for (std::size_t o = 0; o < shape.outputs; ++o) {
                long double exact = 0;
                long double magnitude = 0;
                for (std::size_t k = 0; k < shape.inputs; ++k) {
                    const long double product =
                        static_cast<long double>(x[m * shape.inputs + k]) * w[o * shape.inputs + k];
                    exact += product;
                    magnitude += std::fabs(product);
                }
                QVERIFY(std::fabs(y[m * shape.outputs + o] - exact) <= n / (1 - n) * magnitude);
            }
        }
    }

    void nanAndInfinityPassThrough()
    {
        constexpr float inf = std::numeric_limits<float>::infinity();
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        const Shape shape{4, 3, 2};
        for (const DType type : storageTypes) {
            Buffer x(type, shape.rows * shape.inputs);
            Buffer w(type, shape.outputs * shape.inputs);
            const float xs[] = {1, 2, inf, 1, -nan, 1, inf, -inf};
            const float ws[] = {1, 1, 0, 1, -1, 2};
            for (std::size_t i = 0; i < x.size(); ++i)
                x.set(i, xs[i]);
            for (std::size_t i = 0; i < w.size(); ++i)
                w.set(i, ws[i]);
            // By hand: row · weight rows (1,1), (0,1), (−1,2).
            const float expected[] = {3,   2,   3,   inf, nan, -inf, //
                                      nan, nan, nan, nan, nan, -inf};
            forEachTarget([&](const std::string& target) {
                const Buffer y = kernelLinear(x, w, nullptr, shape, type, 1);
                for (std::size_t i = 0; i < y.size(); ++i) {
                    if (std::isnan(expected[i])) {
                        const std::uint64_t bits = moire::numeric::bitsAt(y.bytes.data(), type, i);
                        const std::uint64_t quiet = type == DType::FP32   ? 0x7FC00000U
                                                    : type == DType::BF16 ? 0x7FC0U
                                                                          : 0x7E00U;
                        QVERIFY2(bits == quiet, target.c_str());
                    } else {
                        QVERIFY2(y[i] == expected[i], target.c_str());
                    }
                }
            });
        }
    }

    void subnormalsAreKept()
    {
        const Shape shape{1, 1, 2};
        Buffer x(DType::FP32, 2);
        Buffer w(DType::FP32, 2);
        x.set(0, 0x1p-100F);
        w.set(0, 0x1p-48F); // 2^-148, two times the smallest subnormal
        x.set(1, 0x1p-149F);
        w.set(1, 1.0F);
        forEachTarget([&](const std::string& target) {
            const Buffer y = kernelLinear(x, w, nullptr, shape, DType::FP32, 1);
            QVERIFY2(y[0] == 0x1.8p-148F, target.c_str());
        });
    }
};

QTEST_APPLESS_MAIN(OrderedLinearTest)
#include "ordered_linear_test.moc"
