// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/compared.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const std::string wrong = mismatch(__VA_ARGS__);                                           \
        QVERIFY2(wrong.empty(), wrong.c_str());                                                    \
    } while (false)

namespace {

using Row = std::vector<long double>;

/// A tap's rows as the run recorded them, decoded.
std::vector<Row> rowsOf(const PlainRun& run, std::size_t tap)
{
    std::vector<Row> rows;
    const numeric::DType dtype = run.header.taps[tap].dtype;
    for (const PlainRun::Row& row : run.rows) {
        const auto bytes = packed(row.values[tap], dtype);
        rows.emplace_back();
        for (std::size_t i = 0; i < row.values[tap].size(); ++i)
            rows.back().push_back(
                numeric::toDouble(numeric::bitsAt(bytes.data(), dtype, i), dtype));
    }
    return rows;
}

std::vector<std::size_t> rankingOf(const Row& row)
{
    std::vector<std::size_t> ids(row.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = i;
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    return ids;
}

Row softmax(const Row& row)
{
    const long double top = *std::max_element(row.begin(), row.end());
    long double sum = 0;
    for (const long double v : row)
        sum += std::exp(v - top);
    Row p;
    for (const long double v : row)
        p.push_back(std::exp(v - top) / sum);
    return p;
}

/// Values moved a little; a few rows' experts changed with their router's logits.
PlainRun perturbed(PlainRun run, double scale)
{
    std::mt19937_64 engine(5);
    for (PlainRun::Row& row : run.rows) {
        for (auto& values : row.values)
            for (double& value : values)
                if (engine() % 3 != 0)
                    value += scale * (static_cast<double>(engine() % 1000) / 1000 - 0.5);
        for (std::size_t i = 0; i < row.routing.size(); ++i) {
            const auto& logits =
                row.values[run.tapAt("model.layers." + std::to_string(i) + ".mlp.gate.out")];
            auto& routing = row.routing[i];
            routing.logits.assign(logits.begin(), logits.end());
            if (engine() % 4 == 0)
                routing.ids[1] = (routing.ids[0] + 1 + static_cast<int>(engine() % 7)) % 8;
            if (engine() % 5 == 0)
                std::swap(routing.ids[0], routing.ids[1]);
            routing.weights[0] += 0.01F;
        }
    }
    return run;
}

struct Pair
{
    PlainRun reference, target;
    Report report;
};

const Pair& pairOf(numeric::DType dtype)
{
    static const auto make = [](numeric::DType wanted) {
        Pair pair{randomRun(41, 3, 9, wanted), {}, {}};
        pair.target = perturbed(pair.reference, 0.3);
        pair.report = compared(pair.reference, pair.target);
        return pair;
    };
    static const Pair half = make(numeric::DType::BF16);
    static const Pair whole = make(numeric::DType::FP32);
    return dtype == numeric::DType::BF16 ? half : whole;
}

} // namespace

/// Every number again, from the definitions in METRICS.md and the recorded values, in 80-bit
/// arithmetic and without any code of ours but the dtypes'.
class MeasuresTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyTap_data();
    void everyTap();
    void logits_data();
    void logits();
    void topK_data();
    void topK();
    void margins();
    void routing();
    void layers();
    void chosenTokens();
    void swapped();
};

void dtypes()
{
    QTest::addColumn<int>("dtype");
    QTest::newRow("bf16") << static_cast<int>(numeric::DType::BF16);
    QTest::newRow("fp32") << static_cast<int>(numeric::DType::FP32);
}

void MeasuresTest::everyTap_data()
{
    dtypes();
}

