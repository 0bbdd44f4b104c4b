// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/table_bounds.h"
#include "core/numeric/logits_pair.h"
#include "core/numeric/top_k.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace moire;
using namespace moire::diff;

namespace {

/// A row of logits and its table of the best K, made as FORMAT.md says.
struct MadeTable
{
    std::vector<float> logits;
    std::vector<std::int32_t> ids;
    std::vector<float> values;
    std::vector<std::int32_t> askedIds;
    std::vector<float> askedValues;
    double logSumExp = 0;
    double rest = 0;

    MadeTable(std::vector<float> row, std::size_t k, std::vector<std::int32_t> asked = {})
        : logits(std::move(row))
        , askedIds(std::move(asked))
    {
        for (const numeric::Ranked& entry : numeric::topK(logits.data(), logits.size(), k)) {
            ids.push_back(entry.id);
            values.push_back(entry.value);
        }
        for (const std::int32_t id : askedIds)
            askedValues.push_back(logits[static_cast<std::size_t>(id)]);
        double sum = 0;
        for (const float z : logits)
            sum += std::exp(static_cast<double>(z));
        logSumExp = std::log(sum);
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (std::find(ids.begin(), ids.end(), static_cast<std::int32_t>(i)) == ids.end())
                rest += std::exp(static_cast<double>(logits[i]) - logSumExp);
    }
    trace::TopKView view() const { return {ids, values, logSumExp, rest, askedIds, askedValues}; }
    trace::LogitsInfo info() const
    {
        return {static_cast<std::uint32_t>(logits.size()), static_cast<std::uint32_t>(ids.size()),
                numeric::DType::FP32, static_cast<std::uint32_t>(askedIds.size())};
    }
};

std::optional<TableBounds> bounds(const MadeTable& reference, const MadeTable& target)
{
    return boundsOf(reference.view(), reference.info(), target.view(), target.info());
}

/// What the whole rows give.
struct Whole
{
    numeric::LogitsSums sums;
    double squares = 0, largest = 0;

    Whole(const MadeTable& reference, const MadeTable& target)
        : sums(numeric::compareLogits(reinterpret_cast<const std::byte*>(reference.logits.data()),
                                      numeric::DType::FP32,
                                      reinterpret_cast<const std::byte*>(target.logits.data()),
                                      numeric::DType::FP32, reference.logits.size()))
    {
        for (std::size_t i = 0; i < reference.logits.size(); ++i) {
            const double d =
                static_cast<double>(target.logits[i]) - static_cast<double>(reference.logits[i]);
            squares += d * d;
            largest = std::max(largest, std::fabs(d));
        }
    }
};

/// What the whole rows' own sums may be off by, relatively.
constexpr double kernels = 1e-9;

bool close(double a, double b, double relative = 1e-7)
{
    return std::fabs(a - b) <= std::max(relative * std::fabs(b), 1e-13);
}

bool holds(const Range& range, double value)
{
    return range.low <= value * (1 + kernels) + 1e-14
           && value <= range.high * (1 + kernels) + 1e-14;
}

/// Why a value is out of its bounds; empty when all hold.
std::string violated(const TableBounds& b, const Whole& w)
{
    const auto entropy = w.sums.targetEntropy - w.sums.referenceEntropy;
    const std::pair<const char*, bool> checks[] = {
        {"forward KL", holds(b.forwardKl, w.sums.forwardKl)},
        {"reverse KL", holds(b.reverseKl, w.sums.reverseKl)},
        {"Jensen-Shannon", holds(b.jensenShannon, w.sums.jensenShannon)},
        {"total variation", holds(b.totalVariation, w.sums.totalVariation)},
        {"Hellinger", holds(b.hellinger, w.sums.hellinger)},
        {"chi square", holds(b.chiSquare, w.sums.chiSquare)},
        {"squares of probabilities", holds(b.probabilitySquares, w.sums.sumProbabilitySquares)},
        {"probability change", holds(b.probabilityChange, w.sums.maxProbabilityChange)},
        {"log ratio", b.largestLogRatio.low <= w.sums.largestLogRatio * (1 + kernels) + 1e-12},
        {"entropy",
         b.entropyChange.low <= entropy + kernels && entropy <= b.entropyChange.high + kernels},
        {"squares", b.squares <= w.squares * (1 + 1e-12)},
        {"largest", b.largest <= w.largest},
        {"variance", b.weightedVariance <= w.sums.weightedVariance * (1 + 1e-9) + 1e-15}};
    for (const auto& [name, good] : checks)
        if (!good)
            return name;
    return {};
}

std::vector<float> drawn(std::mt19937& engine, std::size_t vocabulary, double scale)
{
    std::normal_distribution<double> normal;
    std::vector<float> row(vocabulary);
    for (float& z : row)
        z = static_cast<float>(scale * normal(engine));
    return row;
}

} // namespace

