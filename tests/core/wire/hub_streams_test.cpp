// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/wire/hub_bench.h"

#include <QTest>

#include <algorithm>
#include <iterator>
#include <thread>

using namespace moire;
using namespace moire::wire;
using namespace moire::wire::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t plenty = std::uint64_t{1} << 40U;

/// The numbers of the run's messages that came for a peer, and that their size is what they say.
std::vector<std::uint64_t> numbersOf(HubBench& bench, const std::string& peer)
{
    std::vector<std::uint64_t> numbers;
    while (const auto message = bench.heard(peer)) {
        if (message->type() != type::message)
            continue;
        std::uint64_t bytes = 0;
        for (const Frame& frame : message->frames)
            bytes += frame.size();
        if (message->fields["bytes"] != bytes)
            return {};
        numbers.push_back(message->fields["seq"].get<std::uint64_t>());
    }
    return numbers;
}

std::vector<std::uint64_t> from(std::uint64_t begin, std::uint64_t end)
{
    std::vector<std::uint64_t> numbers;
    for (; begin < end; ++begin)
        numbers.push_back(begin);
    return numbers;
}

Fields with(Fields fields, const char* name, const Fields& value)
{
    fields[name] = value;
    return fields;
}

Fields creditOf(std::int64_t bytes)
{
    return {{"t", "credit"}, {"stream", 5}, {"bytes", bytes}};
}

} // namespace

/// Credit, ranges, windows and places.
class HubStreamsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sendsARunInOrderToItsEnd();
    void resumesAnywhere_data();
    void resumesAnywhere();
    void sendsARange();
    void followsARunThatGrows();
    void neverSendsBeyondCredit();
    void saysWhenItStarves();
    void refusesSenselessOpenings();
    void refusesSenselessCredit();
    void boundsStreams();
    void boundsWhatTheTransportHolds();
    void triesAgainWhenAPipeIsFull();
    void replacesAStreamOfTheSameNumber();
    void keepsThePlaceOfALostLink();
    void knowsFromCreditWhatWasReceived();
    void latestNeverHoldsTheMaker();
    void sendsGapsAndGoesOnBehindThem();
    void answersPings();
    void endsStreamsWhenItStops();
    void servesEverybodyInTurn();
    void movesToAnotherLink();
};

void HubStreamsTest::sendsARunInOrderToItsEnd()
{
    HubBench bench;
    bench.run(5);
    bench.ask("s", HubBench::openOf(bench.session("p", "c"), plenty));
    const auto opened = bench.heard("s");
    QCOMPARE(opened->type(), type::opened);
    QCOMPARE(opened->fields["next"].get<int>(), 0);
    QCOMPARE(opened->fields["epoch"].get<std::string>(), std::string("epoch-1"));
    QCOMPARE(bench.outbox.sent.back().frames.size(), std::size_t{1}); // end
    const auto log = bench.service.logs["r1"];
    for (std::uint64_t i = 0; i < log->size(); ++i) {
        const auto message = bench.heard("s");
        QCOMPARE(message->fields["seq"].get<std::uint64_t>(), i);
        const auto packed = log->read(i, {});
        QCOMPARE(message->frames.size(), packed->frames.size() + 1);
        QVERIFY(std::ranges::equal(message->frames[0].bytes, packed->header.bytes));
        for (std::size_t f = 0; f < packed->frames.size(); ++f)
            QVERIFY(std::ranges::equal(message->frames[f + 1].bytes, packed->frames[f].bytes));
    }
    QCOMPARE(bench.kind("s"), std::string("end"));
    QCOMPARE(bench.hub->streams(), std::size_t{0});
}

void HubStreamsTest::resumesAnywhere_data()
{
    QTest::addColumn<int>("first");
    for (int i = 0; i <= 9; ++i)
        QTest::addRow("%d", i) << i;
}

void HubStreamsTest::resumesAnywhere()
{
    QFETCH(int, first);
    HubBench bench;
    bench.run(5);
    bench.ask("s",
              HubBench::openOf(bench.session("p", "c"), plenty, static_cast<std::uint64_t>(first)));
    QCOMPARE(bench.heard("s")->fields["next"].get<int>(), first);
    QCOMPARE(bench.outbox.sent.back().frames.size(), std::size_t{1});
    QCOMPARE(numbersOf(bench, "s"), from(static_cast<std::uint64_t>(first), 8));
}

void HubStreamsTest::sendsARange()
{
    HubBench bench;
    bench.run(5);
    const std::string session = bench.session("p", "c");
    bench.ask("s", with(with(HubBench::openOf(session, plenty, 2), "to", 4), "policy", "latest"));
    QCOMPARE(bench.outbox.sent.size(), std::size_t{4}); // opened, 2, 3, end
    QCOMPARE(numbersOf(bench, "s"), from(2, 4));
    bench.ask("s", with(HubBench::openOf(session, plenty, 3), "to", 3));
    QCOMPARE(bench.outbox.sent.size(), std::size_t{2});
}