void MeasuresTest::everyTap()
{
    QFETCH(int, dtype);
    const Pair& pair = pairOf(static_cast<numeric::DType>(dtype));
    for (std::size_t tap = 0; tap < pair.reference.header.taps.size(); ++tap) {
        if (pair.reference.header.taps[tap].slots > 0)
            continue; // compared by expert: first_divergence_test
        const auto r = rowsOf(pair.reference, tap);
        const auto t = rowsOf(pair.target, tap);
        long double equal = 0, elements = 0, squares = 0, sum = 0, largest = 0, norm = 0,
                    otherNorm = 0;
        for (std::size_t row = 0; row < r.size(); ++row)
            for (std::size_t i = 0; i < r[row].size(); ++i) {
                const long double d = t[row][i] - r[row][i];
                ++elements;
                equal += d == 0 ? 1 : 0;
                squares += d * d;
                sum += std::fabs(d);
                largest = std::max(largest, std::fabs(d));
                norm += r[row][i] * r[row][i];
                otherNorm += t[row][i] * t[row][i];
            }
        long double cosine = 0;
        for (std::size_t row = 0; row < r.size(); ++row)
            for (std::size_t i = 0; i < r[row].size(); ++i) {
                const long double d =
                    r[row][i] / std::sqrt(norm) - t[row][i] / std::sqrt(otherNorm);
                cosine += d * d / 2;
            }
        const auto& measures = pair.report.taps[tap].measures;
        QCOMPARE(pair.report.taps[tap].elements, static_cast<std::uint64_t>(elements));
        EXPECT(measureOf(measures, "A1"), 100 * equal / elements);
        EXPECT(measureOf(measures, "A3"), 1e6L * (elements - equal) / elements);
        EXPECT(measureOf(measures, "B1"), squares / elements);
        EXPECT(measureOf(measures, "B2"), largest);
        QVERIFY(std::fabs(measureOf(measures, "B2").parameters.at("mean")
                          - static_cast<double>(sum / elements))
                <= 1e-9 * static_cast<double>(sum / elements));
        EXPECT(measureOf(measures, "B4"), std::sqrt(squares / norm));
        EXPECT(measureOf(measures, "B5"), cosine);
    }
}

void MeasuresTest::logits_data()
{
    dtypes();
}

void MeasuresTest::logits()
{
    QFETCH(int, dtype);
    const Pair& pair = pairOf(static_cast<numeric::DType>(dtype));
    const std::size_t head = pair.reference.header.taps.size() - 1;
    const auto r = rowsOf(pair.reference, head);
    const auto t = rowsOf(pair.target, head);
    long double rounded = 0, elements = 0, relative = 0, shift = 0, centred = 0, weighted = 0;
    long double forward = 0, reverse = 0, variation = 0, probability = 0, change = 0, entropy = 0;
    std::vector<double> kls;
    const auto count = static_cast<long double>(r.size());
    for (std::size_t row = 0; row < r.size(); ++row) {
        const Row p = softmax(r[row]);
        const Row q = softmax(t[row]);
        long double mean = 0, weightedMean = 0, kl = 0;
        for (std::size_t v = 0; v < p.size(); ++v) {
            const long double d = t[row][v] - r[row][v];
            mean += d / static_cast<long double>(p.size());
            weightedMean += p[v] * d;
        }
        for (std::size_t v = 0; v < p.size(); ++v) {
            const long double d = t[row][v] - r[row][v];
            ++elements;
            rounded += numeric::bf16FromFloat(static_cast<float>(r[row][v]))
                               == numeric::bf16FromFloat(static_cast<float>(t[row][v]))
                           ? 1
                           : 0;
            relative = std::max(relative, std::fabs(d) / (std::fabs(r[row][v]) + 1e-8L));
            shift += d;
            centred += (d - mean) * (d - mean);
            weighted += p[v] * (d - weightedMean) * (d - weightedMean) / count;
            kl += p[v] * std::log(p[v] / q[v]);
            reverse += q[v] * std::log(q[v] / p[v]) / count;
            variation += std::fabs(p[v] - q[v]) / 2 / count;
            probability += (q[v] - p[v]) * (q[v] - p[v]);
            change = std::max(change, std::fabs(q[v] - p[v]));
            entropy += (p[v] * std::log(p[v]) - q[v] * std::log(q[v])) / count;
        }
        forward += kl / count;
        kls.push_back(static_cast<double>(kl));
    }
    const auto& m = pair.report.measures;
    EXPECT(measureOf(m, "A2"), 100 * rounded / elements);
    EXPECT(measureOf(m, "B3"), relative);
    EXPECT(measureOf(m, "B6"), shift / elements);
    EXPECT(measureOf(m, "B7"), centred / elements);
    EXPECT(measureOf(m, "B8"), weighted);
    EXPECT(measureOf(m, "C1"), forward);
    EXPECT(measureOf(m, "C2"), reverse);
    EXPECT(measureOf(m, "C4"), variation);
    EXPECT(measureOf(m, "C7"), probability / elements);
    EXPECT(measureOf(m, "C8"), change);
    EXPECT(measureOf(m, "C9"), entropy);

    // By position and percentiles, over the same per-row numbers: three samples of nine rows.
    const Measure& kl = measureOf(m, "C1");
    QCOMPARE(kl.byPosition.size(), std::size_t{9});
    for (std::size_t position = 0; position < 9; ++position) {
        const double mean = (kls[position] + kls[position + 9] + kls[position + 18]) / 3;
        QVERIFY(std::fabs(*kl.byPosition[position] - mean) <= 1e-9 * mean);
    }
    std::vector<double> sorted = kls;
    std::sort(sorted.begin(), sorted.end());
    QVERIFY(std::fabs(kl.percentiles.at("50") - sorted[13]) <= 1e-9 * sorted[13]);
    const double tenth = sorted[2] + 0.6 * (sorted[3] - sorted[2]); // 0.1 · 26 = 2.6
    QVERIFY(std::fabs(kl.percentiles.at("10") - tenth) <= 1e-9 * tenth);
    const auto worst =
        static_cast<std::size_t>(std::max_element(kls.begin(), kls.end()) - kls.begin());
    const QString site = QString("s%1/%2/lm_head.out").arg(worst / 9).arg(worst % 9);
    QCOMPARE(QString::fromStdString(kl.at), site);
}

