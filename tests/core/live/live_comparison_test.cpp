// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tolerance.h"
#include "core/live/live_comparison.h"
#include "core/report/format.h"
#include "tests/core/live/script.h"

#include <QTest>

#include <optional>

using namespace moire;
using live::LiveComparison;
using live::test::Script;
using moire::test::MadeModel;

namespace {

/// The sixth value of the first tap of one row is another.
moire::test::Touch touchRow(std::uint64_t touched, double by)
{
    return [touched, by](double value, std::size_t tap, std::uint64_t row, std::size_t element) {
        return row == touched && tap == 0 && element == 5 ? value + by : value;
    };
}

/// A run that counts how often values of a row were asked for.
class CountingRun : public trace::Run
{
public:
    explicit CountingRun(trace::RunPointer run, std::uint64_t& asked)
        : m_run(std::move(run))
        , m_asked(asked)
    {}
    const trace::RunHeader& header() const override { return m_run->header(); }
    std::string source() const override { return m_run->source(); }
    bool complete() const override { return m_run->complete(); }
    std::optional<std::uint64_t> missingRows() const override { return m_run->missingRows(); }
    std::span<const trace::Sample> samples() const override { return m_run->samples(); }
    std::span<const trace::Token> tokens(trace::SampleIndex s) const override
    {
        return m_run->tokens(s);
    }
    std::span<const trace::Event> events() const override { return m_run->events(); }
    trace::RowIndex rowCount() const override { return m_run->rowCount(); }
    trace::Row row(trace::RowIndex r) const override { return m_run->row(r); }
    std::span<const std::uint64_t> digests(trace::RowIndex r) const override
    {
        ++m_asked;
        return m_run->digests(r);
    }
    std::span<const trace::Counts> counts(trace::RowIndex r) const override
    {
        return m_run->counts(r);
    }
    std::span<const trace::Statistics> statistics(trace::RowIndex r) const override
    {
        return m_run->statistics(r);
    }
    Result<trace::ValueView> values(trace::TapIndex tap, trace::RowIndex begin,
                                    trace::RowIndex end) const override
    {
        return m_run->values(tap, begin, end);
    }
    Result<trace::TopKView> topK(trace::RowIndex r) const override { return m_run->topK(r); }
    Result<trace::RoutingView> routing(std::size_t router, trace::RowIndex r) const override
    {
        return m_run->routing(router, r);
    }

private:
    trace::RunPointer m_run;
    std::uint64_t& m_asked;
};

/// Two runs that grow side by side, the target some calls behind.
struct Growing
{
    Growing(const Script& ours, const Script& theirs)
        : m_ours(ours)
        , m_theirs(theirs)
        , reference(ours.header(), "reference")
        , target(theirs.header(), "target")
    {}
    void go(std::size_t ourCalls, std::size_t theirCalls)
    {
        m_ours.play(reference, m_ourCalls, std::min(ourCalls, m_ours.size()));
        m_ourCalls = std::max(m_ourCalls, std::min(ourCalls, m_ours.size()));
        m_theirs.play(target, m_theirCalls, std::min(theirCalls, m_theirs.size()));
        m_theirCalls = std::max(m_theirCalls, std::min(theirCalls, m_theirs.size()));
    }
    void finish()
    {
        go(m_ours.size(), m_theirs.size());
        if (!reference.finish(Script::closing()) || !target.finish(Script::closing()))
            qFatal("a run cannot be finished");
    }
    Result<LiveComparison::Step> advance(LiveComparison& comparison, bool over = false)
    {
        base::Progress progress;
        return comparison.advance({reference.snapshot(), over}, {target.snapshot(), over}, {},
                                  progress);
    }

    const Script& m_ours;
    const Script& m_theirs;
    std::size_t m_ourCalls = 0;
    std::size_t m_theirCalls = 0;
    trace::RunBuilder reference;
    trace::RunBuilder target;
};

std::string json(const diff::Report& report, const trace::Run& reference, const trace::Run& target)
{
    return report::reportText(report::Format::Json, report, reference, target);
}

std::string html(const diff::Report& report, const trace::Run& reference, const trace::Run& target)
{
    return report::reportText(report::Format::Html, report, reference, target);
}

} // namespace

class LiveComparisonTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theLastReportIsThatOfTheFiles_data()
    {
        QTest::addColumn<bool>("experts");
        QTest::addColumn<bool>("grid");
        QTest::addColumn<bool>("firstOnly");
        QTest::addColumn<bool>("parting");
        QTest::addColumn<QString>("criterion");
        QTest::newRow("dense, scored") << false << false << false << false << QString();
        QTest::newRow("dense, with a grid") << false << true << false << false << QString();
        QTest::newRow("experts") << true << false << false << false << QString();
        QTest::newRow("only the first") << true << false << true << false << QString();
        QTest::newRow("tokens part") << false << true << false << true << QString();
        QTest::newRow("a tolerance") << false << false << false << false << QString("abs<=0.01");
    }
    void theLastReportIsThatOfTheFiles()
    {
        QFETCH(bool, experts);
        QFETCH(bool, grid);
        QFETCH(bool, firstOnly);
        QFETCH(bool, parting);
        QFETCH(QString, criterion);
        MadeModel model;
        model.experts = experts ? 8 : 0;
        auto samples = live::test::twoSamples();
        const Script ours(model, samples, 3);
        if (parting)
            samples[0].response[3] = 99;
        const Script theirs(model, samples, 3, touchRow(6, 0.5));
        diff::ComparisonOptions options;
        options.grid = grid;
        options.firstOnly = firstOnly;
        options.resamples = 50;
        if (!criterion.isEmpty())
            options.tolerance = std::make_shared<const diff::Tolerance>(
                diff::Tolerance::everywhere({*diff::parseCriterion(criterion.toStdString())}));

        LiveComparison comparison({}, options);
        Growing runs(ours, theirs);
        std::uint64_t compared = 0;
        constexpr std::size_t lag = 3;
        for (std::size_t call = 1; call < ours.size() + lag; ++call) {
            runs.go(call, call < lag ? 0 : call - lag);
            const auto step = runs.advance(comparison);
            QVERIFY2(step, step ? "" : step.error().text().c_str());
            QVERIFY(step->compared >= compared);
            QVERIFY(step->added <= 2);
            compared = step->compared;
            if (comparison.hasReport())
                QCOMPARE(comparison.report().alignment.rows, compared);
        }
        runs.finish();
        QVERIFY(runs.advance(comparison, true));
        QVERIFY(comparison.isCertain());

        base::Progress progress;
        const auto reference = runs.reference.snapshot();
        const auto target = runs.target.snapshot();
        const auto expected = diff::compare(reference, target, {}, options, 1, {}, progress);
        QVERIFY(expected);
        const auto made = comparison.report();
        QCOMPARE(QString::fromStdString(json(made, *reference, *target)),
                 QString::fromStdString(json(*expected, *reference, *target)));
        if (grid)
            QVERIFY(html(made, *reference, *target) == html(*expected, *reference, *target));
    }

    /// Each pair of rows is read once, however often the runs are looked at.
    void oneRowMoreIsOneRowsWork()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        const Script theirs(MadeModel{}, live::test::twoSamples(), 3, touchRow(6, 0.5));
        Growing runs(ours, theirs);
        LiveComparison comparison({}, {});
        std::uint64_t asked = 0;
        std::vector<std::uint64_t> perRow;
        std::uint64_t before = 0;
        for (std::size_t call = 1; call <= ours.size(); ++call) {
            runs.go(call, call);
            base::Progress progress;
            const auto step = comparison.advance(
                {std::make_shared<CountingRun>(runs.reference.snapshot(), asked), false},
                {std::make_shared<CountingRun>(runs.target.snapshot(), asked), false}, {},
                progress);
            QVERIFY(step);
            if (step->added > 0)
                perRow.push_back((asked - before) / step->added);
            else
                QCOMPARE(asked, before);
            before = asked;
        }
        QVERIFY(perRow.size() > 10);
        QVERIFY(std::all_of(perRow.begin(), perRow.end(),
                            [&](std::uint64_t work) { return work == perRow[0]; }));
    }

    void aDifferenceIsCertainWhenItIsSeen()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        const Script theirs(MadeModel{}, live::test::twoSamples(), 3, touchRow(2, 0.5));
        Growing runs(ours, theirs);
        LiveComparison comparison({}, {});
        // Two samples have begun; then a row of each in turn: sample "one" has rows 0 to 8.
        runs.go(6, 6);
        QVERIFY(runs.advance(comparison));
        QVERIFY(comparison.hasReport());
        QVERIFY(!comparison.isCertain());
        QCOMPARE(comparison.report().exit, 0); // what is on its way is not missing
        QVERIFY(!comparison.report().first.bitwise);
        runs.go(9, 9);
        const auto step = runs.advance(comparison);
        QVERIFY(step && step->differs);
        QVERIFY(comparison.isCertain());
        const auto report = comparison.report();
        QVERIFY(report.first.bitwise);
        QCOMPARE(report.first.bitwise->position, 2U);
        QCOMPARE(report.first.bitwise->sample, std::string("one"));
    }

    void withinAToleranceNothingIsCertainBeforeTheEnd()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        const Script theirs(MadeModel{}, live::test::twoSamples(), 3, touchRow(1, 0.5));
        diff::ComparisonOptions options;
        options.tolerance = std::make_shared<const diff::Tolerance>(
            diff::Tolerance::everywhere({*diff::parseCriterion("abs<=1")}));
        diff::ComparisonOptions strict;
        strict.tolerance = std::make_shared<const diff::Tolerance>(
            diff::Tolerance::everywhere({*diff::parseCriterion("abs<=0.25")}));
        Growing runs(ours, theirs);
        LiveComparison within({}, options);
        LiveComparison beyond({}, strict);
        runs.go(10, 10);
        const auto step = runs.advance(within);
        QVERIFY(step && step->differs);
        QVERIFY(!within.isCertain());
        QVERIFY(runs.advance(beyond));
        QVERIFY(beyond.isCertain());
        runs.finish();
        QVERIFY(runs.advance(within, true));
        QVERIFY(within.isCertain());
        QCOMPARE(within.report().exit, 0);
    }

    /// How many tokens are equal shows at the end of a response.
    void aCriterionOfTokensWaitsForTheEnd()
    {
        auto samples = live::test::twoSamples();
        const Script ours(MadeModel{}, samples, 3);
        samples[0].response[1] = 99;
        const Script theirs(MadeModel{}, samples, 3);
        diff::ComparisonOptions options;
        options.tolerance = std::make_shared<const diff::Tolerance>(
            diff::Tolerance::everywhere({*diff::parseCriterion("tokens>=0.9")}));
        Growing runs(ours, theirs);
        LiveComparison comparison({}, options);
        runs.go(ours.size(), theirs.size());
        QVERIFY(runs.advance(comparison));
        QVERIFY(!comparison.isCertain());
        runs.finish();
        QVERIFY(runs.advance(comparison, true));
        QVERIFY(comparison.isCertain());
        QCOMPARE(comparison.report().exit, 1);
    }

    void whatRowsCannotHealIsToldAtOnce()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        MadeModel other;
        other.layers = 1;
        const Script theirs(other, live::test::twoSamples(), 3);
        Growing runs(ours, theirs);
        runs.go(2, 2); // not a row yet
        diff::AlignmentOptions patterns;
        patterns.tapPatterns = {"model.nowhere.*"};
        LiveComparison wrongPattern(patterns, {});
        const auto nowhere = runs.advance(wrongPattern);
        QVERIFY(!nowhere && nowhere.error().code != Errc::Cancelled);
        diff::AlignmentOptions onlyReference;
        onlyReference.tapPatterns = {"model.layers.1.*"};
        LiveComparison nothingInCommon(onlyReference, {});
        const auto apart = runs.advance(nothingInCommon);
        QVERIFY(!apart);
        QCOMPARE(apart.error().code, Errc::Incomparable);
    }

    void whatMayStillComeIsWaitedFor()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        Growing runs(ours, ours);
        diff::AlignmentOptions patterns;
        patterns.samplePatterns = {"two"};
        LiveComparison comparison(patterns, {});
        base::Progress progress;
        const auto nothing = comparison.advance({}, {}, {}, progress);
        QVERIFY(nothing && nothing->compared == 0);
        QVERIFY(!comparison.hasReport());
        QVERIFY(!comparison.isCertain());
        runs.go(1, 0); // sample "two" has not begun
        QVERIFY(runs.advance(comparison));
        runs.finish();
        const auto all = runs.advance(comparison, true);
        QVERIFY(all);
        QCOMPARE(all->compared, 6U);
        QVERIFY(!all->differs);
        QCOMPARE(comparison.report().exit, 0);
    }

    void aRunOfWhichNothingCameIsNotComparable()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        LiveComparison comparison({}, {});
        base::Progress progress;
        const auto alone =
            comparison.advance({ours.run("reference"), true}, {nullptr, true}, {}, progress);
        QVERIFY(!alone);
        QCOMPARE(alone.error().code, Errc::Incomparable);
    }

    void aStopEndsIt()
    {
        const Script ours(MadeModel{}, live::test::twoSamples(), 3);
        Growing runs(ours, ours);
        runs.finish();
        LiveComparison comparison({}, {});
        std::stop_source stop;
        stop.request_stop();
        base::Progress progress;
        const auto stopped =
            comparison.advance({runs.reference.snapshot(), true}, {runs.target.snapshot(), true},
                               stop.get_token(), progress);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, Errc::Cancelled);
    }
};

QTEST_APPLESS_MAIN(LiveComparisonTest)
#include "live_comparison_test.moc"
