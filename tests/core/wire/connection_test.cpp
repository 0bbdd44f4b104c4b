// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/connection.h"
#include "core/wire/protocol.h"
#include "tests/core/wire/fake_daemon.h"
#include "tests/core/wire/made_up_messages.h"

#include <QtTest/QtTest>

#include <zmq.hpp>

using namespace moire;
using namespace moire::wire;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds patience{20}; // of a test, on a busy machine

KeyPair newKeys()
{
    constexpr std::size_t length = 41; // Z85 and its end
    std::array<char, length> own{};
    std::array<char, length> secret{};
    zmq_curve_keypair(own.data(), secret.data());
    return {own.data(), secret.data()};
}

ConnectionOptions optionsFor(const FakeDaemon& daemon)
{
    ConnectionOptions options;
    options.address = daemon.address();
    options.program = "test";
    return options;
}

std::unique_ptr<Connection> connected(const ConnectionOptions& options)
{
    auto connection = Connection::open(options);
    if (!connection)
        qFatal("%s", connection.error().text().c_str());
    (*connection)->setPatience(patience);
    return *std::move(connection);
}

template <class Condition>
bool comesTrue(Condition condition)
{
    const auto until = Clock::now() + patience;
    while (!condition()) {
        if (Clock::now() > until)
            return false;
        std::this_thread::sleep_for(milliseconds(2));
    }
    return true;
}

/// Takes messages until there are `count` or the stream ends; their numbers.
std::vector<std::uint64_t> take(RunStream& stream, std::size_t count = SIZE_MAX)
{
    std::vector<std::uint64_t> taken;
    const auto until = Clock::now() + patience;
    while (taken.size() < count && !stream.ended() && Clock::now() < until) {
        const auto message = stream.next(milliseconds(50));
        if (!message)
            break;
        if (*message)
            taken.push_back(placeOf(**message)->sequence);
    }
    return taken;
}

bool isWhole(const std::vector<std::uint64_t>& taken, std::size_t count, std::uint64_t from = 0)
{
    if (taken.size() != count)
        return false;
    for (std::size_t i = 0; i < count; ++i)
        if (taken[i] != from + i)
            return false;
    return true;
}

} // namespace