void MeasuresTest::topK_data()
{
    dtypes();
}

void MeasuresTest::topK()
{
    QFETCH(int, dtype);
    const Pair& pair = pairOf(static_cast<numeric::DType>(dtype));
    const std::size_t head = pair.reference.header.taps.size() - 1;
    const auto r = rowsOf(pair.reference, head);
    const auto t = rowsOf(pair.target, head);
    const auto count = static_cast<long double>(r.size());
    long double rank = 0;
    for (const std::size_t k : {1, 2, 5, 10, 20, 64}) {
        long double order = 0, set = 0, overlap = 0, jaccard = 0, mass = 0, other = 0;
        for (std::size_t row = 0; row < r.size(); ++row) {
            auto a = rankingOf(r[row]);
            auto b = rankingOf(t[row]);
            if (k == 1)
                rank += static_cast<long double>(std::find(b.begin(), b.end(), a[0]) - b.begin())
                        / count;
            a.resize(k);
            b.resize(k);
            order += a == b ? 1 : 0;
            for (const std::size_t id : a) {
                mass += softmax(r[row])[id] / count;
                other += softmax(t[row])[id] / count;
            }
            std::sort(a.begin(), a.end());
            std::sort(b.begin(), b.end());
            set += a == b ? 1 : 0;
            std::vector<std::size_t> common;
            std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                                  std::back_inserter(common));
            const auto size = static_cast<long double>(common.size());
            overlap += size / static_cast<long double>(k) / count;
            jaccard += size / (2 * static_cast<long double>(k) - size) / count;
        }
        const std::string suffix = k == 5 ? "" : "[k=" + std::to_string(k) + ']';
        const auto& m = pair.report.measures;
        EXPECT(measureOf(m, "E2" + suffix), 100 * order / count);
        EXPECT(measureOf(m, "E3" + suffix), 100 * set / count);
        EXPECT(measureOf(m, "E4" + suffix), overlap);
        EXPECT(measureOf(m, "E9" + suffix), mass);
        QVERIFY(std::fabs(measureOf(m, "E9" + suffix).parameters.at("target")
                          - static_cast<double>(other))
                <= 1e-9);
        QVERIFY(std::fabs(measureOf(m, "E4" + suffix).parameters.at("jaccard")
                          - static_cast<double>(jaccard))
                <= 1e-9);
        if (k == 1) {
            EXPECT(measureOf(m, "E1"), 100 * set / count);
            EXPECT(measureOf(m, "G7"), 100 * set / count);
        }
    }
    EXPECT(measureOf(pair.report.measures, "E6"), rank);
}

