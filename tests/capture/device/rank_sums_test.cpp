// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/rank_sums.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

constexpr std::size_t width = 77; // whole vectors and a rest on every target

std::vector<Buffer> partialsOf(std::mt19937& generator, DType type, std::size_t ranks)
{
    std::vector<Buffer> partials;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        partials.push_back(randomBuffer(generator, type, width));
    return partials;
}

std::vector<const void*> pointersTo(const std::vector<Buffer>& partials)
{
    std::vector<const void*> pointers;
    for (const Buffer& partial : partials)
        pointers.push_back(partial.data());
    return pointers;
}

} // namespace

class RankSumsTest : public QObject
{
    Q_OBJECT

private slots:
    void inOrder()
    {
        std::mt19937 generator(3);
        for (const DType type : storageTypes) {
            for (const std::size_t ranks : {1UL, 2UL, 3UL, 8UL}) {
                const auto partials = partialsOf(generator, type, ranks);
                for (const RankRounding rounding : {RankRounding::Each, RankRounding::Once}) {
                    Buffer expected(type, width);
                    for (std::size_t i = 0; i < width; ++i) {
                        float sum = partials[0][i];
                        for (std::size_t rank = 1; rank < ranks; ++rank) {
                            sum += partials[rank][i];
                            if (rounding == RankRounding::Each)
                                sum = roundedScalar(sum, type);
                        }
                        expected.set(i, sum);
                    }
                    forEachTarget([&](const std::string& target) {
                        Buffer out(type, width);
                        sumInOrder(pointersTo(partials), type, 0, 30, rounding, out.data());
                        sumInOrder(pointersTo(partials), type, 30, width, rounding, out.data());
                        QVERIFY2(out == expected, target.c_str());
                    });
                }
            }
        }
    }

    void asTree()
    {
        std::mt19937 generator(4);
        for (const DType type : storageTypes) {
            for (const std::size_t ranks : {1UL, 2UL, 4UL, 8UL, 16UL}) {
                const auto partials = partialsOf(generator, type, ranks);
                Buffer expected(type, width);
                for (std::size_t i = 0; i < width; ++i) {
                    std::vector<float> p;
                    for (const Buffer& partial : partials)
                        p.push_back(partial[i]);
                    for (std::size_t s = 1; s < ranks; s *= 2)
                        for (std::size_t r = 0; r < ranks; r += 2 * s)
                            p[r] = roundedScalar(p[r] + p[r + s], type);
                    expected.set(i, p[0]);
                }
                forEachTarget([&](const std::string& target) {
                    Buffer out(type, width);
                    sumAsTree(pointersTo(partials), type, 0, width, out.data());
                    QVERIFY2(out == expected, target.c_str());
                });
            }
        }
    }

    /// By hand, a probe of the rounding point. 1 and three times 0.375·2⁻⁷: rounded at
    /// each sum the small ones vanish, in fp32 they make 1 + 2⁻⁷ together.
    void roundingPoint()
    {
        std::vector<Buffer> partials(4, Buffer(DType::BF16, 1));
        partials[0].set(0, 1.0F);
        for (std::size_t rank = 1; rank < 4; ++rank)
            partials[rank].set(0, 0x0.6p-7F);
        Buffer out(DType::BF16, 1);
        sumInOrder(pointersTo(partials), DType::BF16, 0, 1, RankRounding::Each, out.data());
        QCOMPARE(out[0], 1.0F);
        sumInOrder(pointersTo(partials), DType::BF16, 0, 1, RankRounding::Once, out.data());
        QCOMPARE(out[0], 1.0F + 0x1p-7F);
        sumAsTree(pointersTo(partials), DType::BF16, 0, 1, out.data());
        QCOMPARE(out[0], 1.0F + 0x1p-7F); // (1 + 0.375·2⁻⁷ → 1) + 0.75·2⁻⁷ → 1 + 2⁻⁷
    }

    void narrows()
    {
        std::mt19937 generator(9);
        const Buffer values = randomBuffer(generator, DType::FP32, width);
        for (const DType type : storageTypes) {
            Buffer expected(type, width);
            for (std::size_t i = 0; i < width; ++i)
                expected.set(i, values[i]);
            Buffer out(type, width);
            narrowElements(static_cast<const float*>(values.data()), type, 0, width, out.data());
            QVERIFY(out == expected);
        }
    }
};

QTEST_APPLESS_MAIN(RankSumsTest)
#include "rank_sums_test.moc"
