// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/statistics/agreement.h"
#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/log_histogram.h"
#include "core/diff/statistics/paired_test.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/survival.h"
#include "core/diff/statistics/tail_index.h"
#include "core/diff/statistics/trend.h"
#include "core/numeric/counter_random.h"

#include <QtTest>

#include <cmath>

using namespace moire::diff::statistics;

namespace {

bool near(double a, double b, double relative = 1e-9)
{
    return std::fabs(a - b) <= relative * std::fabs(b);
}

} // namespace

/// Published examples and numbers that can be worked out on paper. statistics_test.py holds the
/// same functions against SciPy on drawn data.
class StatisticsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bootstrapByDefinition();
    void bootstrapThreads();
    void bootstrapOfAConstant();
    void bootstrapCovers();
    void proportions();
    void mcNemar();
    void adjusted();
    void labelSwaps();
    void survival();
    void trends();
    void changes();
    void tails();
    void rocCurves();
    void kappa();
    void histogram();
};

// Resample b sums over the clusters that stream b names, however often.
void StatisticsTest::bootstrapByDefinition()
{
    constexpr std::size_t clusters = 7;
    std::vector<std::vector<double>> columns(11, std::vector<double>(clusters));
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (std::size_t s = 0; s < clusters; ++s)
            columns[c][s] = static_cast<double>((c + 1) * (s * s + 3) % 17);
    const ClusterResamples resamples(columns, clusters, {50, 9, 1});
    QCOMPARE(resamples.size(), std::size_t{50});
    for (std::size_t b = 0; b < resamples.size(); ++b) {
        moire::numeric::CounterRandom random(9, b);
        std::vector<double> sums(columns.size());
        for (std::size_t i = 0; i < clusters; ++i) {
            const std::uint32_t drawn = random.below(clusters);
            for (std::size_t c = 0; c < columns.size(); ++c)
                sums[c] += columns[c][drawn];
        }
        for (std::size_t c = 0; c < columns.size(); ++c)
            QCOMPARE(resamples.sum(b, c), sums[c]); // whole numbers: exact in any order
    }
}

void StatisticsTest::bootstrapThreads()
{
    std::vector<std::vector<double>> columns(3);
    for (std::size_t s = 0; s < 101; ++s)
        for (std::size_t c = 0; c < 3; ++c)
            columns[c].push_back(std::sqrt(static_cast<double>(s * 3 + c)) / 7);
    const ClusterResamples one(columns, 101, {999, usualSeed, 1});
    for (const unsigned threads : {2U, 3U, 8U, 40U}) {
        const ClusterResamples several(columns, 101, {999, usualSeed, threads});
        for (std::size_t b = 0; b < one.size(); ++b)
            for (std::size_t c = 0; c < 3; ++c)
                QVERIFY(one.sum(b, c) == several.sum(b, c));
    }
}

void StatisticsTest::bootstrapOfAConstant()
{
    const std::vector<std::vector<double>> columns{{2, 4, 6}, {1, 2, 3}};
    const ClusterResamples resamples(columns, 3, {});
    const auto bounds = middle(
        resamples.values([](auto sum) { return sum(std::size_t{0}) / sum(std::size_t{1}); }));
    QCOMPARE(bounds->low, 2.0);
    QCOMPARE(bounds->high, 2.0);
    QCOMPARE(ClusterResamples({}, 3, {5, 1, 1}).size(), std::size_t{5});
    QVERIFY(!middle({}));
    QVERIFY(!middle({std::nan("")}));
}

// The mean of 400 uniform numbers: the interval is that of the normal approximation.
void StatisticsTest::bootstrapCovers()
{
    moire::numeric::CounterRandom random(3, 0);
    std::vector<std::vector<double>> columns(2);
    double sum = 0;
    double squares = 0;
    constexpr double n = 400;
    for (int i = 0; i < static_cast<int>(n); ++i) {
        const double x = random.next() * 0x1p-32;
        columns[0].push_back(x);
        columns[1].push_back(1);
        sum += x;
        squares += x * x;
    }
    const ClusterResamples resamples(columns, columns[0].size(), {});
    const auto bounds =
        middle(resamples.values([](auto s) { return s(std::size_t{0}) / s(std::size_t{1}); }));
    const double reach = 1.96 * std::sqrt((squares / n - sum * sum / n / n) / n);
    QVERIFY(near(bounds->low, sum / n - reach, 0.005));
    QVERIFY(near(bounds->high, sum / n + reach, 0.005));
}