void MeasuresTest::margins()
{
    const Pair& pair = pairOf(numeric::DType::FP32);
    const std::size_t head = pair.reference.header.taps.size() - 1;
    const auto r = rowsOf(pair.reference, head);
    const auto t = rowsOf(pair.target, head);
    const auto count = static_cast<long double>(r.size());
    long double margin = 0, directional = 0, claimed = 0, responses = 0, flips = 0;
    for (std::size_t row = 0; row < r.size(); ++row) {
        const auto a = rankingOf(r[row]);
        const auto b = rankingOf(t[row]);
        margin += (r[row][a[0]] - r[row][a[1]]) / count;
        directional += ((t[row][a[1]] - r[row][a[1]]) - (t[row][a[0]] - r[row][a[0]])) / count;
        flips += a[0] != b[0] ? 1 : 0;
        const PlainRun::Row& plain = pair.reference.rows[row];
        const trace::Token& next = pair.reference.tokens[plain.sample][plain.position + 1];
        if (next.response) {
            claimed += t[row][b[0]] - t[row][static_cast<std::size_t>(next.id)];
            ++responses;
        }
    }
    const auto& m = pair.report.measures;
    EXPECT(measureOf(m, "F1"), margin);
    EXPECT(measureOf(m, "B9"), directional);
    EXPECT(measureOf(m, "F7"), claimed / responses);
    EXPECT(measureOf(m, "F4"), flips);
    QVERIFY(flips > 0);
    double classes = 0;
    for (const char* key : {"exact_tie", "up_to_2_ulp", "near_tie", "moderate", "defect_suspect"})
        classes += measureOf(m, "F4").parameters.at(key);
    QCOMPARE(classes, static_cast<double>(flips));
}

void MeasuresTest::routing()
{
    const Pair& pair = pairOf(numeric::DType::FP32);
    long double sets = 0, ordered = 0, slots = 0, replaced = 0, jaccard = 0, squares = 0, gate = 0,
                margin = 0, all = 0;
    for (std::size_t row = 0; row < pair.reference.rows.size(); ++row) {
        bool every = true;
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& a = pair.reference.rows[row].routing[i];
            const auto& b = pair.target.rows[row].routing[i];
            int common = 0;
            for (const auto id : a.ids)
                common += std::count(b.ids.begin(), b.ids.end(), id) > 0 ? 1 : 0;
            ++slots;
            sets += common == 2 ? 1 : 0;
            every = every && common == 2;
            ordered += a.ids == b.ids ? 1 : 0;
            replaced += 2 - common;
            jaccard += static_cast<long double>(common) / (4 - common);
            std::vector<long double> weights(8, 0);
            for (std::size_t slot = 0; slot < 2; ++slot) {
                weights[static_cast<std::size_t>(a.ids[slot])] -=
                    static_cast<long double>(a.weights[slot]);
                weights[static_cast<std::size_t>(b.ids[slot])] +=
                    static_cast<long double>(b.weights[slot]);
            }
            for (std::size_t e = 0; e < 8; ++e) {
                const long double d =
                    static_cast<long double>(b.logits[e]) - static_cast<long double>(a.logits[e]);
                squares += d * d / 8;
                gate += std::fabs(weights[e]);
            }
            auto sorted = a.logits;
            std::sort(sorted.begin(), sorted.end(), std::greater<>());
            margin += static_cast<long double>(sorted[1]) - static_cast<long double>(sorted[2]);
        }
        all += every ? 1 : 0;
    }
    const auto& m = pair.report.measures;
    EXPECT(measureOf(m, "H1"), 100 * sets / slots);
    EXPECT(measureOf(m, "H2"), 200 * all / slots);
    EXPECT(measureOf(m, "H3"), replaced / slots);
    EXPECT(measureOf(m, "H4"), 2 * (slots - sets) / slots);
    EXPECT(measureOf(m, "H6"), squares / slots);
    EXPECT(measureOf(m, "H7"), gate / slots);
    EXPECT(measureOf(m, "H8"), margin / slots);
    QCOMPARE(measureOf(m, "H1").parameters.at("ordered"),
             static_cast<double>(100 * ordered / slots));
    QVERIFY(std::fabs(measureOf(m, "H3").parameters.at("jaccard")
                      - static_cast<double>(jaccard / slots))
            < 1e-12);
    QVERIFY(sets < slots && ordered < sets);
}

