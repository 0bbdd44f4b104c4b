// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/head_capacity.h"
#include "core/diff/measure_builder.h"
#include "core/diff/metric_catalogue.h"
#include "core/diff/study.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

PlainRun moved(PlainRun run, double scale, std::uint64_t seed)
{
    std::mt19937_64 engine(seed);
    for (PlainRun::Row& row : run.rows)
        for (auto& values : row.values)
            for (double& value : values)
                value += scale * (static_cast<double>(engine() % 2001) / 1000 - 1);
    return run;
}

/// Runs of the reference and of targets ever nearer to it, at ever higher cost.
struct Made
{
    trace::RunPointer reference;
    std::vector<trace::RunPointer> runs;
    std::vector<Report> reports;

    Made()
    {
        PlainRun run = randomRun(5, 8, 6, numeric::DType::FP32);
        run.header.environment.set(trace::env::wallSeconds, 10.0);
        reference = run.build("reference");
        double seconds = 20;
        for (const double scale : {0.5, 0.2, 0.05}) {
            PlainRun target = moved(run, scale, 3);
            target.header.environment.set(trace::env::wallSeconds, seconds);
            seconds += 10;
            runs.push_back(target.build("target" + std::to_string(runs.size())));
            base::Progress progress;
            reports.push_back(*compare(reference, runs.back(), {}, {}, 1, {}, progress));
        }
    }
    std::vector<StudyTarget> targets() const
    {
        std::vector<StudyTarget> all;
        for (std::size_t i = 0; i < runs.size(); ++i)
            all.push_back({reports[i], *runs[i]});
        return all;
    }
};

const StudyRow& rowOf(const StudyReport& report, std::string_view id)
{
    const auto at = std::find_if(report.rows.begin(), report.rows.end(),
                                 [id](const StudyRow& row) { return row.id == id; });
    if (at == report.rows.end())
        qFatal("no row");
    return *at;
}

bool near(double a, double b, double relative = 1e-9)
{
    return std::fabs(a - b) <= relative * std::fabs(b);
}

} // namespace

class StudyTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void table();
    void reductions();
    void samplesInCommon();
    void rowsInCommon();
    void oneMeaning();
    void overRuns();
    void headCapacities();
    void mistakes();
};

// Over the same samples every value and interval is the comparison's own.
void StudyTest::table()
{
    const Made made;
    const auto targets = made.targets();
    const auto report = study(*made.reference, targets, {});
    QVERIFY(report);
    QCOMPARE(report->samples, std::uint64_t{8});
    for (const char* id : {"A1", "B1", "B4", "C1", "C7", "E1", "E3", "H1", "D1"})
        for (std::size_t t = 0; t < 3; ++t) {
            const Measure& own = measureOf(made.reports[t].measures, id);
            const Estimate& value = rowOf(*report, id).values[t];
            QVERIFY(near(*value.value, *own.value));
            QVERIFY(near(value.interval->low, own.interval->low));
            QVERIFY(near(value.interval->high, own.interval->high));
        }
    for (const PaperName& name : paperNames())
        metricOf(name.id);
    const StudyRow& kl = rowOf(*report, "C1");
    QCOMPARE(*kl.changes[0].value, 0.0);
    QVERIFY(near(*kl.changes[1].value, 100 * (*kl.values[1].value / *kl.values[0].value - 1)));
    const StudyRow& top = rowOf(*report, "E1");
    QVERIFY(near(*top.changes[2].value, *top.values[2].value - *top.values[0].value));
    QCOMPARE(*top.countChanges[2].value,
             std::round(*top.changes[2].value / 100 * 8 * 6)); // of 48 rows
    // Pairing: the targets' noise is the same draws at another scale, so that the change is known
    // far better than either value.
    const auto spread = [](const Estimate& e) { return e.interval->high - e.interval->low; };
    QVERIFY(spread(kl.changes[1]) < 20);
}