void HubStreamsTest::followsARunThatGrows()
{
    HubBench bench;
    const auto log = bench.run(0, false);
    bench.ask("s", HubBench::openOf(bench.session("p", "c"), plenty));
    QCOMPARE(numbersOf(bench, "s"), from(0, 2));
    for (std::uint32_t i = 0; i < 4; ++i) {
        HubBench::grow(*log, i);
        bench.pump();
        QCOMPARE(numbersOf(bench, "s"), from(2 + i, 3 + i));
    }
    log->breakOff(state::cancelled, "stopped");
    bench.pump();
    QCOMPARE(bench.kind("s"), std::string("message"));
    QCOMPARE(bench.kind("s"), std::string("end"));
}

void HubStreamsTest::neverSendsBeyondCredit()
{
    HubBench bench;
    const auto log = bench.run(40);
    std::uint64_t credit = log->read(0, {})->bytes() + 10;
    bench.ask("s", HubBench::openOf(bench.session("p", "c"), credit));
    std::uint64_t next = 0;
    for (std::uint64_t step = 1; next < log->size(); step = step * 7 % 911) {
        while (const auto message = bench.heard("s"))
            if (message->type() == type::message) {
                QCOMPARE(message->fields["seq"].get<std::uint64_t>(), next);
                const auto bytes = message->fields["bytes"].get<std::uint64_t>();
                QVERIFY(bytes <= credit);
                credit -= bytes;
                ++next;
            }
        // It sent all that the credit allows.
        if (next < log->size()) {
            QVERIFY(log->read(next, {})->bytes() > credit);
            credit += step;
            bench.ask("s", creditOf(static_cast<std::int64_t>(step)));
        }
    }
}

void HubStreamsTest::saysWhenItStarves()
{
    HubBench bench;
    const auto log = bench.run(3);
    const std::uint64_t first = log->read(0, {})->bytes();
    bench.ask("s", HubBench::openOf(bench.session("p", "c"), first - 1));
    QCOMPARE(bench.kind("s"), std::string("opened"));
    const auto starved = bench.heard("s");
    QCOMPARE(starved->type(), type::starved);
    QCOMPARE(starved->fields["needs"].get<std::uint64_t>(), first);
    bench.pump();
    QCOMPARE(bench.kind("s"), std::string("nothing")); // said once
    bench.ask("s", creditOf(1));
    QCOMPARE(bench.kind("s"), std::string("message"));
    // The next is smaller than what there was: credit will come back, nobody starves.
    QVERIFY(log->read(1, {})->bytes() < first);
    QCOMPARE(bench.kind("s"), std::string("nothing"));
    bench.ask("s", creditOf(static_cast<std::int64_t>(first)));
    QCOMPARE(bench.kind("s"), std::string("message"));
}

void HubStreamsTest::refusesSenselessOpenings()
{
    HubBench bench;
    bench.run(3);
    const std::string session = bench.session("p", "c");
    const Fields good = HubBench::openOf(session, 100);
    const Fields beyond = std::uint64_t{1} << 63U;
    const std::vector<Fields> wrong{with(good, "from", -1),
                                    with(good, "to", -2),
                                    with(with(good, "from", 5), "to", 4),
                                    with(good, "credit", -1),
                                    with(good, "credit", (std::int64_t{1} << 62U) + 1),
                                    with(good, "credit", beyond),
                                    with(good, "from", 1.5),
                                    with(good, "policy", "fast"),
                                    with(good, "values", "all"),
                                    with(good, "values", {0, -1}),
                                    with(good, "values", {std::int64_t{1} << 40U}),
                                    with(good, "run", 7),
                                    with(good, "session", 7)};
    for (const Fields& fields : wrong) {
        bench.ask("s", fields);
        QCOMPARE(bench.reason("s"), std::string("invalid"));
        QCOMPARE(bench.kind("s"), std::string("nothing"));
    }
    bench.ask("s", with(good, "run", "r2"));
    QCOMPARE(bench.reason("s"), std::string("not-found"));
    // Taps are known when the run has begun.
    bench.ask("s", with(good, "values", {1, 3}));
    QCOMPARE(bench.kind("s"), std::string("opened"));
    QCOMPARE(bench.reason("s"), std::string("invalid"));
    QCOMPARE(bench.hub->streams(), std::size_t{0});
}

