// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/wire/hub_bench.h"

#include <QTest>

#include <thread>

using namespace moire;
using namespace moire::wire;
using namespace moire::wire::test;
using namespace std::chrono_literals;

namespace {

constexpr auto onControl = Outbox::Socket::Control;

Fields withId(const char* type, std::int64_t id)
{
    return {{"t", type}, {"id", id}};
}

void garbage(HubBench& bench, const std::string& peer)
{
    bench.hub->control({peer, {}}, {Frame::of(std::vector<std::byte>(5, std::byte{0xff}))},
                       bench.now);
}

} // namespace

/// Sessions, requests and refusals.
class HubTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void welcomes();
    void refusesOtherVersions();
    void refusesBeforeHello();
    void answersEveryRequestOnce();
    void refusesWhatItDoesNotKnow();
    void survivesAFailingService();
    void answersWhatWasForgotten();
    void fillsStatus();
    void boundsRequests();
    void boundsRepliesNobodyReads();
    void makesRoomForClients();
    void keepsTheSessionOfAClientThatComesBack();
    void keepsOneSessionALink();
    void dropsPeersThatOnlyBreakTheProtocol();
    void bindsSessionsToKeys();
    void cutsOffRevokedKeys();
    void saysGoodbye();
    void boundsItsLines();
};

void HubTest::welcomes()
{
    HubBench bench;
    bench.hello("p", "c");
    const auto message = bench.heard("p");
    QVERIFY(message);
    QCOMPARE(message->type(), type::welcome);
    QCOMPARE(message->fields["id"].get<int>(), 1);
    const auto welcome = toWelcome(message->fields);
    QVERIFY(welcome);
    QCOMPARE(welcome->version, 1);
    QCOMPARE(welcome->epoch, std::string("epoch-1"));
    QCOMPARE(welcome->streams, std::uint64_t{4});
    QVERIFY(welcome->session.size() >= 32);
    QCOMPARE(bench.hub->clients(), std::size_t{1});
}

void HubTest::refusesOtherVersions()
{
    HubBench bench;
    bench.tell(
        onControl, "p",
        {{"t", "hello"}, {"id", 3}, {"versions", {2, 3}}, {"program", "x"}, {"client", "c"}});
    const auto refused = bench.heard("p");
    QCOMPARE(refused->fields["reason"].get<std::string>(), std::string("version"));
    QVERIFY(refused->fields["spoken"] == Fields::array({1}));
    QCOMPARE(refused->fields["id"].get<int>(), 3);
    for (const Fields& wrong :
         {Fields{{"t", "hello"}, {"id", 3}, {"program", "x"}, {"client", "c"}},
          Fields{{"t", "hello"}, {"id", 3}, {"versions", {1}}, {"program", 7}, {"client", "c"}},
          Fields{{"t", "hello"}, {"id", 3}, {"versions", {1}}, {"program", "x"}, {"client", ""}},
          Fields{{"t", "hello"},
                 {"id", 3},
                 {"versions", {1}},
                 {"program", "x"},
                 {"client", std::string(300, 'c')}}}) {
        bench.tell(onControl, "p", wrong);
        QCOMPARE(bench.reason("p"), std::string("invalid"));
    }
    QCOMPARE(bench.hub->clients(), std::size_t{0});
}

void HubTest::refusesBeforeHello()
{
    HubBench bench;
    bench.tell(onControl, "p", withId("models", 9));
    const auto refused = bench.heard("p");
    QCOMPARE(refused->fields["reason"].get<std::string>(), std::string("no-hello"));
    QCOMPARE(refused->fields["id"].get<int>(), 9);
    QVERIFY(bench.service.requests.empty());
    bench.ask("s", HubBench::openOf("no such session", 10));
    const auto stream = bench.heard("s");
    QCOMPARE(stream->fields["reason"].get<std::string>(), std::string("no-hello"));
    QCOMPARE(stream->fields["stream"].get<int>(), 5);
    bench.ask("s", {{"t", "ping"}, {"session", "none"}});
    QCOMPARE(bench.reason("s"), std::string("no-hello"));
    QCOMPARE(bench.hub->refusals(), std::uint64_t{3});
}

