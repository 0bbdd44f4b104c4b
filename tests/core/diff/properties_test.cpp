// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"
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

constexpr std::uint32_t rowsASample = 7;

/// Values moved by up to `scale`, by a generator of its own.
PlainRun moved(PlainRun run, double scale)
{
    std::mt19937_64 engine(11);
    for (PlainRun::Row& row : run.rows)
        for (auto& values : row.values)
            for (double& value : values)
                value += scale * (static_cast<double>(engine() % 2001) / 1000 - 1);
    return run;
}

/// The same run with its samples, and their rows, in the order given; samples may be left out.
PlainRun withSamples(const PlainRun& run, const std::vector<std::size_t>& order)
{
    PlainRun other = run;
    other.samples.clear();
    other.tokens.clear();
    other.rows.clear();
    for (std::size_t place = 0; place < order.size(); ++place) {
        other.samples.push_back(run.samples[order[place]]);
        other.tokens.push_back(run.tokens[order[place]]);
        for (PlainRun::Row row : run.rows)
            if (row.sample == order[place]) {
                row.sample = place;
                other.rows.push_back(std::move(row));
            }
    }
    return other;
}

PlainRun reference()
{
    return randomRun(77, 6, rowsASample, numeric::DType::FP32);
}

} // namespace

/// What must hold of any two runs.
class PropertiesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void againstItself();
    void swapped();
    void permuted();
    void partsAddUp();
    void intervals();
    void againstTheNoise();
};

void PropertiesTest::againstItself()
{
    const PlainRun run = reference();
    const Report report = compared(run, run);
    const auto& m = report.measures;
    for (const char* id : {"A3",  "A4",  "A7",  "B1", "B2", "B3",  "B4", "B5", "B6", "B7",  "B8",
                           "B9",  "B10", "B11", "C1", "C2", "C3",  "C4", "C5", "C6", "C7",  "C8",
                           "C9",  "C10", "C11", "D1", "D2", "D3",  "D4", "D6", "D8", "D11", "D12",
                           "D13", "E6",  "E8",  "F4", "F6", "G10", "H3", "H4", "H6", "H7",  "H9"})
        EXPECT(measureOf(m, id), 0);
    for (const char* id :
         {"A1", "A2", "A6", "E1", "E2", "E3", "E3[k=10]", "E5", "F3", "G7", "H1", "H2"})
        EXPECT(measureOf(m, id), 100);
    for (const char* id : {"B12", "D5", "D7", "D9", "D10", "E4", "E7", "E7[k=20]", "E11"})
        EXPECT(measureOf(m, id), 1);
    QCOMPARE(report.exit, 0);
    for (const Measure& measure : m) {
        QVERIFY2(!measure.value || measure.interval || !measure.whyNoInterval.empty(),
                 measure.id.c_str());
        QVERIFY2(measure.value || !measure.whyNull.empty(), measure.id.c_str());
    }
    EXPECT(measureOf(m, "L4"), 1);
    // Nothing seen in six samples: the rule of three leaves half of them.
    QCOMPARE(measureOf(m, "E1").parameters.at("rule_of_three"), 50.0);
    QCOMPARE(measureOf(m, "A3").parameters.at("rule_of_three"), 5e5);
}

void PropertiesTest::swapped()
{
    const PlainRun run = reference();
    const PlainRun other = moved(run, 0.2);
    const Report there = compared(run, other);
    const Report back = compared(other, run);
    for (const char* id :
         {"A1", "A3", "A4", "A7", "B1", "B2", "B7", "C3", "C4",  "C5", "C7",  "C8", "C11",
          "D6", "E1", "E2", "E3", "E4", "E5", "E7", "E8", "E11", "F4", "G10", "H6", "L4"})
        EXPECT(measureOf(back.measures, id), *measureOf(there.measures, id).value);
    for (const char* id : {"B6", "C9", "D1", "D2", "D3", "D4", "D11", "D11[of=slope]", "D12"})
        if (measureOf(there.measures, id).value)
            EXPECT(measureOf(back.measures, id), -*measureOf(there.measures, id).value);
    EXPECT(measureOf(back.measures, "C1"), *measureOf(there.measures, "C2").value);
    EXPECT(measureOf(back.measures, "C2"), *measureOf(there.measures, "C1").value);
    EXPECT(measureOf(back.measures, "D7"),
           1 / measureOf(there.measures, "D7").parameters.at("smallest"));
}

void PropertiesTest::permuted()
{
    const PlainRun run = reference();
    const PlainRun other = moved(run, 0.2);
    const Report plain = compared(run, other);
    const std::vector<std::size_t> order{4, 0, 5, 2, 1, 3};
    const Report both = compared(withSamples(run, order), withSamples(other, order));
    const Report one = compared(run, withSamples(other, order));
    for (const Measure& measure : plain.measures) {
        if (!measure.value || measure.id == "A8" || measure.id == "I2" || measure.id == "K1"
            || measure.id == "L4") // the first site, and draws by the sample's place
            continue;
        EXPECT(measureOf(both.measures, measure.id), *measure.value);
        EXPECT(measureOf(one.measures, measure.id), *measure.value, 0); // the reference's order
    }
}