void HubStreamsTest::refusesSenselessCredit()
{
    const std::vector<Fields> wrong{creditOf(-1),
                                    creditOf((std::int64_t{1} << 62U)),
                                    {{"t", "credit"}, {"stream", 5}},
                                    with(creditOf(1), "next", -4)};
    for (const Fields& fields : wrong) {
        HubBench bench;
        bench.run(3);
        bench.ask("s", HubBench::openOf(bench.session("p", "c"), 1));
        bench.outbox.sent.clear();
        bench.ask("s", fields);
        QCOMPARE(bench.reason("s"), std::string("invalid"));
        QCOMPARE(bench.hub->streams(), std::size_t{0});
        QVERIFY(!bench.lines.empty());
        bench.ask("s", creditOf(1)); // of a stream that is not there any more
        QCOMPARE(bench.kind("s"), std::string("nothing"));
    }
}

void HubStreamsTest::boundsStreams()
{
    HubBench bench(4, 3);
    bench.run(3, false);
    const std::string session = bench.session("p", "c");
    for (int i = 0; i < 3; ++i) {
        bench.ask("s", with(HubBench::openOf(session, 1), "stream", i));
        QCOMPARE(bench.kind("s"), std::string("opened"));
        QCOMPARE(bench.kind("s"), std::string("starved"));
    }
    bench.ask("s", with(HubBench::openOf(session, 1), "stream", 3));
    QCOMPARE(bench.reason("s"), std::string("busy"));
    bench.ask("s", {{"t", "close"}, {"stream", 1}});
    bench.ask("s", with(HubBench::openOf(session, 1), "stream", 3));
    QCOMPARE(bench.kind("s"), std::string("opened"));
}

void HubStreamsTest::boundsWhatTheTransportHolds()
{
    HubBench bench(4, 3);
    auto header = madeup::header();
    header.taps[0].width = 300'000; // 1.2 MB a row
    const auto log = std::make_shared<RunLog>("r1", std::make_shared<HoldLimit>());
    log->begin(header, {});
    for (std::uint32_t i = 0; i < 20; ++i)
        QVERIFY(log->addRows(std::make_shared<const trace::RowBlock>(
                                 madeup::block(header, trace::SampleIndex{0}, i, 1)),
                             {}));
    bench.service.logs["r1"] = log;
    bench.outbox.takesNothing = true;
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    const auto flight = bench.outbox.flying.back().first;
    QVERIFY(flight->bytes() <= streamWindowBytes);
    QVERIFY(flight->bytes() + log->read(2, {})->bytes() > streamWindowBytes);
    // A peer that opens again and again gets no more than there are streams.
    for (int i = 0; i < 10; ++i)
        bench.ask("s", HubBench::openOf(session, plenty));
    std::size_t held = 0;
    for (const auto& [some, bytes] : bench.outbox.flying)
        held += bytes;
    QVERIFY(held <= 3 * streamWindowBytes + (1U << 20U));
    QCOMPARE(bench.outbox.sent.back().frames.size(), std::size_t{1});
    // When the transport has taken them it wakes the hub, which goes on.
    bench.outbox.land();
    bench.ask("s", HubBench::openOf(session, plenty, 4));
    bench.outbox.sent.clear();
    const int before = bench.woken;
    bench.outbox.land();
    QVERIFY(bench.woken > before);
    bench.pump();
    QCOMPARE(numbersOf(bench, "s").front(), std::uint64_t{10});
}

void HubStreamsTest::triesAgainWhenAPipeIsFull()
{
    HubBench bench;
    bench.run(3);
    const std::string session = bench.session("p", "c");
    bench.outbox.full.insert("s");
    bench.ask("s", HubBench::openOf(session, plenty));
    QCOMPARE(bench.kind("s"), std::string("nothing"));
    QVERIFY(bench.hub->nextTime(bench.now) - bench.now <= 20ms);
    bench.outbox.full.clear();
    bench.wait(10ms);
    QCOMPARE(bench.kind("s"), std::string("opened"));
    QCOMPARE(numbersOf(bench, "s"), from(0, 6));
}

void HubStreamsTest::replacesAStreamOfTheSameNumber()
{
    HubBench bench;
    bench.run(3, false);
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.ask("s", HubBench::openOf(session, plenty, 3)); // replayed, with another place
    QCOMPARE(bench.hub->streams(), std::size_t{1});
    QCOMPARE(numbersOf(bench, "s"), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 3, 4}));
}