void MeasuresTest::layers()
{
    const Pair& pair = pairOf(numeric::DType::FP32);
    long double squares = 0, norm = 0;
    std::vector<long double> byLayer;
    for (int layer = 0; layer < 2; ++layer) {
        const std::size_t tap =
            pair.reference.tapAt("model.layers." + std::to_string(layer) + ".out");
        const auto r = rowsOf(pair.reference, tap);
        const auto t = rowsOf(pair.target, tap);
        long double own = 0, ownNorm = 0;
        for (std::size_t row = 0; row < r.size(); ++row)
            for (std::size_t i = 0; i < r[row].size(); ++i) {
                own += (t[row][i] - r[row][i]) * (t[row][i] - r[row][i]);
                ownNorm += r[row][i] * r[row][i];
            }
        squares += own;
        norm += ownNorm;
        byLayer.push_back(std::sqrt(own / ownNorm));
    }
    const auto& m = pair.report.measures;
    EXPECT(measureOf(m, "I1"), std::sqrt(squares / norm));
    QVERIFY(std::fabs(measureOf(m, "I1").byLayer.at(1) - static_cast<double>(byLayer[1])) < 1e-12);
    EXPECT(measureOf(m, "I3"), byLayer[1] / byLayer[0]); // a line through two points
    QCOMPARE(*measureOf(m, "I2").value, 0.0);
    QVERIFY(!measureOf(m, "I1[on=mlp]").value); // this model has no such tap
}

void MeasuresTest::chosenTokens()
{
    const Pair& pair = pairOf(numeric::DType::FP32);
    const std::size_t head = pair.reference.header.taps.size() - 1;
    const auto r = rowsOf(pair.reference, head);
    const auto t = rowsOf(pair.target, head);
    const auto count = static_cast<long double>(r.size());
    std::vector<long double> deltas;
    long double mean = 0, absolute = 0, change = 0, rms = 0;
    for (std::size_t row = 0; row < r.size(); ++row) {
        const PlainRun::Row& plain = pair.reference.rows[row];
        const auto next =
            static_cast<std::size_t>(pair.reference.tokens[plain.sample][plain.position + 1].id);
        const long double p = softmax(r[row])[next];
        const long double q = softmax(t[row])[next];
        deltas.push_back(std::log(q) - std::log(p));
        mean += deltas.back() / count;
        absolute += std::fabs(deltas.back()) / count;
        change += (q - p) / count;
        rms += (q - p) * (q - p) / count;
    }
    long double squares = 0;
    for (const long double d : deltas)
        squares += (d - mean) * (d - mean);
    const auto& m = pair.report.measures;
    EXPECT(measureOf(m, "D1"), mean);
    EXPECT(measureOf(m, "D4"), change);
    const auto near = [](double a, long double b) {
        return std::fabs(a - static_cast<double>(b)) <= 1e-9 * std::fabs(static_cast<double>(b));
    };
    const auto& summary = measureOf(m, "D2").parameters;
    QVERIFY(near(summary.at("mean_abs"), absolute));
    QVERIFY(near(summary.at("std"), std::sqrt(squares / (count - 1))));
    QVERIFY(near(summary.at("sequence_mean"), mean)); // samples of equal length
    QVERIFY(near(measureOf(m, "D4").parameters.at("rms"), std::sqrt(rms)));
}

void MeasuresTest::swapped()
{
    const Pair& pair = pairOf(numeric::DType::FP32);
    const Report report = compared(pair.target, pair.reference);
    const auto& m = report.measures;
    const auto& before = pair.report.measures;
    for (const char* id : {"A1", "A3", "A4", "A7", "B1", "B2", "C4", "C7", "C8", "E1", "E2", "E3",
                           "E4", "F4", "H1", "H2", "H3", "H6", "H9"})
        EXPECT(measureOf(m, id), *measureOf(before, id).value);
    for (const char* id : {"B6", "C9", "D1", "D4"})
        EXPECT(measureOf(m, id), -*measureOf(before, id).value);
    EXPECT(measureOf(m, "C2"), *measureOf(before, "C1").value);
    EXPECT(measureOf(m, "C1"), *measureOf(before, "C2").value);
}

QTEST_APPLESS_MAIN(MeasuresTest)
#include "measures_test.moc"
