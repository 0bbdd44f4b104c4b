// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/planned_linear.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <functional>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

struct Shape
{
    std::size_t rows, outputs, inputs;
};

/// The contract written down plainly, by recursion where the kernel has a counter.
class Oracle
{
public:
    Oracle(const Buffer& x, const Buffer& w, Shape shape, SumPlan plan)
        : m_x(x)
        , m_w(w)
        , m_shape(shape)
        , m_plan(plan)
    {}

    float output(std::size_t row, std::size_t column) const
    {
        std::vector<float> groups;
        const std::size_t step = m_plan.leaf * m_plan.group;
        for (std::size_t k = 0; k < m_shape.inputs; k += step)
            groups.push_back(group(row, column, k, std::min(m_shape.inputs, k + step)));
        if (m_plan.combine == Combine::Tree)
            return tree(groups);
        float sum = groups.front();
        for (std::size_t g = 1; g < groups.size(); ++g) {
            sum += groups[g];
            if (m_plan.combine == Combine::Sequential)
                sum = roundedScalar(sum, m_plan.groupType);
        }
        return sum;
    }

private:
    float dot(std::size_t row, std::size_t column, std::size_t begin, std::size_t end) const
    {
        float sum = 0.0F;
        for (std::size_t k = begin; k < end; ++k)
            sum = std::fma(m_x[row * m_shape.inputs + k], m_w[column * m_shape.inputs + k], sum);
        return sum;
    }

    float group(std::size_t row, std::size_t column, std::size_t begin, std::size_t end) const
    {
        if (m_plan.continuous)
            return roundedScalar(dot(row, column, begin, end), m_plan.groupType);
        float sum = 0.0F;
        for (std::size_t k = begin; k < end; k += m_plan.leaf) {
            const float leaf =
                roundedScalar(dot(row, column, k, std::min(end, k + m_plan.leaf)), m_plan.leafType);
            sum = k == begin ? leaf : roundedScalar(sum + leaf, m_plan.leafType);
        }
        return roundedScalar(sum, m_plan.groupType);
    }

    /// Level by level, as ranks do it.
    float tree(std::vector<float> p) const
    {
        for (std::size_t s = 1; s < p.size(); s *= 2)
            for (std::size_t i = 0; i + s < p.size(); i += 2 * s)
                p[i] = roundedScalar(p[i] + p[i + s], m_plan.groupType);
        return p.front();
    }

    const Buffer& m_x;
    const Buffer& m_w;
    Shape m_shape;
    SumPlan m_plan;
};

Buffer oracleLinear(const Buffer& x, const Buffer& w, const Buffer* bias, Shape shape, SumPlan plan,
                    DType outType)
{
    const Oracle oracle(x, w, shape, plan);
    Buffer y(outType, shape.rows * shape.outputs);
    for (std::size_t m = 0; m < shape.rows; ++m)
        for (std::size_t n = 0; n < shape.outputs; ++n)
            y.set(m * shape.outputs + n, oracle.output(m, n) + (bias ? (*bias)[n] : 0.0F));
    return y;
}

Buffer kernelLinear(const Buffer& x, const Buffer& w, const Buffer* bias, Shape shape, SumPlan plan,
                    DType outType, unsigned threads)
{
    Workers workers(threads);
    const PackedLinear packed(w.data(), w.dtype, shape.outputs, shape.inputs, shape.inputs,
                              bias ? bias->data() : nullptr, workers);
    Buffer y(outType, shape.rows * shape.outputs);
    plannedLinear(x.data(), x.dtype, shape.inputs, shape.rows, packed, {0, shape.inputs}, plan,
                  y.data(), outType, shape.outputs, workers);
    return y;
}

std::vector<SumPlan> plans(DType type)
{
    const DType wide = DType::FP32;
    std::vector<SumPlan> result;
    for (const std::size_t group : {1UL, 2UL, 3UL, 5UL}) {
        result.push_back({4, group, false, type, type, Combine::Tree});
        result.push_back({4, group, true, wide, type, Combine::Tree});
        result.push_back({7, group, false, wide, type, Combine::Sequential});
        result.push_back({7, group, false, wide, type, Combine::Wide});
    }
    result.push_back({300, 1, false, type, type, Combine::Tree}); // two blocks of depth a leaf
    return result;
}

} // namespace