/// Bounds from top-K tables against what the whole rows give.
class TableBoundsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void holdTheTruth();
    void flatTails();
    void wholeVocabulary();
    void onPaper();
    void sides();
    void notFinite();
};

void TableBoundsTest::holdTheTruth()
{
    std::mt19937 engine(11);
    std::normal_distribution<double> normal;
    for (int round = 0; round < 3000; ++round) {
        const std::size_t vocabulary = 3 + engine() % 300;
        const std::size_t k = 1 + engine() % std::min<std::size_t>(64, vocabulary);
        const double noise = std::pow(10, -4.0 + static_cast<double>(engine() % 50) / 10);
        const std::vector<float> reference =
            drawn(engine, vocabulary, static_cast<double>(1 + engine() % 6));
        std::vector<float> target = reference;
        for (float& z : target)
            z += static_cast<float>(noise * normal(engine));
        std::vector<std::int32_t> asked;
        if (round % 3 == 0)
            for (int i = 0; i < 3; ++i)
                asked.push_back(static_cast<std::int32_t>(engine() % vocabulary));
        const MadeTable ours(reference, k, asked);
        const MadeTable theirs(target, 1 + (k + engine() % 3) % vocabulary, asked);
        const auto made = bounds(ours, theirs);
        QVERIFY(made);
        const std::string wrong = violated(*made, Whole(ours, theirs));
        QVERIFY2(wrong.empty(), qPrintable(QString::number(round) + ' ' + wrong.c_str()));
        QVERIFY(made->totalVariation.low <= made->totalVariation.high);
        QVERIFY(made->forwardKl.low >= 0 && made->reverseKl.low >= 0);
    }
}

// Nothing is left open where every token outside has exactly what the last one has.
void TableBoundsTest::flatTails()
{
    std::vector<float> reference(1000, 0.5F);
    std::vector<float> target(1000, 0.25F);
    const float best[] = {6, 5, 4, 3, 2};
    for (std::size_t i = 0; i < 5; ++i) {
        reference[7 * i] = best[i];
        target[7 * i] = best[i] + (i % 2 == 0 ? 0.5F : -0.25F);
    }
    // The sixth is one of the flat ones.
    const MadeTable ours(reference, 6);
    const MadeTable theirs(target, 6);
    const Whole whole(ours, theirs);
    const auto made = bounds(ours, theirs);
    QVERIFY(made);
    QVERIFY2(violated(*made, whole).empty(), violated(*made, whole).c_str());
    QVERIFY(close(made->forwardKl.low, whole.sums.forwardKl));
    QVERIFY(close(made->reverseKl.low, whole.sums.reverseKl));
    QVERIFY(close(made->chiSquare.low, whole.sums.chiSquare));
    QVERIFY(close(made->jensenShannon.low, whole.sums.jensenShannon));
    QVERIFY(close(made->hellinger.low, whole.sums.hellinger));
    QVERIFY(close(made->totalVariation.low, whole.sums.totalVariation));
    QVERIFY(close(made->totalVariation.high, whole.sums.totalVariation));
    QVERIFY(close(made->probabilityChange.low, whole.sums.maxProbabilityChange));
    QVERIFY(close(made->probabilityChange.high, whole.sums.maxProbabilityChange));
    const double entropy = whole.sums.targetEntropy - whole.sums.referenceEntropy;
    QVERIFY(close(made->entropyChange.low, entropy));
    QVERIFY(close(made->entropyChange.high, entropy));
}