void HubStreamsTest::keepsThePlaceOfALostLink()
{
    HubBench bench;
    const auto log = bench.run(2, false, 2); // two rows fit
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.outbox.gone.insert("s");
    std::jthread maker([&](const std::stop_token&) { HubBench::grow(*log, 2); });
    for (int i = 0; i < 5000 && !log->waiting(); ++i)
        std::this_thread::sleep_for(1ms);
    QVERIFY(log->waiting());
    bench.wait(std::chrono::seconds(silenceSeconds));
    QCOMPARE(bench.hub->streams(), std::size_t{0});
    bench.wait(59s);
    QVERIFY(log->waiting()); // it may still come back
    // It does, on another link, and asks for what it lacks.
    bench.session("p2", "c");
    bench.ask("s2", HubBench::openOf(session, plenty, 3));
    std::vector<std::uint64_t> numbers = numbersOf(bench, "s2"); // with what the maker has by now
    maker.join();
    bench.pump();
    std::ranges::copy(numbersOf(bench, "s2"), std::back_inserter(numbers));
    QCOMPARE(numbers, from(3, 5));
    // And is gone for good: a minute later the run waits no longer.
    std::jthread again([&](const std::stop_token&) { HubBench::grow(*log, 3); });
    for (int i = 0; i < 5000 && !log->waiting(); ++i)
        std::this_thread::sleep_for(1ms);
    bench.wait(std::chrono::seconds(silenceSeconds));
    bench.wait(60s);
    again.join();
    QVERIFY(!log->waiting());
}

void HubStreamsTest::knowsFromCreditWhatWasReceived()
{
    // With `next` and without it.
    for (const bool says : {true, false}) {
        HubBench bench;
        const auto log = bench.run(2, false, 2);
        bench.ask("s", HubBench::openOf(bench.session("p", "c"), plenty));
        std::jthread maker([&](const std::stop_token&) { HubBench::grow(*log, 2); });
        for (int i = 0; i < 5000 && !log->waiting(); ++i)
            std::this_thread::sleep_for(1ms);
        QVERIFY(log->waiting());
        std::uint64_t bytes = 0;
        for (std::uint64_t i = 0; i < 4; ++i)
            bytes += log->read(i, {})->bytes();
        Fields credit = creditOf(static_cast<std::int64_t>(bytes));
        if (says)
            credit["next"] = 3;
        bench.ask("s", credit);
        maker.join();
        QCOMPARE(log->size(), std::uint64_t{5});
    }
}

void HubStreamsTest::latestNeverHoldsTheMaker()
{
    HubBench bench;
    const auto log = bench.run(2, false, 2);
    bench.ask("s", with(HubBench::openOf(bench.session("p", "c"), 1), "policy", "latest"));
    for (std::uint32_t i = 2; i < 10; ++i)
        HubBench::grow(*log, i);
    QCOMPARE(log->secondsWaited(), 0.0);
}

void HubStreamsTest::sendsGapsAndGoesOnBehindThem()
{
    HubBench bench;
    bench.run(6, true, 2);
    bench.ask("s", HubBench::openOf(bench.session("p", "c"), plenty));
    QCOMPARE(numbersOf(bench, "s"), (std::vector<std::uint64_t>{0, 1, 2, 6, 7, 8}));
}

void HubStreamsTest::answersPings()
{
    HubBench bench;
    bench.run(2, false);
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.outbox.sent.clear();
    for (int i = 0; i < 20; ++i) {
        bench.wait(5s);
        bench.ask("s", {{"t", "ping"}, {"session", session}});
        QCOMPARE(bench.kind("s"), std::string("pong"));
    }
    QCOMPARE(bench.hub->streams(), std::size_t{1});
    bench.wait(std::chrono::seconds(silenceSeconds));
    QCOMPARE(bench.hub->streams(), std::size_t{0});
}

void HubStreamsTest::endsStreamsWhenItStops()
{
    HubBench bench;
    bench.run(2, false);
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.outbox.sent.clear();
    bench.hub->stop(bench.now);
    const auto end = bench.heard("s");
    QCOMPARE(end->type(), type::end);
    QVERIFY(!end->fields["sentence"].get<std::string>().empty());
    bench.hello("q", "d");
    QCOMPARE(bench.reason("q"), std::string("stopping"));
}

void HubStreamsTest::servesEverybodyInTurn()
{
    HubBench bench(4, 4);
    bench.run(1000);
    const std::string session = bench.session("p", "c");
    const std::string other = bench.session("q", "d");
    bench.outbox.full = {"s", "t"};
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.ask("t", HubBench::openOf(other, plenty));
    bench.outbox.full.clear();
    bench.hub->pump(bench.now);
    const auto count = [&](const std::string& peer) {
        return std::count_if(bench.outbox.sent.begin(), bench.outbox.sent.end(),
                             [&](const auto& sending) { return sending.peer == peer; });
    };
    QVERIFY(count("s") > 10);
    QVERIFY(std::abs(count("s") - count("t")) <= 1);
}

void HubStreamsTest::movesToAnotherLink()
{
    HubBench bench;
    bench.run(2, false);
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, plenty));
    bench.ask("s2", HubBench::openOf(session, plenty, 2));
    QCOMPARE(bench.hub->streams(), std::size_t{1});
    QCOMPARE(numbersOf(bench, "s2"), from(2, 4));
}

QTEST_APPLESS_MAIN(HubStreamsTest)
#include "hub_streams_test.moc"