class PlannedLinearTest : public QObject
{
    Q_OBJECT

private slots:
    void everyTargetGivesTheOracle()
    {
        std::mt19937 generator(5);
        const Shape shapes[] = {{1, 1, 1},    {2, 17, 24},  {7, 65, 44},
                                {26, 33, 60}, {50, 33, 48}, {3, 20, 620}};
        for (const Shape shape : shapes) {
            for (const DType type : storageTypes) {
                const Buffer x = randomBuffer(generator, type, shape.rows * shape.inputs);
                const Buffer w = randomBuffer(generator, type, shape.outputs * shape.inputs);
                const Buffer bias = randomBuffer(generator, type, shape.outputs);
                for (const SumPlan& plan : plans(type)) {
                    const Buffer bare = oracleLinear(x, w, nullptr, shape, plan, type);
                    const Buffer biased = oracleLinear(x, w, &bias, shape, plan, type);
                    forEachTarget([&](const std::string& target) {
                        QVERIFY2(kernelLinear(x, w, nullptr, shape, plan, type, 1) == bare,
                                 target.c_str());
                        QVERIFY2(kernelLinear(x, w, &bias, shape, plan, type, 3) == biased,
                                 target.c_str());
                    });
                }
            }
        }
    }

    /// The recursion of the papers: R(lo, n) = the leaves one by one where n ≤ F, else its halves.
    void theCounterIsTheRecursion()
    {
        std::mt19937 generator(6);
        constexpr std::size_t leaf = 4;
        for (const auto& [leaves, first] : {std::pair{24UL, 3UL},
                                            {16UL, 2UL},
                                            {20UL, 5UL},
                                            {7UL, 7UL},
                                            {1UL, 1UL},
                                            {48UL, 3UL}}) {
            const std::size_t inputs = leaves * leaf;
            const Buffer x = randomBuffer(generator, DType::BF16, inputs);
            const Buffer w = randomBuffer(generator, DType::BF16, inputs);
            const auto product = [&](std::size_t t) {
                float sum = 0.0F;
                for (std::size_t k = t * leaf; k < (t + 1) * leaf; ++k)
                    sum = std::fma(x[k], w[k], sum);
                return roundedScalar(sum, DType::BF16);
            };
            const std::function<float(std::size_t, std::size_t)> recursion =
                [&, f = first](std::size_t lo, std::size_t n) {
                    if (n > f)
                        return roundedScalar(recursion(lo, n / 2) + recursion(lo + n / 2, n / 2),
                                             DType::BF16);
                    float sum = product(lo);
                    for (std::size_t t = lo + 1; t < lo + n; ++t)
                        sum = roundedScalar(sum + product(t), DType::BF16);
                    return sum;
                };
            const SumPlan plan{leaf, first, false, DType::BF16, DType::BF16, Combine::Tree};
            const Buffer y = kernelLinear(x, w, nullptr, {1, 1, inputs}, plan, DType::BF16, 1);
            QCOMPARE(y[0], recursion(0, leaves));
        }
    }

    void aRowDoesNotDependOnTheOthers()
    {
        std::mt19937 generator(11);
        const Shape shape{150, 70, 288};
        for (const DType type : storageTypes) {
            const Buffer x = randomBuffer(generator, type, shape.rows * shape.inputs);
            const Buffer w = randomBuffer(generator, type, shape.outputs * shape.inputs);
            const SumPlan plan{32, 3, false, type, type, Combine::Tree};
            const Buffer all = kernelLinear(x, w, nullptr, shape, plan, type, 2);
            for (const unsigned threads : {1U, 5U})
                QVERIFY(kernelLinear(x, w, nullptr, shape, plan, type, threads) == all);
            Workers workers(2);
            const PackedLinear packed(w.data(), type, shape.outputs, shape.inputs, shape.inputs,
                                      nullptr, workers);
            for (const std::size_t batch : {1UL, 3UL, 8UL}) {
                Buffer parts(type, shape.rows * shape.outputs);
                for (std::size_t row = 0; row < shape.rows; row += batch)
                    plannedLinear(x.at(row * shape.inputs), type, shape.inputs,
                                  std::min(batch, shape.rows - row), packed, {0, shape.inputs},
                                  plan, parts.at(row * shape.outputs), type, shape.outputs,
                                  workers);
                QVERIFY(parts == all);
            }
        }
    }