// Wilson: Newcombe (Statistics in Medicine 17, 1998, table I, method 3), to four places.
void StatisticsTest::proportions()
{
    struct Case
    {
        double events, n, low, high;
    };
    for (const Case& c : {Case{81, 263, 0.2553, 0.3662}, Case{15, 148, 0.0624, 0.1605},
                          Case{0, 20, 0, 0.1611}, Case{1, 29, 0.0061, 0.1718}}) {
        const Bounds bounds = wilson(c.events, c.n);
        QVERIFY(std::fabs(bounds.low - c.low) < 5e-5);
        QVERIFY(std::fabs(bounds.high - c.high) < 5e-5);
    }
    for (const double n : {1.0, 8.0, 29.0, 1e6}) { // exactly the ends
        QVERIFY(wilson(n, n).high == 1.0 && wilson(n, n).low < 1);
        QVERIFY(wilson(0, n).low == 0.0 && wilson(0, n).high > 0);
    }
    QCOMPARE(ruleOfThree(300), 0.01);
    QCOMPARE(ruleOfThree(2), 1.0);
    QVERIFY(near(normalQuantile(0.975), 1.959963984540054, 1e-14));
    QVERIFY(near(normalQuantile(1e-10), -6.361340902404056, 1e-14));
    QVERIFY(near(normalBelow(-1.959963984540054), 0.025, 1e-14));
    QCOMPARE(normalQuantile(0.5), 0.0);
}

void StatisticsTest::mcNemar()
{
    QCOMPARE(mcNemarExact(0, 0), 1.0);
    QCOMPARE(mcNemarExact(3, 3), 1.0);
    QVERIFY(near(mcNemarExact(1, 5), 2 * (1 + 6) / 64.0));
    QVERIFY(near(mcNemarExact(9, 2), 2 * (1 + 11 + 55) / 2048.0));
    QVERIFY(near(mcNemarExact(0, 10), 2.0 / 1024));
    QVERIFY(mcNemarExact(0, 5000) == 0); // below the smallest double
    QVERIFY(near(mcNemarExact(1200, 1300), mcNemarExact(1300, 1200)));
}