void HubTest::answersEveryRequestOnce()
{
    HubBench bench;
    bench.session("p", "c");
    bench.service.answers = false;
    bench.tell(onControl, "p", withId("models", 2));
    bench.tell(onControl, "p", withId("runs", 3));
    QCOMPARE(bench.kind("p"), std::string("nothing"));
    // The answers come from another thread, in another order, and one of them twice.
    std::thread([&] {
        bench.service.waiting[1]({Fields{{"t", "runs"}, {"runs", Fields::array()}}, {}});
        bench.service.waiting[0]({Fields{{"t", "models"}}, {}});
        bench.service.waiting[0]({Fields{{"t", "models"}}, {}});
    }).join();
    QVERIFY(bench.woken >= 2);
    bench.pump();
    QCOMPARE(bench.heard("p")->fields["id"].get<int>(), 3);
    QCOMPARE(bench.heard("p")->fields["id"].get<int>(), 2);
    QCOMPARE(bench.kind("p"), std::string("nothing"));
}

void HubTest::refusesWhatItDoesNotKnow()
{
    HubBench bench;
    bench.session("p", "c");
    bench.tell(onControl, "p", withId("dance", 2));
    QCOMPARE(bench.reason("p"), std::string("unsupported"));
    bench.tell(onControl, "p", Fields{{"t", "models"}}); // no id
    const auto noId = bench.heard("p");
    QCOMPARE(noId->fields["reason"].get<std::string>(), std::string("invalid"));
    QCOMPARE(noId->fields["id"].get<int>(), -1);
    bench.tell(onControl, "p", Fields{{"id", 7}}); // no type
    QCOMPARE(bench.reason("p"), std::string("invalid"));
    bench.tell(onControl, "p", withId("models", -3));
    QCOMPARE(bench.reason("p"), std::string("invalid"));
    bench.ask("s", {{"t", "models"}});
    QCOMPARE(bench.reason("s"), std::string("invalid"));
    // Frames have nothing to do on the stream socket.
    const Frame header = Frame::of(encodeFields({{"t", "ping"}, {"session", "x"}}));
    bench.hub->stream({"s", {}}, {header, header}, bench.now);
    QCOMPARE(bench.reason("s"), std::string("invalid"));
    QVERIFY(bench.service.requests.empty());
}

void HubTest::survivesAFailingService()
{
    HubBench bench;
    bench.session("p", "c");
    bench.service.throws = true;
    bench.tell(onControl, "p", withId("models", 2));
    QCOMPARE(bench.reason("p"), std::string("internal"));
    QVERIFY(bench.lines.back().find("planted") != std::string::npos);
    bench.service.throws = false;
    bench.tell(onControl, "p", withId("models", 3));
    QCOMPARE(bench.kind("p"), std::string("models"));
}

void HubTest::answersWhatWasForgotten()
{
    HubBench bench;
    bench.session("p", "c");
    bench.service.answers = false;
    bench.service.forgets = true;
    bench.tell(onControl, "p", withId("models", 2));
    QCOMPARE(bench.reason("p"), std::string("internal"));
}

void HubTest::fillsStatus()
{
    HubBench bench;
    bench.session("p", "c");
    bench.tell(onControl, "q", withId("models", 1)); // one refusal
    bench.service.reply = {toFields(DaemonStatus{}), {}};
    bench.service.reply.fields["t"] = "status";
    bench.tell(onControl, "p", withId("status", 2));
    const auto status = toDaemonStatus(bench.heard("p")->fields);
    QVERIFY(status);
    QCOMPARE(status->clients, 1U);
    QCOMPARE(status->refusals, std::uint64_t{1});
    QCOMPARE(status->epoch, std::string("epoch-1"));
    QCOMPARE(status->program, std::string("moire-test"));
}