    /// A range is the product of the weight's columns that it names.
    void rangesOfInputs()
    {
        std::mt19937 generator(12);
        constexpr std::size_t rows = 14, outputs = 37, inputs = 64, begin = 24, count = 32;
        for (const DType type : storageTypes) {
            const Buffer x = randomBuffer(generator, type, rows * inputs);
            const Buffer w = randomBuffer(generator, type, outputs * inputs);
            Buffer xPart(type, rows * count);
            Buffer wPart(type, outputs * count);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t m = 0; m < rows; ++m)
                    xPart.set(m * count + k, x[m * inputs + begin + k]);
                for (std::size_t n = 0; n < outputs; ++n)
                    wPart.set(n * count + k, w[n * inputs + begin + k]);
            }
            const SumPlan plan{8, 1, false, type, type, Combine::Tree};
            Workers workers(2);
            const PackedLinear packed(w.data(), type, outputs, inputs, inputs, nullptr, workers);
            Buffer y(type, rows * outputs);
            plannedLinear(x.at(begin), type, inputs, rows, packed, {begin, count}, plan, y.data(),
                          type, outputs, workers);
            QVERIFY(y
                    == kernelLinear(xPart, wPart, nullptr, {rows, outputs, count}, plan, type, 1));
        }
    }

    void onePlanIsThePlainProduct()
    {
        std::mt19937 generator(13);
        const Shape shape{10, 40, 530};
        for (const DType type : storageTypes) {
            const Buffer x = randomBuffer(generator, type, shape.rows * shape.inputs);
            const Buffer w = randomBuffer(generator, type, shape.outputs * shape.inputs);
            Workers workers(1);
            const PackedLinear packed(w.data(), type, shape.outputs, shape.inputs, shape.inputs,
                                      nullptr, workers);
            Buffer y(type, shape.rows * shape.outputs);
            linear(x.data(), type, shape.inputs, shape.rows, packed, y.data(), type, shape.outputs,
                   workers);
            for (const SumPlan& plan :
                 {SumPlan{shape.inputs, 1, false, DType::FP32, DType::FP32, Combine::Sequential},
                  SumPlan{16, 64, true, DType::FP32, DType::FP32, Combine::Tree}})
                QVERIFY(kernelLinear(x, w, nullptr, shape, plan, type, 1) == y);
        }
    }

    void errorStaysWithinTheBound()
    {
        std::mt19937 generator(14);
        const Shape shape{4, 20, 620};
        for (const DType type : storageTypes) {
            const Buffer x = randomBuffer(generator, type, shape.rows * shape.inputs);
            const Buffer w = randomBuffer(generator, type, shape.outputs * shape.inputs);
            for (const SumPlan& plan : plans(type)) {
                const auto gamma = [](double n, double unit) { return n * unit / (1 - n * unit); };
                const double leaves =
                    std::ceil(static_cast<double>(shape.inputs) / static_cast<double>(plan.leaf));
                const auto group = static_cast<double>(plan.group);
                const double groups = std::ceil(leaves / group);
                const double single =
                    static_cast<double>(plan.leaf) * (plan.continuous ? group : 1.0);
                const double roundings =
                    group + 1
                    + (plan.combine == Combine::Tree ? std::ceil(std::log2(groups)) : groups - 1);
                const double wide = gamma(single + leaves + 1, 0x1p-24);
                const double unit = type == DType::BF16 ? 0x1p-8 : 0x1p-11;
                const double narrow = type == DType::FP32 ? 0.0 : gamma(roundings, unit);
                const Buffer y = kernelLinear(x, w, nullptr, shape, plan, DType::FP32, 1);
                for (std::size_t i = 0; i < y.size(); ++i) {
                    double exact = 0;
                    double magnitude = 0;
                    for (std::size_t k = 0; k < shape.inputs; ++k) {
                        const double product =
                            static_cast<double>(x[i / shape.outputs * shape.inputs + k])
                            * static_cast<double>(w[i % shape.outputs * shape.inputs + k]);
                        exact += product;
                        magnitude += std::abs(product);
                    }
                    QVERIFY(std::abs(static_cast<double>(y[i]) - exact)
                            <= (wide + narrow * (1 + wide)) * magnitude);
                }
            }
        }
    }

    void notANumberHasOneForm()
    {
        Buffer x(DType::BF16, 8);
        Buffer w(DType::BF16, 8);
        for (std::size_t k = 0; k < 8; ++k) {
            x.set(k, 1.0F);
            w.set(k, k < 4 ? std::numeric_limits<float>::infinity()
                           : -std::numeric_limits<float>::infinity());
        }
        const SumPlan plan{4, 1, false, DType::BF16, DType::BF16, Combine::Tree};
        forEachTarget([&](const std::string&) {
            const Buffer y = kernelLinear(x, w, nullptr, {1, 1, 8}, plan, DType::BF16, 1);
            QCOMPARE(moire::numeric::bitsAt(y.bytes.data(), DType::BF16, 0), 0x7FC0U);
        });
    }
};

QTEST_APPLESS_MAIN(PlannedLinearTest)
#include "planned_linear_test.moc"
