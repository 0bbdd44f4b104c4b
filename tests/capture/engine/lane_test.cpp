// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/lane.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;
using trace::Construction;
using trace::Phase;

namespace {

Prompt prompt(std::vector<std::int32_t> ids, std::uint32_t promptLength)
{
    Prompt result;
    result.ids = std::move(ids);
    result.promptLength = promptLength;
    return result;
}

RunOptions options(std::uint32_t maxNew, Construction construction = Construction::Once)
{
    RunOptions result;
    result.maxNew = maxNew;
    result.construction = construction;
    return result;
}

/// "0-2 4: P once" a pass: positions, the token that follows the last, phase and construction.
/// Generated tokens are 100, 101, …
std::string passesOf(const Prompt& sample, const RunOptions& how,
                     const std::vector<std::int32_t>& endTokens = {})
{
    Lane lane(sample, how, trace::SampleIndex{0}, 0);
    std::string text;
    std::int32_t next = 100;
    while (!lane.done()) {
        const auto rows = lane.nextRows();
        const auto targets = lane.nextTargets();
        if (rows.size() != targets.size() || rows.size() != lane.nextIds().size())
            return "sizes differ";
        text += text.empty() ? "" : "|";
        text += std::to_string(rows.front().position) + "-" + std::to_string(rows.back().position)
                + ">" + std::to_string(targets.back()) + " "
                + std::string(trace::nameOf(rows.back().phase)) + " "
                + std::string(trace::nameOf(rows.back().construction));
        lane.advance(lane.generatesNext() ? next++ : -1, endTokens);
    }
    return text + (lane.stopReason().empty() ? "" : "|" + lane.stopReason());
}

} // namespace

class LaneTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void scoredWhole();
    void scoredInSteps();
    void responseOnce();
    void responseInSteps();
    void replayOfATextInSteps();
    void freeRun();
    void endTokenStops();
    void endTokenIgnored();
    void rowCounts();
    void prefixGoesOn();
    void chunksOfThePrompt();
};

void LaneTest::scoredWhole()
{
    QCOMPARE(passesOf(prompt({5, 6, 7}, 3), options(0)), std::string("0-2>-1 forced once"));
}

void LaneTest::scoredInSteps()
{
    QCOMPARE(passesOf(prompt({5, 6, 7}, 3), options(0, Construction::Steps)),
             std::string("0-0>6 forced steps|1-1>7 forced steps|2-2>-1 forced steps"));
}

void LaneTest::responseOnce()
{
    QCOMPARE(passesOf(prompt({5, 6, 7, 8}, 2), options(0)), std::string("0-2>8 forced once"));
}

void LaneTest::responseInSteps()
{
    QCOMPARE(passesOf(prompt({5, 6, 7, 8}, 2), options(0, Construction::Steps)),
             std::string("0-1>7 forced once|2-2>8 forced steps"));
}

void LaneTest::replayOfATextInSteps()
{
    Prompt sample = prompt({5, 6, 7}, 3);
    sample.sample.replaySource.assign(1, '0');
    QCOMPARE(passesOf(sample, options(0, Construction::Steps)), std::string("0-2>-1 forced once"));
}

void LaneTest::prefixGoesOn()
{
    const Prompt sample = prompt({5, 6, 7, 8}, 2);
    QCOMPARE(passesOf(sample, options(2, Construction::Steps)),
             std::string("0-1>7 prefill once|2-2>8 prefix steps|3-3>-1 prefix steps|"
                         "4-4>-1 decode steps|length"));
    QCOMPARE(passesOf(sample, options(2)),
             std::string("0-3>-1 prefix once|4-4>-1 decode steps|length"));
}

void LaneTest::chunksOfThePrompt()
{
    RunOptions how = options(2);
    how.prefillChunk = 2;
    QCOMPARE(passesOf(prompt({5, 6, 7}, 3), how),
             std::string("0-1>7 prefill once|2-2>-1 prefill once|3-3>-1 decode steps|length"));
    how = options(0);
    how.prefillChunk = 2;
    QCOMPARE(passesOf(prompt({5, 6, 7, 8, 9}, 3), how),
             std::string("0-1>7 forced once|2-3>9 forced once"));
}

void LaneTest::freeRun()
{
    QCOMPARE(passesOf(prompt({5, 6}, 2), options(3)),
             std::string("0-1>-1 prefill once|2-2>-1 decode steps|3-3>-1 decode steps|length"));
}

void LaneTest::endTokenStops()
{
    QCOMPARE(passesOf(prompt({5, 6}, 2), options(9), {7, 101}),
             std::string("0-1>-1 prefill once|2-2>-1 decode steps|end"));
}

void LaneTest::endTokenIgnored()
{
    RunOptions how = options(2);
    how.ignoreEnd = true;
    QCOMPARE(passesOf(prompt({5}, 1), how, {100}),
             std::string("0-0>-1 prefill once|1-1>-1 decode steps|length"));
}

void LaneTest::rowCounts()
{
    QCOMPARE(rowsOf(prompt({5, 6, 7}, 3), options(0)), std::uint64_t{3});
    QCOMPARE(rowsOf(prompt({5, 6, 7}, 3), options(1)), std::uint64_t{3});
    QCOMPARE(rowsOf(prompt({5, 6, 7}, 3), options(4)), std::uint64_t{6});
    QCOMPARE(rowsOf(prompt({5, 6, 7}, 2), options(0)), std::uint64_t{2});
}

QTEST_APPLESS_MAIN(LaneTest)
#include "lane_test.moc"