void StudyTest::reductions()
{
    const Made made;
    const auto targets = made.targets();
    StudyOptions options;
    options.full = 2;
    const auto report = study(*made.reference, targets, options);
    QVERIFY(report);
    QVERIFY(std::equal(report->reduced.begin(), report->reduced.end(), reducedMeasures().begin(),
                       reducedMeasures().end()));
    const StudyRow& kl = rowOf(*report, "C1");
    const auto value = [&](std::size_t t) { return *kl.values[t].value; };
    QVERIFY(near(*kl.reductions[1].value, 100 * (1 - value(1) / value(0))));
    QVERIFY(kl.reductions[1].interval->low > 0);
    QVERIFY(near(*kl.retained[1].value, 100 * (value(0) - value(1)) / (value(0) - value(2))));
    QVERIFY(near(*kl.retained[2].value, 100));
    const StudyRow& top = rowOf(*report, "E1");
    const auto lost = [&](std::size_t t) { return 100 - *top.values[t].value; };
    QVERIFY(near(*top.reductions[1].value, 100 * (1 - lost(1) / lost(0))));
    // Costs are 2, 3 and 4 times the reference's.
    QVERIFY(near(*kl.gainPerCost[1], *kl.reductions[1].value / 2));
    QCOMPARE(report->paretoFront, (std::vector<std::size_t>{0, 1, 2})); // dearer and better
    QCOMPARE(report->disagreement.size(), std::size_t{5});
    QCOMPARE(report->disagreement[0][1].compared, std::uint64_t{2});
    QCOMPARE(report->disagreement[0][1].signs, std::uint64_t{0});
    QVERIFY(!rowOf(*report, "C1").retained.empty());
    const auto plain = study(*made.reference, targets, {});
    QVERIFY(!rowOf(*plain, "C1").retained[1].value);
    QVERIFY(!rowOf(*plain, "C1").retained[1].why.empty());
}

void StudyTest::samplesInCommon()
{
    const Made made;
    auto targets = made.targets();
    AlignmentOptions some;
    some.samplePatterns = {"s2", "s5", "s7"};
    base::Progress progress;
    const Report part = *compare(made.reference, made.runs[1], some, {}, 1, {}, progress);
    const std::vector<StudyTarget> mixed{{made.reports[0], *made.runs[0]}, {part, *made.runs[1]}};
    const auto report = study(*made.reference, mixed, {});
    QVERIFY(report);
    QCOMPARE(report->samples, std::uint64_t{3});
    const Measure& whole = measureOf(made.reports[0].measures, "C1");
    double numerator = 0;
    double denominator = 0;
    for (const std::size_t s : {2, 5, 7}) {
        numerator += whole.bySample[s].numerator;
        denominator += whole.bySample[s].denominator;
    }
    QVERIFY(near(*rowOf(*report, "C1").values[0].value, numerator / denominator));
    QVERIFY(near(*rowOf(*report, "C1").values[1].value, *measureOf(part.measures, "C1").value));
}

// The second target lacks the last two rows of every sample, the third one sample more: the first
// is judged by what they have too.
void StudyTest::rowsInCommon()
{
    const PlainRun run = randomRun(5, 4, 6, numeric::DType::FP32);
    PlainRun shorter = moved(run, 0.2, 3);
    std::erase_if(shorter.rows, [](const PlainRun::Row& row) { return row.position >= 4; });
    PlainRun fewer = moved(run, 0.1, 4);
    std::erase_if(fewer.rows, [](const PlainRun::Row& row) { return row.sample == 2; });
    const auto reference = run.build("reference");
    const std::vector<trace::RunPointer> runs{moved(run, 0.5, 2).build("whole"),
                                              shorter.build("shorter"), fewer.build("fewer")};
    const std::vector<const trace::Run*> pointers{runs[0].get(), runs[1].get(), runs[2].get()};
    const auto shared = sharedRows(*reference, pointers, {});
    QVERIFY(shared);
    QCOMPARE(shared->count, std::uint64_t{3 * 4});
    QCOMPARE(shared->ofTarget, (std::vector<std::uint64_t>{24, 16, 18}));
    AlignmentOptions options;
    options.rows = shared->rows;
    base::Progress progress;
    std::vector<Report> reports;
    for (const auto& target : runs)
        reports.push_back(*compare(reference, target, options, {}, 1, {}, progress));
    std::vector<StudyTarget> targets;
    for (std::size_t i = 0; i < runs.size(); ++i)
        targets.push_back({reports[i], *runs[i], shared->ofTarget[i]});
    const auto report = study(*reference, targets, {});
    QVERIFY(report);
    QCOMPARE(report->rowsOf, shared->ofTarget);
    QCOMPARE(report->rowsUsed, (std::vector<std::uint64_t>{12, 12, 12}));
    const Report whole = *compare(reference, runs[0], {}, {}, 1, {}, progress);
    double sum = 0; // of the rows' own numbers
    for (const std::size_t sample : {0, 1, 3})
        for (std::size_t position = 0; position < 4; ++position)
            sum += whole.logits[6 * sample + position].forwardKl;
    QVERIFY(near(*rowOf(*report, "C1").values[0].value, sum / 12));
    PlainRun apart = run;
    std::erase_if(apart.rows, [](const PlainRun::Row& row) { return row.position < 4; });
    const auto last = apart.build("last");
    const std::vector<const trace::Run*> none{pointers[1], last.get()};
    QCOMPARE(sharedRows(*reference, none, {}).error().code, Errc::Incomparable);
}

