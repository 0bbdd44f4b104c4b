// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_attention.h"
#include "tests/capture/device/buffers.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace moire::capture::device;
using moire::numeric::DType;

namespace {

struct Sizes
{
    std::size_t queries, keys, heads, kvHeads, headDim;
    std::uint32_t window; ///< 0: none
};

/// Queries are the last `queries` of `keys` positions.
struct Case
{
    Sizes sizes;
    Buffer q, k, v;
    std::vector<std::uint32_t> begin, end;

    Case(std::mt19937& generator, DType type, Sizes s)
        : sizes(s)
        , q(randomBuffer(generator, type, s.queries * s.heads * s.headDim))
        , k(randomBuffer(generator, type, s.keys * s.kvHeads * s.headDim))
        , v(randomBuffer(generator, type, s.keys * s.kvHeads * s.headDim))
    {
        for (std::size_t r = 0; r < s.queries; ++r) {
            const auto last = static_cast<std::uint32_t>(s.keys - s.queries + r + 1);
            end.push_back(last);
            begin.push_back(s.window > 0 && last > s.window ? last - s.window : 0);
        }
    }

    /// Rows [first, first + count) of the queries.
    void run(Buffer& out, std::size_t first, std::size_t count, unsigned threads) const
    {
        Attention job;
        const std::size_t width = sizes.heads * sizes.headDim;
        const std::size_t kvWidth = sizes.kvHeads * sizes.headDim;
        job.dtype = q.dtype;
        job.queries = count;
        job.heads = sizes.heads;
        job.kvHeads = sizes.kvHeads;
        job.headDim = sizes.headDim;
        job.q = q.at(first * width);
        job.qRowStride = width;
        job.k = k.data();
        job.v = v.data();
        job.kRowStride = job.vRowStride = kvWidth;
        job.out = out.at(first * width);
        job.outRowStride = width;
        job.qHeadStride = job.kHeadStride = job.vHeadStride = job.outHeadStride = sizes.headDim;
        job.keyBegin = begin.data() + first;
        job.keyEnd = end.data() + first;
        job.scale = 1.0 / std::sqrt(static_cast<double>(sizes.headDim));
        Workers workers(threads);
        attention(job, workers);
    }
    Buffer whole(unsigned threads = 1) const
    {
        Buffer out(q.dtype, q.size());
        run(out, 0, sizes.queries, threads);
        return out;
    }
};

/// The contract for one row and head, written down plainly. exp in double, rounded to fp32.
void plainRow(const Case& c, std::size_t row, std::size_t head, Buffer& out)
{
    const Sizes& s = c.sizes;
    const DType type = c.q.dtype;
    const std::size_t kvHead = head / (s.heads / s.kvHeads);
    const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(s.headDim)));
    std::vector<float> p;
    for (std::size_t j = c.begin[row]; j < c.end[row]; ++j) {
        float sum = 0.0F;
        for (std::size_t i = 0; i < s.headDim; ++i)
            sum = std::fma(c.q[(row * s.heads + head) * s.headDim + i],
                           c.k[(j * s.kvHeads + kvHead) * s.headDim + i], sum);
        p.push_back(roundedScalar(roundedScalar(sum, type) * scale, type));
    }
    const float top = *std::max_element(p.begin(), p.end());
    float stripe[16] = {};
    for (std::size_t j = 0; j < p.size(); ++j) {
        p[j] = static_cast<float>(std::exp(static_cast<double>(p[j] - top)));
        stripe[j % 16] += p[j];
    }
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            stripe[i] += stripe[i + half];
    for (float& value : p)
        value = roundedScalar(value / stripe[0], type);
    for (std::size_t i = 0; i < s.headDim; ++i) {
        float sum = 0.0F;
        for (std::size_t j = 0; j < p.size(); ++j)
            sum =
                std::fma(p[j], c.v[((c.begin[row] + j) * s.kvHeads + kvHead) * s.headDim + i], sum);
        out.set((row * s.heads + head) * s.headDim + i, sum);
    }
}

} // namespace

class OrderedAttentionTest : public QObject
{
    Q_OBJECT

private slots:
    void everyTargetGivesThePlainForm()
    {
        std::mt19937 generator(3);
        const Sizes all[] = {{1, 1, 1, 1, 4, 0},    {3, 3, 2, 1, 16, 0},  {7, 40, 4, 2, 20, 0},
                             {19, 19, 3, 3, 64, 0}, {19, 50, 2, 1, 8, 5}, {8, 33, 2, 2, 12, 1}};
        for (const DType type : storageTypes) {
            for (const Sizes sizes : all) {
                const Case c(generator, type, sizes);
                Buffer plain(type, c.q.size());
                for (std::size_t row = 0; row < sizes.queries; ++row)
                    for (std::size_t head = 0; head < sizes.heads; ++head)
                        plainRow(c, row, head, plain);
                forEachTarget([&](const std::string& target) {
                    QVERIFY2(c.whole() == plain, target.c_str());
                });
            }
        }
    }

    void prefillEqualsDecode()
    {
        std::mt19937 generator(5);
        for (const DType type : storageTypes) {
            for (const std::uint32_t window : {0U, 7U}) {
                const Case c(generator, type, {45, 45, 6, 2, 24, window});
                const Buffer whole = c.whole();
                for (const std::size_t chunk : {1UL, 3UL, 8UL, 20UL}) {
                    Buffer parts(type, c.q.size());
                    for (std::size_t row = 0; row < 45; row += chunk)
                        c.run(parts, row, std::min(chunk, 45 - row), 2);
                    QVERIFY(parts == whole);
                }
                QVERIFY(c.whole(4) == whole);
            }
        }
    }

    void keysThatARowDoesNotSeeDoNotMatter()
    {
        std::mt19937 generator(9);
        for (const DType type : storageTypes) {
            Case c(generator, type, {9, 30, 2, 1, 16, 6});
            const Buffer clean = c.whole();
            // Row r sees [begin, end): poison everything that row 4 does not see.
            for (std::size_t j = 0; j < 30; ++j) {
                if (j >= c.begin[4] && j < c.end[4])
                    continue;
                for (std::size_t i = 0; i < 16; ++i) {
                    c.k.set(j * 16 + i, std::numeric_limits<float>::quiet_NaN());
                    c.v.set(j * 16 + i, std::numeric_limits<float>::infinity());
                }
            }
            const Buffer poisoned = c.whole();
            for (std::size_t i = 4 * 32; i < 5 * 32; ++i)
                QCOMPARE(poisoned[i], clean[i]);
            QVERIFY(std::isnan(poisoned[0]));
        }
    }

    void oneKeyGivesItsValue()
    {
        std::mt19937 generator(1);
        const Case c(generator, DType::BF16, {1, 1, 4, 2, 8, 0});
        const Buffer out = c.whole();
        for (std::size_t head = 0; head < 4; ++head)
            for (std::size_t i = 0; i < 8; ++i)
                QCOMPARE(out[head * 8 + i], c.v[head / 2 * 8 + i]);
    }
};

QTEST_APPLESS_MAIN(OrderedAttentionTest)
#include "ordered_attention_test.moc"