void HubTest::boundsRequests()
{
    HubBench bench;
    bench.session("p", "c");
    bench.service.answers = false;
    for (int i = 0; i < 64; ++i)
        bench.tell(onControl, "p", withId("models", i));
    QCOMPARE(bench.kind("p"), std::string("nothing"));
    bench.tell(onControl, "p", withId("models", 64));
    QCOMPARE(bench.reason("p"), std::string("busy"));
    QCOMPARE(bench.service.requests.size(), std::size_t{64});
    bench.service.waiting.front()({Fields{{"t", "models"}}, {}});
    bench.pump();
    bench.tell(onControl, "p", withId("models", 65));
    QCOMPARE(bench.service.requests.size(), std::size_t{65});
}

void HubTest::boundsRepliesNobodyReads()
{
    HubBench bench;
    bench.session("p", "c");
    bench.outbox.takesNothing = true;
    bench.service.reply.frames = {Frame::of(std::vector<std::byte>(3U << 20U))};
    for (int i = 0; i < 8; ++i)
        bench.tell(onControl, "p", withId("models", i));
    QCOMPARE(bench.service.requests.size(), std::size_t{3}); // 3 × 3 MiB is beyond 8
    bench.outbox.land();
    bench.tell(onControl, "p", withId("models", 9));
    QCOMPARE(bench.service.requests.size(), std::size_t{4});
    bench.outbox.full.insert("p");
    bench.tell(onControl, "p", withId("models", 10)); // dropped, with a line
    QVERIFY(bench.lines.back().find("dropped") != std::string::npos);
}

void HubTest::makesRoomForClients()
{
    HubBench bench(2);
    QVERIFY(!bench.session("p", "a").empty());
    bench.wait(1s);
    QVERIFY(!bench.session("q", "b").empty());
    bench.hello("r", "c");
    QCOMPARE(bench.reason("r"), std::string("busy"));
    bench.wait(std::chrono::seconds(sessionSeconds) - 1s);
    QVERIFY(!bench.session("r", "c").empty()); // in the place of the first
    QCOMPARE(bench.hub->clients(), std::size_t{2});
    bench.tell(onControl, "p", withId("models", 2));
    QCOMPARE(bench.reason("p"), std::string("no-hello"));
    bench.tell(onControl, "q", withId("models", 2));
    QCOMPARE(bench.kind("q"), std::string("models"));
}

void HubTest::keepsTheSessionOfAClientThatComesBack()
{
    HubBench bench(2);
    const std::string session = bench.session("p", "a");
    bench.service.answers = false;
    bench.tell(onControl, "p", withId("models", 7));
    QCOMPARE(bench.session("p2", "a"), session);
    QCOMPARE(bench.hub->clients(), std::size_t{1});
    // What was asked before is answered where the client is now.
    bench.service.waiting.front()({Fields{{"t", "models"}}, {}});
    bench.pump();
    QCOMPARE(bench.heard("p2")->fields["id"].get<int>(), 7);
    bench.tell(onControl, "p", withId("models", 8));
    QCOMPARE(bench.reason("p"), std::string("no-hello"));
}

void HubTest::keepsOneSessionALink()
{
    HubBench bench(2);
    for (int i = 0; i < 20; ++i)
        QVERIFY(!bench.session("p", "client " + std::to_string(i)).empty());
    QCOMPARE(bench.hub->clients(), std::size_t{1});
}