void TableBoundsTest::wholeVocabulary()
{
    std::mt19937 engine(5);
    const MadeTable ours(drawn(engine, 40, 2), 40);
    const MadeTable theirs(drawn(engine, 40, 2), 40);
    const Whole whole(ours, theirs);
    const auto made = bounds(ours, theirs);
    QVERIFY(made);
    QVERIFY(close(made->forwardKl.low, whole.sums.forwardKl));
    QVERIFY(close(made->jensenShannon.low, whole.sums.jensenShannon));
    QVERIFY(close(made->jensenShannon.high, whole.sums.jensenShannon));
    QVERIFY(close(made->hellinger.high, whole.sums.hellinger));
    QVERIFY(close(made->probabilitySquares.low, whole.sums.sumProbabilitySquares));
    QVERIFY(close(made->probabilitySquares.high, whole.sums.sumProbabilitySquares));
    QVERIFY(close(made->weightedVariance, whole.sums.weightedVariance));
    QVERIFY(close(made->squares, whole.squares));
}

// p = (4, 2, 1, 1)/8 and q = (2, 4, 1, 1)/8 with the best two listed.
void TableBoundsTest::onPaper()
{
    const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
    const MadeTable ours({ln(4), ln(2), 0, 0}, 2);
    const MadeTable theirs({ln(2), ln(4), 0, 0}, 2);
    const auto made = bounds(ours, theirs);
    QVERIFY(made);
    // The rest, 1/4 on both sides, may be the same: ½·ln 2 + ¼·ln ½ = ¼·ln 2.
    QVERIFY(close(made->forwardKl.low, std::log(2) / 4));
    QVERIFY(close(made->totalVariation.low, 0.25));
    // Each rest on another of two tokens, which may have 1/4 each.
    QVERIFY(close(made->totalVariation.high, 0.5));
    QVERIFY(close(made->probabilityChange.low, 0.25));
    QVERIFY(close(made->probabilityChange.high, 0.25));
    QVERIFY(close(made->largest, std::log(2)));
    QVERIFY(close(made->squares, 2 * std::log(2) * std::log(2)));
    // One side's rest in one token, the other's spread over two.
    QVERIFY(close(made->entropyChange.low, -std::log(2) / 4));
    QVERIFY(close(made->entropyChange.high, std::log(2) / 4));
    QCOMPARE(made->rankAtLeast, 1U);
    QVERIFY(close(made->targetMass[0]->low, 0.25) && close(made->targetMass[0]->high, 0.25));

    // The target's best is not listed by the reference, and the other way round.
    const MadeTable other({0, 0, ln(4), ln(2)}, 1);
    const auto apart = bounds(MadeTable({ln(4), ln(2), 0, 0}, 1), other);
    QVERIFY(apart);
    QCOMPARE(apart->rankAtLeast, 1U);
    QVERIFY(close(apart->targetMass[0]->low, 0) && close(apart->targetMass[0]->high, 0.5));
    constexpr double ofFloats = 1e-7;   // logarithms of whole numbers are none
    QVERIFY(apart->largest < ofFloats); // both could be tied for the best
    QVERIFY(apart->totalVariation.low < ofFloats);
    QVERIFY(close(apart->totalVariation.high, 1));
}

void TableBoundsTest::sides()
{
    std::mt19937 engine(2);
    const MadeTable ours(drawn(engine, 200, 2), 16);
    const MadeTable theirs(drawn(engine, 200, 2), 16);
    const auto there = bounds(ours, theirs);
    const auto back = bounds(theirs, ours);
    QVERIFY(there && back);
    QVERIFY(close(there->forwardKl.low, back->reverseKl.low, 1e-12));
    QVERIFY(close(there->totalVariation.low, back->totalVariation.low, 1e-12));
    QVERIFY(close(there->totalVariation.high, back->totalVariation.high, 1e-12));
    QVERIFY(close(there->entropyChange.low, -back->entropyChange.high, 1e-12));
    const auto same = bounds(ours, ours);
    QCOMPARE(same->forwardKl.low, 0.0);
    QCOMPARE(same->totalVariation.low, 0.0);
    QCOMPARE(same->squares, 0.0);
}

void TableBoundsTest::notFinite()
{
    MadeTable ours({3, 2, 1, 0}, 2);
    MadeTable theirs = ours;
    QVERIFY(bounds(ours, theirs));
    theirs.logSumExp = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!bounds(ours, theirs));
    theirs = ours;
    theirs.values[1] = -std::numeric_limits<float>::infinity();
    QVERIFY(!bounds(ours, theirs));
    theirs = ours;
    theirs.ids = {-1, -1};
    QVERIFY(!bounds(ours, theirs));
    theirs = ours;
    theirs.rest = -1; // no probability
    QVERIFY(bounds(ours, theirs));
}

QTEST_APPLESS_MAIN(TableBoundsTest)
#include "table_bounds_test.moc"