// What an id means in a report it means in a study: H5 is a median, G1's interval Wilson's.
void StudyTest::oneMeaning()
{
    const PlainRun run = randomRun(5, 8, 6, numeric::DType::FP32);
    std::vector<trace::RunPointer> runs;
    std::vector<Report> reports;
    const auto reference = run.build("reference");
    for (const std::size_t every : {2, 3}) {
        PlainRun target = moved(run, 0.1, every);
        for (std::size_t r = 0; r < target.rows.size(); r += every) {
            auto& ids = target.rows[r].routing[r % 5 == 0 ? 0 : 1].ids;
            std::int32_t other = 0;
            while (std::find(ids.begin(), ids.end(), other) != ids.end())
                ++other;
            ids[0] = other;
        }
        for (std::size_t s = 0; s < target.tokens.size(); s += every)
            target.tokens[s].back().id = (target.tokens[s].back().id + 1) % 80;
        runs.push_back(target.build("target" + std::to_string(every)));
        base::Progress progress;
        reports.push_back(*compare(reference, runs.back(), {}, {}, 1, {}, progress));
    }
    const std::vector<StudyTarget> targets{{reports[0], *runs[0]}, {reports[1], *runs[1]}};
    const auto report = study(*reference, targets, {});
    QVERIFY(report);
    int compared = 0;
    for (const StudyRow& row : report->rows)
        for (std::size_t t = 0; t < 2; ++t) {
            const Measure& own = measureOf(reports[t].measures, row.id);
            QCOMPARE(row.values[t].value.has_value(), own.value.has_value());
            if (!own.value)
                continue;
            ++compared;
            QVERIFY2(near(*row.values[t].value, *own.value), row.id.c_str());
            QVERIFY2(own.interval.has_value() == row.values[t].interval.has_value(),
                     row.id.c_str());
            if (!own.interval)
                continue;
            QVERIFY2(near(row.values[t].interval->low, own.interval->low), row.id.c_str());
            QVERIFY2(near(row.values[t].interval->high, own.interval->high), row.id.c_str());
        }
    QVERIFY(compared > 100);
    QCOMPARE(rowOf(*report, "G1").values[0].interval->method, std::string(wilsonMethod));
    QCOMPARE(*rowOf(*report, "H5").values[0].value, *measureOf(reports[0].measures, "H5").value);
}

// Three configurations of one prompt, by hand.
void StudyTest::overRuns()
{
    const char* head = "tap lm_head.out head -1 fp32 2\nlogits 2 2\n";
    const auto run = [&](const std::string& samples, double best, const char* prediction) {
        PlainRun plain = textRun(head + samples + "row 0 : 0 0\nrow 1 : 0 " + std::to_string(best));
        for (trace::Sample& sample : plain.samples) {
            sample.label = "A";
            sample.prediction = prediction;
        }
        return plain.build(samples);
    };
    const auto a = run("sample t : 1 | 1 0\nsample s : 1 | 1 0 1\n", 0, "A");
    const auto b = run("sample t : 1 | 1 0\nsample s : 1 | 1 1 1\n", 0, "A");
    const auto c = run("sample t : 1 | 1 0\nsample s : 1 | 1 0\n", 2, "B");
    const std::vector<const trace::Run*> runs{a.get(), b.get(), c.get()};
    const auto measures = measuresOverRuns(runs);
    QVERIFY(near(*measureOf(measures, "G8").value, (1 + 3) / 2.0));
    const Measure& spread = measureOf(measures, "G9");
    const double third = 100.0 / std::sqrt(3); // of 100, 100, 0
    QVERIFY(near(*spread.value, third));
    QVERIFY(near(spread.parameters.at("length_deviation"), std::sqrt(1.0 / 3) / 2));
    QCOMPARE(spread.parameters.at("diverging_percent"), 50.0);
    QCOMPARE(spread.parameters.at("divergence_index"), 1.0);
    // Only sample s has rows: before index 1 all give ½ to the best.
    QVERIFY(std::fabs(spread.parameters.at("top_probability_deviation")) < 1e-12);
}