void HubTest::dropsPeersThatOnlyBreakTheProtocol()
{
    HubBench bench;
    bench.session("p", "c");
    for (unsigned i = 0; i < maxFaults + 10; ++i)
        garbage(bench, "p");
    for (unsigned i = 0; i < maxFaults; ++i) {
        const auto refused = bench.heard("p");
        QCOMPARE(refused->fields["reason"].get<std::string>(), std::string("invalid"));
        QCOMPARE(refused->fields["id"].get<int>(), -1);
    }
    QCOMPARE(bench.kind("p"), std::string("nothing"));
    bench.tell(onControl, "p", withId("models", 2));
    QCOMPARE(bench.kind("p"), std::string("nothing"));
    // Two lines: the first fault, and that it is not answered any more.
    QCOMPARE(std::count_if(bench.lines.begin(), bench.lines.end(),
                           [](const auto& line) { return line.find("breaks") != line.npos; }),
             2);
    // Others are served, and hello forgives.
    QVERIFY(!bench.session("q", "d").empty());
    QVERIFY(!bench.session("p", "c").empty());
    bench.tell(onControl, "p", withId("models", 3));
    QCOMPARE(bench.kind("p"), std::string("models"));
    // Thousands of faulty peers are not remembered for ever, and none gets an answer too many.
    for (int i = 0; i < 10'000; ++i)
        garbage(bench, "peer " + std::to_string(i));
}

void HubTest::bindsSessionsToKeys()
{
    HubBench bench;
    bench.run(1);
    const std::string session = bench.session("p", "c", "KEY-A");
    // The same name with another key is another client; another key cannot use the session.
    QVERIFY(bench.session("q", "c", "KEY-B") != session);
    bench.ask("s", HubBench::openOf(session, 1000), "KEY-B");
    QCOMPARE(bench.reason("s"), std::string("no-hello"));
    bench.tell(onControl, "p", withId("models", 2), "KEY-B");
    QCOMPARE(bench.reason("p"), std::string("no-hello"));
    bench.ask("s", HubBench::openOf(session, 1000), "KEY-A");
    QCOMPARE(bench.kind("s"), std::string("opened"));
}

void HubTest::cutsOffRevokedKeys()
{
    HubBench bench;
    bench.run(3, false);
    const std::string a = bench.session("p", "c", "KEY-A");
    const std::string b = bench.session("q", "d", "KEY-B");
    bench.ask("s", HubBench::openOf(a, 1'000'000), "KEY-A");
    bench.ask("t", HubBench::openOf(b, 1'000'000), "KEY-B");
    bench.outbox.sent.clear();
    bench.hub->keepKeys({"KEY-B"}, bench.now);
    QCOMPARE(bench.reason("s"), std::string("not-authorised"));
    QCOMPARE(bench.hub->clients(), std::size_t{1});
    QCOMPARE(bench.hub->streams(), std::size_t{1});
    for (const std::string& line : bench.lines)
        QVERIFY(line.find("KEY") == std::string::npos);
    HubBench::grow(*bench.service.logs["r1"], 3);
    bench.pump();
    QCOMPARE(bench.kind("s"), std::string("nothing"));
    QCOMPARE(bench.kind("t"), std::string("message"));
}

void HubTest::saysGoodbye()
{
    HubBench bench;
    const auto log = bench.run(3);
    const std::string session = bench.session("p", "c");
    bench.ask("s", HubBench::openOf(session, 10));
    bench.tell(onControl, "p", withId("goodbye", 9));
    QCOMPARE(bench.kind("p"), std::string("farewell"));
    QCOMPARE(bench.hub->clients(), std::size_t{0});
    QCOMPARE(bench.hub->streams(), std::size_t{0});
}

void HubTest::boundsItsLines()
{
    HubBench bench;
    for (int i = 0; i < 1000; ++i)
        garbage(bench, "peer " + std::to_string(i));
    QCOMPARE(bench.lines.size(), std::size_t{20});
    bench.wait(11s);
    QCOMPARE(bench.lines.size(), std::size_t{21});
    QVERIFY(bench.lines.back().find("980 lines") != std::string::npos);
}

QTEST_APPLESS_MAIN(HubTest)
#include "hub_test.moc"