class ConnectionTest : public QObject
{
    Q_OBJECT

private slots:
    void optionsThatMakeNoSense_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<int>("keys"); ///< 1 own, 2 the daemon's
        QTest::addColumn<QString>("says");
        QTest::newRow("no address") << "tcp//x" << 0 << "no address";
        QTest::newRow("no port") << "tcp://127.0.0.1:*" << 0 << "connect to";
        QTest::newRow("another machine") << "tcp://gpu:7431" << 0 << "without keys";
        QTest::newRow("own key only") << "tcp://gpu:7431" << 1 << "daemon's public key";
        QTest::newRow("daemon's key only") << "tcp://127.0.0.1:7431" << 2 << "one's own";
    }
    void optionsThatMakeNoSense()
    {
        QFETCH(QString, address);
        QFETCH(int, keys);
        QFETCH(QString, says);
        ConnectionOptions options;
        options.address = address.toStdString();
        if (keys == 1)
            options.own = newKeys();
        if (keys == 2)
            options.serverKey = newKeys().publicKey;
        const auto connection = Connection::open(options);
        QVERIFY(!connection);
        QCOMPARE(connection.error().code, Errc::Invalid);
        QVERIFY2(connection.error().text().find(says.toStdString()) != std::string::npos,
                 connection.error().text().c_str());
        QVERIFY(!connection.error().hint.empty());
    }

    void nobodyAnswers()
    {
        const FakeDaemon daemon({}); // ports that nobody listens at
        const auto connection = connected(optionsFor(daemon));
        connection->setPatience(milliseconds(300));
        const auto status = connection->status();
        QVERIFY(!status);
        QCOMPARE(status.error().code, Errc::Io);
        QCOMPARE(status.error().sentence, std::string("nobody answers there"));
        QCOMPARE(connection->link(), LinkState::Connecting);
        std::stop_source stop;
        connection->setStop(stop.get_token());
        connection->setPatience(patience);
        std::jthread later([&stop] {
            std::this_thread::sleep_for(milliseconds(50));
            stop.request_stop();
        });
        QCOMPARE(connection->status().error().code, Errc::Cancelled);
    }

    void requestsAndTheirErrors()
    {
        FakeDaemon daemon({});
        daemon.answers = [](const Message& request) -> Message {
            if (request.type() == type::models)
                return {
                    Fields{{"t", "models"},
                           {"models",
                            Fields::array({toFields(ModelEntry{"a/b", "gguf", "llama", 7, ""})})}},
                    {}};
            if (request.type() == type::runs)
                return {Fields{{"t", "runs"}, {"runs", 5}}, {}};
            if (request.type() == type::status)
                return {Fields{{"t", "models"}}, {}};
            return refusal(reason::notFound, {Errc::NotFound, "no such run", {}, "See runs"});
        };
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto welcome = connection->waitUntilConnected();
        QVERIFY(welcome);
        QCOMPARE(welcome->epoch, std::string("first"));
        const auto models = connection->models();
        QVERIFY(models);
        QCOMPARE(models->at(0).name, std::string("a/b"));
        QCOMPARE(connection->runs().error().code, Errc::Damaged);
        QCOMPARE(connection->status().error().code, Errc::Damaged);
        QCOMPARE(connection->cancel("x").error().sentence, std::string("no such run"));
        QCOMPARE(connection->cancel("x").error().code, Errc::NotFound);
    }

    void aRequestWhoseReplyIsLostIsAskedAgain()
    {
        FakeDaemon daemon({});
        std::atomic<int> runs{0};
        std::mutex mutex;
        std::set<std::string> tickets;
        daemon.answers = [&](const Message& request) -> Message {
            ++runs;
            const std::lock_guard lock(mutex);
            tickets.insert(request.fields["ticket"].get<std::string>());
            return {toFields(Queued{"r1", 0, 1, 1}), {}};
        };
        daemon.swallows = 1;
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        std::jthread cutter([&] {
            (void)comesTrue([&] { return daemon.swallows == 0; });
            daemon.cut();
        });
        const auto queued = connection->run({"model", {}, {}, {}});
        QVERIFY2(queued, queued ? "" : queued.error().text().c_str());
        QCOMPARE(queued->run, std::string("r1"));
        QCOMPARE(tickets.size(), std::size_t{1});
    }

    void aStreamComesWhole()
    {
        const auto messages = madeup::messages(50, 4);
        FakeDaemon daemon(messages);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {});
        QVERIFY(stream);
        QVERIFY(isWhole(take(**stream), messages.size()));
        QVERIFY((*stream)->ended());
        QCOMPARE((*stream)->count().messages, std::uint64_t{messages.size()});
        const auto part = connection->stream("r1", {messages.size() - 5, true, {}, 1U << 20U});
        QVERIFY(isWhole(take(**part), 5, messages.size() - 5));
        const auto other = connection->stream("r9", {});
        QVERIFY(comesTrue([&] { return (*other)->ended(); }));
        QCOMPARE((*other)->next(milliseconds(0)).error().code, Errc::NotFound);
    }

    void cutLinksLoseNothing()
    {
        const auto messages = madeup::messages(200, 4);
        FakeDaemon daemon(messages);
        daemon.grow(0);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {0, true, {}, 16U << 10U});
        std::vector<std::uint64_t> taken;
        for (std::size_t part = 1; part < 8; ++part) {
            daemon.grow(messages.size() * part / 8);
            const auto some = take(**stream, messages.size() * part / 8 - taken.size() - 3);
            taken.insert(taken.end(), some.begin(), some.end());
            if (part % 2 == 0)
                daemon.cut();
            else
                daemon.cutStream();
            QVERIFY(comesTrue([&] { return (*stream)->count().resumed >= part; }));
        }
        daemon.grow(messages.size());
        const auto rest = take(**stream);
        taken.insert(taken.end(), rest.begin(), rest.end());
        QVERIFY(isWhole(taken, messages.size()));
        QCOMPARE(connection->link(), LinkState::Connected);
    }

    void aRestartedDaemonGoesOn()
    {
        const auto messages = madeup::messages(20);
        FakeDaemon daemon(messages);
        daemon.grow(7);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {});
        QVERIFY(isWhole(take(**stream, 7), 7));
        daemon.stop();
        QVERIFY(comesTrue([&] { return connection->link() == LinkState::Lost; }));
        QVERIFY(!connection->trouble().sentence.empty());
        QVERIFY(!*(*stream)->next(milliseconds(100)));
        daemon.grow(messages.size());
        daemon.start("second");
        QVERIFY(isWhole(take(**stream), messages.size() - 7, 7));
        QCOMPARE(connection->welcome()->epoch, std::string("second"));
    }

    void aDaemonThatEndsInTheMiddleIsAskedAgain()
    {
        const auto messages = madeup::messages(20);
        FakeDaemon daemon(messages);
        daemon.endAt(9);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {});
        QVERIFY(isWhole(take(**stream), messages.size()));
        QCOMPARE(daemon.opens.load(), 2);
    }

    void aForgottenSessionIsGreetedAgain()
    {
        const auto messages = madeup::messages(3);
        FakeDaemon daemon(messages);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        QVERIFY(connection->waitUntilConnected());
        daemon.forgetSessions();
        const auto stream = connection->stream("r1", {});
        QVERIFY(isWhole(take(**stream), messages.size()));
        QCOMPARE(daemon.hellos.load(), 2);
    }

    void aSlowTakerHoldsTheDaemonToTheWindow()
    {
        constexpr std::size_t window = 32U << 10U;
        const auto messages = madeup::messages(300, 4);
        FakeDaemon daemon(messages);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {0, true, {}, window});
        QVERIFY(comesTrue([&] { return (*stream)->count().waiting > window / 2; }));
        std::this_thread::sleep_for(milliseconds(100));
        const auto sent = daemon.sent.load();
        QVERIFY((*stream)->count().waiting <= window);
        QVERIFY(sent < messages.size());
        QVERIFY(isWhole(take(**stream), messages.size()));
        QVERIFY(daemon.mostCredit <= window);
    }

    void whatIsPublishedAndWhatIsRepaired()
    {
        const auto messages = madeup::messages(60);
        FakeDaemon daemon(messages);
        daemon.grow(10);
        daemon.lose(20, 30);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {0, false, {}, 1U << 20U});
        auto taken = take(**stream, 10); // published before it subscribed
        QVERIFY((*stream)->count().repaired >= 10);
        for (std::size_t count = 11; count <= messages.size(); ++count) {
            daemon.grow(count);
            std::this_thread::sleep_for(milliseconds(2));
        }
        const auto rest = take(**stream);
        taken.insert(taken.end(), rest.begin(), rest.end());
        QVERIFY(isWhole(taken, messages.size()));
        QVERIFY((*stream)->count().repaired >= 20);
        QCOMPARE((*stream)->count().gaps, 0U);
    }

    void keys()
    {
        FakeDaemon::Options options;
        options.keys = newKeys();
        const auto messages = madeup::messages(5);
        FakeDaemon daemon(messages, options);
        daemon.start("first");
        ConnectionOptions mine = optionsFor(daemon);
        mine.own = newKeys();
        mine.serverKey = options.keys->publicKey;
        const auto connection = connected(mine);
        const auto stream = connection->stream("r1", {});
        QVERIFY(isWhole(take(**stream), messages.size()));

        const auto without = connected(optionsFor(daemon));
        const auto noKey = without->waitUntilConnected();
        QVERIFY(!noKey);
        QCOMPARE(without->link(), LinkState::Refused);
        QVERIFY2(noKey.error().sentence == "the daemon wants a key", noKey.error().text().c_str());

        mine.serverKey = newKeys().publicKey;
        const auto pinned = connected(mine);
        const auto wrongKey = pinned->waitUntilConnected();
        QVERIFY(!wrongKey);
        QCOMPARE(pinned->link(), LinkState::Refused);
        QVERIFY2(wrongKey.error().sentence.find("is probably not the one that was given")
                     != std::string::npos,
                 wrongKey.error().text().c_str());
    }

    void aKeyThatIsNotAuthorised()
    {
        FakeDaemon::Options options;
        options.keys = newKeys();
        options.acceptsKeys = false;
        FakeDaemon daemon({}, options);
        daemon.start("first");
        ConnectionOptions mine = optionsFor(daemon);
        mine.own = newKeys();
        mine.serverKey = options.keys->publicKey;
        const auto connection = connected(mine);
        const auto status = connection->status();
        QVERIFY(!status);
        QVERIFY2(status.error().sentence == "the daemon does not accept this key",
                 status.error().text().c_str());
        QCOMPARE(connection->link(), LinkState::Refused);
    }

    void keysWhereNoneAreWanted()
    {
        FakeDaemon daemon({});
        daemon.start("first");
        ConnectionOptions mine = optionsFor(daemon);
        mine.own = newKeys();
        mine.serverKey = newKeys().publicKey;
        const auto connection = connected(mine);
        QCOMPARE(connection->waitUntilConnected().error().sentence,
                 std::string("the daemon speaks without keys, and keys were given"));
    }

    void aRefusedHelloIsToldAndTriedAgain()
    {
        FakeDaemon::Options options;
        options.refuses = reason::busy;
        FakeDaemon daemon({}, options);
        daemon.start("first");
        const auto connection = connected(optionsFor(daemon));
        const auto status = connection->status();
        QVERIFY(!status);
        QCOMPARE(status.error().sentence, std::string("no room"));
        QVERIFY(comesTrue([&] { return daemon.hellos >= 2; }));
    }

    void whatIsNoDaemon()
    {
        zmq::context_t context;
        zmq::socket_t stranger(context, zmq::socket_type::stream); // hangs on, and says nothing
        stranger.bind("tcp://127.0.0.1:*");
        ConnectionOptions options;
        options.address = stranger.get(zmq::sockopt::last_endpoint);
        options.program = "test";
        const auto connection = connected(options);
        std::jthread peer([&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::vector<zmq::pollitem_t> items{{stranger.handle(), 0, ZMQ_POLLIN, 0}};
                zmq::poll(items, milliseconds(10));
                zmq::message_t id;
                zmq::message_t said;
                if (!stranger.recv(id, zmq::recv_flags::dontwait)
                    || !stranger.recv(said, zmq::recv_flags::dontwait))
                    continue;
                constexpr std::string_view banner = "SSH-2.0-OpenSSH_9.2\r\n";
                try {
                    const auto flags = zmq::send_flags::dontwait;
                    if (stranger.send(id, flags | zmq::send_flags::sndmore))
                        stranger.send(zmq::buffer(banner), flags);
                } catch (const zmq::error_t&) { // it has gone
                }
            }
        });
        const auto status = connection->status();
        QVERIFY(!status);
        QCOMPARE(connection->link(), LinkState::Refused);
        QVERIFY2(status.error().hint.find("Check the address") != std::string::npos,
                 status.error().text().c_str());
    }

    void closing()
    {
        const auto messages = madeup::messages(5);
        FakeDaemon daemon(messages);
        daemon.grow(3);
        daemon.start("first");
        auto connection = connected(optionsFor(daemon));
        const auto stream = connection->stream("r1", {});
        QVERIFY(isWhole(take(**stream, 3), 3));
        const auto left = connection->stream("r1", {});
        {
            const auto gone = connection->stream("r1", {}); // and nobody takes it
        }
        connection.reset();
        QVERIFY(comesTrue([&] { return daemon.goodbyes == 1; }));
        QVERIFY((*stream)->ended());
        QCOMPARE((*stream)->next(milliseconds(0)).error().code, Errc::Cancelled);
    }
};

QTEST_APPLESS_MAIN(ConnectionTest)
#include "connection_test.moc"