void PropertiesTest::partsAddUp()
{
    const PlainRun run = reference();
    const PlainRun other = moved(run, 0.2);
    const Report whole = compared(run, other);
    const std::vector<std::vector<std::size_t>> halves{{0, 1, 2}, {3, 4, 5}};
    std::vector<Report> parts;
    for (const auto& half : halves)
        parts.push_back(compared(withSamples(run, half), withSamples(other, half)));
    std::size_t ratios = 0;
    for (const Measure& measure : whole.measures) {
        if (measure.bySample.empty())
            continue;
        ++ratios;
        SampleShare sum;
        for (std::size_t i = 0; i < 6; ++i) {
            const SampleShare& share = measureOf(parts[i / 3].measures, measure.id).bySample[i % 3];
            QCOMPARE(share.numerator, measure.bySample[i].numerator);
            QCOMPARE(share.denominator, measure.bySample[i].denominator);
            sum.numerator += share.numerator;
            sum.denominator += share.denominator;
        }
        const double scale = measure.form == RatioForm::Percent      ? 100
                             : measure.form == RatioForm::PerMillion ? 1e6
                                                                     : 1;
        const double ratio = sum.numerator / sum.denominator;
        EXPECT(measure, measure.form == RatioForm::Root ? std::sqrt(ratio) : scale * ratio, 1e-12);
    }
    QVERIFY(ratios > 40);
    for (const char* id : {"A7", "F4"})
        EXPECT(measureOf(whole.measures, id),
               *measureOf(parts[0].measures, id).value + *measureOf(parts[1].measures, id).value);
    for (const char* id : {"A4", "B2", "C8", "C11", "D7"})
        EXPECT(measureOf(whole.measures, id), std::max(*measureOf(parts[0].measures, id).value,
                                                       *measureOf(parts[1].measures, id).value));
}

void PropertiesTest::intervals()
{
    const PlainRun run = reference();
    const PlainRun other = moved(run, 0.2);
    const Report one = compared(run, other, 1);
    const Report several = compared(run, other, 3);
    ComparisonOptions options;
    options.resamples = 0;
    const Report none = compared(run, other, 1, options);
    const Report single = compared(withSamples(run, {0}), withSamples(other, {0}));
    for (const Measure& measure : one.measures) {
        if (!measure.interval)
            continue;
        const Measure& same = measureOf(several.measures, measure.id);
        QVERIFY2(same.interval->low == measure.interval->low
                     && same.interval->high == measure.interval->high,
                 measure.id.c_str());
        QVERIFY2(measure.interval->low <= measure.interval->high, measure.id.c_str());
        if (measure.interval->method.starts_with("bootstrap")) {
            QVERIFY2(measure.interval->low <= *measure.value, measure.id.c_str());
            QVERIFY2(*measure.value <= measure.interval->high, measure.id.c_str());
            QCOMPARE(measureOf(none.measures, measure.id).whyNoInterval,
                     std::string("no resamples were asked for"));
            if (measureOf(single.measures, measure.id).value)
                QCOMPARE(measureOf(single.measures, measure.id).whyNoInterval,
                         std::string("one sample: there is nothing to resample"));
        }
    }
    QVERIFY(measureOf(one.measures, "C1").interval);
    QVERIFY(measureOf(one.measures, "D9").interval);
    QVERIFY(measureOf(one.measures, "B12").interval);
    // Every sample has as many rows: nothing to weigh otherwise.
    QVERIFY(!measureOf(one.measures, "C1").parameters.contains("question_mean"));
}

void PropertiesTest::againstTheNoise()
{
    const PlainRun run = reference();
    const PlainRun other = moved(run, 0.2);
    const Report repeat = compared(run, moved(run, 0.02));
    ComparisonOptions options;
    options.floor = std::make_shared<const NoiseFloor>(NoiseFloor::of(repeat));
    const Report report = compared(run, other, 1, options);
    const auto& m = report.measures;
    EXPECT(measureOf(m, "A9"), *measureOf(repeat.measures, "A6").value);
    const double ratio = *measureOf(m, "C1").value / *measureOf(repeat.measures, "C1").value;
    EXPECT(measureOf(m, "L3"), std::log(ratio));
    QVERIFY(measureOf(m, "L3").interval->low > 0);
    QCOMPARE(measureOf(m, "L3").parameters.at("C1"), ratio);
    const double halfRange = measureOf(repeat.measures, "F3").parameters.at("half_range");
    double predicted = 0;
    for (const LogitsRow& row : report.logits)
        predicted += row.referenceMargin > 2 * halfRange ? 1 : 0;
    QCOMPARE(measureOf(m, "F3").parameters.at("predicted_from_noise"),
             100 * predicted / static_cast<double>(report.logits.size()));
    if (measureOf(m, "F4").parameters.contains("near_tie_bound"))
        QCOMPARE(measureOf(m, "F4").parameters.at("near_tie_bound"),
                 measureOf(repeat.measures, "B9").parameters.at("abs_99_percent"));
    QVERIFY(!measureOf(repeat.measures, "L3").value);
}

QTEST_APPLESS_MAIN(PropertiesTest)
#include "properties_test.moc"