// Holm's own scheme on four p-values.
void StatisticsTest::adjusted()
{
    const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
    const std::vector<double> wanted{0.03, 0.06, 0.06, 0.02};
    const auto adjustedP = holm(p);
    const std::vector<double> falseDiscoveries{0.02, 0.04, 0.04, 0.02};
    const auto rates = benjaminiHochberg(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
        QVERIFY(near(adjustedP[i], wanted[i]));
        QVERIFY(near(rates[i], falseDiscoveries[i]));
    }
    QCOMPARE(holm(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
    QVERIFY(holm({}).empty());
}

void StatisticsTest::labelSwaps()
{
    // Three clusters that always differ the same way: two of the eight swaps reach the observed.
    const std::vector<Share> low{{1, 1}, {1, 1}, {1, 1}};
    const std::vector<Share> high{{2, 1}, {2, 1}, {2, 1}};
    QVERIFY(std::fabs(labelSwapTest(low, high, {20'000, 1, 1}) - 0.25) < 0.01);
    QCOMPARE(labelSwapTest(low, low, {99, 1, 1}), 1.0);
    const std::vector<Share> many(64, Share{1, 1});
    const std::vector<Share> more(64, Share{1.5, 1});
    QCOMPARE(labelSwapTest(many, more, {999, 1, 1}), 1.0 / 1000);
    QCOMPARE(labelSwapTest(low, high, {20'000, 1, 3}), labelSwapTest(low, high, {20'000, 1, 1}));
}

// Freireich and others (Blood 21, 1963): weeks of remission under 6-mercaptopurine; the curve as in
// Kalbfleisch and Prentice. + marks what was censored.
void StatisticsTest::survival()
{
    std::vector<Duration> weeks;
    for (const int t : {6, 6, 6, 7, 10, 13, 16, 22, 23})
        weeks.push_back({static_cast<double>(t), true});
    for (const int t : {6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35})
        weeks.push_back({static_cast<double>(t), false});
    const SurvivalCurve curve = kaplanMeier(weeks);
    const std::vector<std::pair<double, double>> published{
        {6, 0.857}, {7, 0.807}, {10, 0.753}, {13, 0.690}, {16, 0.627}, {22, 0.538}, {23, 0.448}};
    QCOMPARE(curve.steps.size(), published.size());
    for (std::size_t i = 0; i < published.size(); ++i) {
        QCOMPARE(curve.steps[i].time, published[i].first);
        QVERIFY(std::fabs(curve.steps[i].survival - published[i].second) < 5e-4);
    }
    // Greenwood's standard errors of the same table.
    QVERIFY(std::fabs(std::sqrt(curve.steps[0].variance) - 0.0764) < 5e-5);
    QVERIFY(std::fabs(std::sqrt(curve.steps[6].variance) - 0.1346) < 5e-5);
    QCOMPARE(*curve.median(), 23.0);
    QCOMPARE(*medianBounds(curve).low, 13.0);
    QVERIFY(!medianBounds(curve).high);
    QCOMPARE(curve.at(5), 1.0);
    QVERIFY(std::fabs(curve.at(15) - 0.690) < 5e-4);
    QVERIFY(!kaplanMeier({{4, false}}).median());
    QCOMPARE(*kaplanMeier({{4, true}}).median(), 4.0);
}

void StatisticsTest::trends()
{
    const std::vector<double> x{1, 2, 3, 4, 10, 12, 18};
    const std::vector<double> y{9, 15, 19, 20, 45, 55, 78};
    // Gilbert (Statistical Methods for Environmental Pollution Monitoring, 1987, example 16.4) uses
    // Sen's way; the numbers here are by hand: 21 slopes, the eleventh is 4.
    const auto slope = theilSen(x, y);
    QCOMPARE(slope->slope, 4.0);
    QVERIFY(slope->allPairs);
    const auto line = lineThrough(std::vector<double>{0, 1, 2}, std::vector<double>{1, 3, 5});
    QCOMPARE(line->slope, 2.0);
    QCOMPARE(line->intercept, 1.0);
    QVERIFY(near(line->correlation, 1));
    QVERIFY(!lineThrough(std::vector<double>{1, 1}, std::vector<double>{1, 3}));
    QVERIFY(!theilSen(std::vector<double>{1, 1}, std::vector<double>{1, 3}));
    QVERIFY(!pearson(std::vector<double>{1, 2}, std::vector<double>{3, 3}));
    // More pairs than are taken: still the slope of an exact line.
    std::vector<double> longX;
    std::vector<double> longY;
    for (int i = 0; i < 5000; ++i) {
        longX.push_back(i);
        longY.push_back(0.25 * i);
    }
    const auto drawn = theilSen(longX, longY);
    QVERIFY(!drawn->allPairs);
    QCOMPARE(drawn->slope, 0.25);
}

void StatisticsTest::changes()
{
    std::vector<double> values(40, 1.0);
    std::fill(values.begin() + 25, values.end(), 2.0);
    const auto found = changePoint(values, 199);
    QCOMPARE(found->before, std::size_t{25});
    QCOMPARE(found->p, 1.0 / 200);
    QVERIFY(!changePoint(std::vector<double>{1, 1, 1}, 9));
    std::vector<double> alternating;
    for (int i = 0; i < 40; ++i)
        alternating.push_back(i % 2);
    QVERIFY(changePoint(alternating, 199)->p > 0.5);
}

// Powers of two from the top: ln 2 apart, so that the sum is ln 2 · (1 + … + k).
void StatisticsTest::tails()
{
    std::vector<double> values;
    for (int i = 0; i < 20; ++i)
        values.push_back(std::exp2(i));
    const auto index = hill(values, 0.2);
    QCOMPARE(index->k, std::size_t{4});
    QVERIFY(near(index->alpha, 4 / (std::log(2.0) * (1 + 2 + 3 + 4))));
    QVERIFY(near(index->bounds.high, index->alpha * (1 + 1.959963984540054 / 2)));
    QVERIFY(!hill({1, 1, 1, 1}, 0.5));
    QVERIFY(!hill({1, 2, 3}, 0.05));
    QVERIFY(!hill({0, 0, 0, 5, 6}, 0.4));
}

void StatisticsTest::rocCurves()
{
    // By hand: pairs (positive, negative) that the scores order rightly: 3 of 4, a tie one half.
    const auto curve = rocCurve({{0.9, true, 0}, {0.5, true, 1}, {0.5, false, 2}, {0.1, false, 3}});
    QCOMPARE(curve->area, (1 + 1 + 0.5 + 1) / 4);
    QVERIFY(near(curve->averagePrecision, 0.5 * 1 + 0.5 * 2 / 3));
    QVERIFY(!rocCurve({{1, true, 0}}));
    const auto perfect = rocCurve({{2, true, 0}, {3, true, 1}, {1, false, 0}, {0, false, 1}});
    QCOMPARE(perfect->area, 1.0);
    QCOMPARE(perfect->bounds->low, 1.0);
    QVERIFY(!rocCurve({{2, true, 0}, {1, false, 0}})->bounds); // one cluster
}

// Cohen's own example has κ = 0.492 (Educational and Psychological Measurement 20, 1960, table 1).
void StatisticsTest::kappa()
{
    const std::vector<double> first{60, 30, 10};
    const std::vector<double> second{50, 30, 20};
    QVERIFY(std::fabs(*cohenKappa(44 + 20 + 6, first, second) - 0.492) < 5e-4);
    QVERIFY(!cohenKappa(5, std::vector<double>{5, 0}, std::vector<double>{5, 0}));
    QVERIFY(!cohenKappa(0, std::vector<double>{}, std::vector<double>{}));
}

void StatisticsTest::histogram()
{
    LogHistogram histogram;
    QVERIFY(!histogram.quantile(0.5));
    for (int i = 0; i < 10; ++i)
        histogram.add(0);
    for (int i = 1; i <= 90; ++i)
        histogram.add(i * 1e-3);
    QCOMPARE(histogram.total(), std::uint64_t{100});
    QCOMPARE(*histogram.quantile(0.1), 0.0); // the tenth smallest
    QVERIFY(near(*histogram.quantile(0.11), 1e-3, 0.004));
    QVERIFY(near(*histogram.quantile(1), 90e-3, 0.004));
    LogHistogram other;
    other.add(1e-3, 7);
    other.merge(histogram);
    QCOMPARE(other.total(), std::uint64_t{107});
    QCOMPARE(other.count(LogHistogram::binOf(1e-3)), std::uint64_t{8});
    // Every bin of normal numbers is narrower than 1 %, and holds its lower end.
    for (std::size_t bin = 129; bin + 2 < LogHistogram::bins; ++bin) {
        QVERIFY(LogHistogram::lowerEnd(bin + 1) / LogHistogram::lowerEnd(bin) < 1.0079);
        QCOMPARE(LogHistogram::binOf(LogHistogram::lowerEnd(bin)), bin);
    }
    QCOMPARE(LogHistogram::binOf(1e300), LogHistogram::bins - 1);
    QCOMPARE(LogHistogram::binOf(1e-300), std::size_t{1});
    QCOMPARE(LogHistogram::binOf(-3), LogHistogram::binOf(3));
}

QTEST_APPLESS_MAIN(StatisticsTest)
#include "statistics_test.moc"