// Logits of 6 tokens over inputs of width 3, 4 samples of 8 rows: what is made of the inputs by a
// map can be removed whole, what has nothing to do with them in proportion to the width at most.
void StudyTest::headCapacities()
{
    const auto made = [](bool mapped) {
        PlainRun run = textRun("tap model.norm.out norm -1 fp32 3\n"
                               "tap lm_head.out head -1 fp32 6 in model.norm.out\nlogits 6 6\n");
        PlainRun other = run;
        std::mt19937_64 engine(9);
        const auto draw = [&] { return static_cast<double>(engine() % 2001) / 1000 - 1; };
        for (std::size_t sample = 0; sample < 4; ++sample)
            for (PlainRun* one : {&run, &other}) {
                one->samples.push_back({});
                one->samples.back().id = "s" + std::to_string(sample);
                one->tokens.emplace_back(8, trace::Token{1, false, -1, ""});
            }
        for (std::size_t row = 0; row < 32; ++row) {
            const std::vector<double> input{draw(), draw(), draw()};
            std::vector<double> target;
            std::vector<double> reference;
            for (std::size_t v = 0; v < 6; ++v) {
                target.push_back(draw());
                const auto weight = static_cast<double>(v + 1) / 8;
                reference.push_back(target.back()
                                    + (mapped ? weight * (input[0] - 2 * input[2]) : draw()));
            }
            PlainRun::Row plain;
            plain.sample = row / 8;
            plain.position = row % 8;
            plain.values = {input, target};
            other.rows.push_back(plain);
            plain.values[1] = reference;
            run.rows.push_back(plain);
        }
        const auto first = run.build("reference");
        const auto second = other.build("target");
        base::Progress progress;
        const Report report = *compare(first, second, {}, {}, 1, {}, progress);
        return *headCapacity(*first, *second, report, {100, 1, 5}, {});
    };
    const Measure mapped = made(true);
    QVERIFY(near(*mapped.value, 100, 1e-6));
    QVERIFY(near(mapped.parameters.at("rank_1"), 100, 1e-6)); // the map has rank one
    QVERIFY(near(mapped.parameters.at("held_out"), 100, 1e-6));
    QVERIFY(near(mapped.parameters.at("rank_1_held_out"), 100, 1e-6));
    QCOMPARE(mapped.n, std::uint64_t{32});
    const Measure apart = made(false);
    QVERIFY(*apart.value > 0 && *apart.value < 25); // three columns of 32
    QVERIFY(apart.parameters.at("rank_1") <= *apart.value);
    QVERIFY(apart.parameters.at("held_out") < 5);
}

void StudyTest::mistakes()
{
    const Made made;
    const auto targets = made.targets();
    QCOMPARE(study(*made.reference, {}, {}).error().code, Errc::Invalid);
    StudyOptions options;
    options.baseline = 3;
    QCOMPARE(study(*made.reference, targets, options).error().code, Errc::Invalid);
    QCOMPARE(study(*made.runs[0], targets, {}).error().code, Errc::Invalid);
    AlignmentOptions one;
    one.samplePatterns = {"s1"};
    AlignmentOptions other;
    other.samplePatterns = {"s2"};
    base::Progress progress;
    const Report first = *compare(made.reference, made.runs[0], one, {}, 1, {}, progress);
    const Report second = *compare(made.reference, made.runs[1], other, {}, 1, {}, progress);
    const std::vector<StudyTarget> apart{{first, *made.runs[0]}, {second, *made.runs[1]}};
    QCOMPARE(study(*made.reference, apart, {}).error().code, Errc::Incomparable);
}

QTEST_APPLESS_MAIN(StudyTest)
#include "study_test.moc"
