// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/connection.h"
#include "tests/core/wire/key_folder.h"
#include "tests/core/wire/server_bench.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

using namespace moire;
using namespace moire::wire;
using namespace moire::wire::test;
using namespace std::chrono_literals;

namespace {

ServerOptions plain(Lines& lines)
{
    ServerOptions options;
    options.bind = "tcp://127.0.0.1:0";
    options.program = "moire-test";
    options.log = lines.taker();
    return options;
}

std::unique_ptr<Connection> connectedTo(const std::string& address,
                                        const std::optional<KeyPair>& own = {},
                                        const std::optional<std::string>& server = {})
{
    auto connection = Connection::open({address, "test", own, server, false});
    return connection ? *std::move(connection) : nullptr;
}

/// The messages of a stream to its end, as many as come.
std::vector<Message> all(RunStream& stream)
{
    std::vector<Message> messages;
    while (!stream.ended()) {
        auto message = stream.next(5s);
        if (!message || !*message)
            break;
        messages.push_back(**std::move(message));
    }
    return messages;
}

bool equal(const RunLog& log, const std::vector<Message>& messages)
{
    if (messages.size() != log.size())
        return false;
    for (std::uint64_t i = 0; i < log.size(); ++i) {
        const auto expected = log.read(i, {});
        if (!expected
            || encodeFields(messages[i].fields)
                   != encodeFields(unpack(*expected, clientLimits)->fields)
            || messages[i].frames.size() != expected->frames.size())
            return false;
        for (std::size_t f = 0; f < expected->frames.size(); ++f)
            if (!std::ranges::equal(messages[i].frames[f].bytes, expected->frames[f].bytes))
                return false;
    }
    return true;
}

} // namespace

class ServerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void servesARun_data();
    void servesARun();
    void makesTheRunWaitAndLosesNothing();
    void publishes();
    void choosesItsPorts();
    void refusesSenselessAddresses();
    void listensElsewhereOnlyWithKeysOrWhenTold();
    void servesManyClientsAndRefusesMore();
    void survivesRawPeers();
    void cutsPeersThatNeverEndAMessage();
    void boundsPeersThatNeverRead();
    void tellsStreamsThatItEnds();
    void letsAuthorisedKeysIn();
    void keepsOthersOut();
    void cutsOffARevokedKey();
};

void ServerTest::servesARun_data()
{
    QTest::addColumn<QString>("bind");
    QTest::newRow("tcp") << "tcp://127.0.0.1:0";
    QTest::newRow("ipc") << "ipc://";
}

void ServerTest::servesARun()
{
    QFETCH(QString, bind);
    QTemporaryDir folder;
    Lines lines;
    LogService service;
    auto options = plain(lines);
    options.bind = (bind == "ipc://" ? bind + folder.filePath("s") : bind).toStdString();
    const auto server = Server::start(options, service);
    QVERIFY2(server, server ? "" : server.error().text().c_str());
    const auto log = begun(40, 1U << 24U);
    for (std::uint32_t i = 0; i < 40; ++i)
        QVERIFY(grow(*log, i));
    log->finish({});
    service.put(log);
    const auto connection = connectedTo((*server)->address());
    QVERIFY(connection && connection->waitUntilConnected());
    QVERIFY(connection->models());
    auto stream = connection->stream("r1", {});
    QVERIFY(stream);
    QVERIFY(equal(*log, all(**stream)));
    const auto status = connection->status();
    QVERIFY(status);
    QCOMPARE(status->clients, 1U);
    QVERIFY(!connection->stream("r2", {}) || !(*connection->stream("r2", {}))->next(5s));
}

void ServerTest::makesTheRunWaitAndLosesNothing()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    QVERIFY(server);
    constexpr std::uint32_t rows = 300;
    const auto log = begun(rows, 4096); // some rows only
    log->onGrowth([&] { (*server)->wake(); });
    service.put(log);
    const auto connection = connectedTo((*server)->address());
    auto stream = connection->stream("r1", {});
    QVERIFY(stream);
    QVERIFY((*stream)->next(5s)); // it is open
    std::jthread maker([&](const std::stop_token& stop) {
        for (std::uint32_t i = 0; i < rows && grow(*log, i, stop); ++i) {
        }
        log->finish({});
    });
    const auto messages = all(**stream);
    maker.join();
    QCOMPARE(messages.size() + 1, std::size_t{log->size()});
    for (const Message& message : messages)
        QVERIFY(message.type() != type::gap);
    log->onGrowth({});
}

void ServerTest::publishes()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    const auto log = begun(500, 1U << 24U);
    log->onGrowth([&] { (*server)->wake(); });
    service.put(log);
    (*server)->publish(log);
    const auto connection = connectedTo((*server)->address());
    StreamOptions options;
    options.lossless = false;
    auto stream = connection->stream("r1", options);
    QVERIFY(stream);
    std::jthread maker([&] {
        for (std::uint32_t i = 0; i < 500; ++i) {
            grow(*log, i);
            std::this_thread::sleep_for(1ms);
        }
        log->finish({});
    });
    const auto messages = all(**stream);
    maker.join();
    QVERIFY(equal(*log, messages));
    // Most of it came by itself.
    QVERIFY((*stream)->count().repaired < 400);
    log->onGrowth({});
}

void ServerTest::choosesItsPorts()
{
    Lines lines;
    LogService service;
    const auto first = Server::start(plain(lines), service);
    QVERIFY(first);
    auto options = plain(lines);
    options.bind = (*first)->address();
    const auto second = Server::start(options, service);
    QVERIFY(!second);
    QCOMPARE(second.error().code, Errc::Io);
    QVERIFY(!second.error().hint.empty());
}

void ServerTest::refusesSenselessAddresses()
{
    Lines lines;
    LogService service;
    for (const char* bind :
         {"tcp://", "udp://127.0.0.1:1", "tcp://127.0.0.1:99999", "ipc://", ""}) {
        auto options = plain(lines);
        options.bind = bind;
        QCOMPARE(Server::start(options, service).error().code, Errc::Invalid);
    }
}

void ServerTest::listensElsewhereOnlyWithKeysOrWhenTold()
{
    Lines lines;
    LogService service;
    auto options = plain(lines);
    for (const char* bind : {"tcp://0.0.0.0:0", "tcp://*:0", "tcp://[::]:0"}) {
        options.bind = bind;
        const auto refused = Server::start(options, service);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Errc::Invalid);
    }
    options.bind = "tcp://0.0.0.0:0";
    options.insecure = true;
    QVERIFY(Server::start(options, service));
    QVERIFY(lines.contain("warning"));
    QTemporaryDir folder;
    options.insecure = false;
    options.keys = folder.path().toStdString();
    QCOMPARE(Server::start(options, service).error().code, Errc::Invalid); // no server.key
    QVERIFY(writeKeyPair(*options.keys / "server", *makeKeyPair()));
    QVERIFY(Server::start(options, service));
}

void ServerTest::servesManyClientsAndRefusesMore()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    std::vector<std::unique_ptr<BarePeer>> peers;
    for (int i = 0; i < 64; ++i) {
        peers.push_back(std::make_unique<BarePeer>((*server)->address()));
        const auto welcome = peers.back()->hello("client " + std::to_string(i));
        QVERIFY(welcome);
        QCOMPARE((*welcome)["t"].get<std::string>(), std::string("welcome"));
    }
    BarePeer late((*server)->address());
    QCOMPARE((*late.hello("late"))["reason"].get<std::string>(), std::string("busy"));
    peers[7]->say({{"t", "status"}, {"id", 2}});
    QCOMPARE((*peers[7]->hear())["clients"].get<int>(), 64);
}

void ServerTest::survivesRawPeers()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    const int port = portOf((*server)->address());
    const std::string garbage(1000, '\x9c');
    std::vector<std::unique_ptr<RawPeer>> silent;
    for (int i = 0; i < 30; ++i) {
        RawPeer(port).write(garbage);
        RawPeer(port).write("GET / HTTP/1.1\r\n\r\n");
        RawPeer(port).write(std::string(10, '\xff')); // half a greeting
        silent.push_back(std::make_unique<RawPeer>(port));
    }
    for (const unsigned flags : {2U, 3U}) { // long frame, and one more to come
        RawPeer peer(port);
        QVERIFY(peer.greet());
        QVERIFY(peer.write(std::string(1, static_cast<char>(flags)) + std::string(8, '\x7f')));
        peer.read(200); // READY, until it hangs up
        QVERIFY(peer.read(1).empty());
    }
    {
        RawPeer peer(port);
        QVERIFY(peer.greet());
        // Ten frames that are no headers.
        std::string frames;
        for (int i = 0; i < 40; ++i)
            frames += std::string("\x00\x03xyz", 5);
        QVERIFY(peer.write(frames));
        QVERIFY(soon([&] { return lines.contain("breaks the protocol"); }));
    }
    QVERIFY(soon([&] { return lines.contain("handshake"); }));
    QVERIFY(lines.count() < 60);
    const auto connection = connectedTo((*server)->address());
    QVERIFY(connection->models());
}

void ServerTest::cutsPeersThatNeverEndAMessage()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    BarePeer control((*server)->address());
    const auto welcome = control.hello("c");
    RawPeer peer(portOf((*welcome)["stream"].get<std::string>()));
    QVERIFY(peer.greet());
    // Frames of 1000 bytes, each with more to come.
    const std::string frame =
        std::string("\x03\x00\x00\x00\x00\x00\x00\x03\xe8", 9) + std::string(1000, 'x');
    int written = 0;
    constexpr int far = 4'000'000; // it is cut by the clock: how far that is depends on the machine
    while (written < far && peer.write(frame))
        ++written;
    QVERIFY2(written < far, "4 GB went through");
    QVERIFY(soon([&] { return lines.contain("without ever ending a message"); }));
    control.say({{"t", "status"}, {"id", 2}});
    QVERIFY(control.hear());
}

void ServerTest::boundsPeersThatNeverRead()
{
    Lines lines;
    LogService service;
    const auto server = Server::start(plain(lines), service);
    const auto log = begun(2000, 1U << 26U);
    for (std::uint32_t i = 0; i < 2000; ++i)
        QVERIFY(grow(*log, i));
    service.put(log);
    BarePeer control((*server)->address());
    const auto welcome = control.hello("c");
    BarePeer stuck((*welcome)["stream"].get<std::string>());
    const Fields open{{"t", "open"},         {"session", (*welcome)["session"]},
                      {"stream", 1},         {"run", "r1"},
                      {"from", 0},           {"to", -1},
                      {"values", true},      {"credit", std::int64_t{1} << 61U},
                      {"policy", "lossless"}};
    for (int i = 0; i < 3000; ++i)
        stuck.say(open); // replayed again and again, and nothing is read
    for (int i = 0; i < 3000; ++i)
        control.say({{"t", "status"}, {"id", i + 2}});
    const auto connection = connectedTo((*server)->address());
    QVERIFY(connection->status());
    auto stream = connection->stream("r1", {});
    QVERIFY(stream);
    for (int i = 0; i < 2000; ++i)
        QVERIFY((*stream)->next(5s));
}

void ServerTest::tellsStreamsThatItEnds()
{
    Lines lines;
    LogService service;
    auto server = Server::start(plain(lines), service);
    service.put(begun(3, 1U << 20U));
    BarePeer control((*server)->address());
    const auto welcome = control.hello("c");
    BarePeer stream((*welcome)["stream"].get<std::string>());
    stream.say({{"t", "open"},
                {"session", (*welcome)["session"]},
                {"stream", 1},
                {"run", "r1"},
                {"from", 0},
                {"to", -1},
                {"values", true},
                {"credit", 1'000'000},
                {"policy", "lossless"}});
    QCOMPARE((*stream.hear())["t"].get<std::string>(), std::string("opened"));
    for (int i = 0; i < 2; ++i)
        QCOMPARE((*stream.hear())["t"].get<std::string>(), std::string("message"));
    std::thread ending([&] { *server = nullptr; });
    QCOMPARE((*stream.hear())["t"].get<std::string>(), std::string("end"));
    ending.join();
}

void ServerTest::letsAuthorisedKeysIn()
{
    const KeyFolder keys;
    Lines lines;
    LogService service;
    auto options = plain(lines);
    options.keys = keys.path();
    const auto server = Server::start(options, service);
    QVERIFY(server);
    const auto log = begun(40, 1U << 24U);
    for (std::uint32_t i = 0; i < 40; ++i)
        QVERIFY(grow(*log, i));
    log->finish({});
    service.put(log);
    const auto connection = connectedTo((*server)->address(), keys.mine, keys.daemon.publicKey);
    const auto welcome = connection->waitUntilConnected();
    QVERIFY(welcome);
    QVERIFY(welcome->secure);
    auto stream = connection->stream("r1", {});
    QVERIFY(equal(*log, all(**stream)));
    // A key that is put there later is good at once.
    const auto other = makeKeyPair();
    QVERIFY(writeKeyPair(keys.path() / "clients" / "other", *other));
    QVERIFY(connectedTo((*server)->address(), *other, keys.daemon.publicKey)->waitUntilConnected());
    QVERIFY(!lines.contain(keys.daemon.secretKey) && !lines.contain(keys.mine.publicKey));
}

void ServerTest::keepsOthersOut()
{
    const KeyFolder keys;
    Lines lines;
    LogService service;
    auto options = plain(lines);
    options.keys = keys.path();
    const auto server = Server::start(options, service);
    const std::string address = (*server)->address();
    const auto stranger = connectedTo(address, *makeKeyPair(), keys.daemon.publicKey);
    const auto misled = connectedTo(address, keys.mine, makeKeyPair()->publicKey);
    const auto open = connectedTo(address);
    QVERIFY(soon([&] { return stranger->link() == LinkState::Refused; }));
    QVERIFY(soon([&] { return misled->link() == LinkState::Refused; }));
    QVERIFY(soon([&] { return open->link() == LinkState::Refused; }));
    QVERIFY(lines.contain("it is not authorised"));
    QVERIFY(lines.contain("handshake on the control socket failed"));
    RawPeer(portOf(address)).write(std::string(500, '\x01'));
    const auto good = connectedTo(address, keys.mine, keys.daemon.publicKey);
    const auto status = good->status();
    QVERIFY(status);
    QVERIFY(status->refusals >= 3);
    QCOMPARE(service.requests, 1);
}

void ServerTest::cutsOffARevokedKey()
{
    const KeyFolder keys;
    const auto other = makeKeyPair();
    QVERIFY(writeKeyPair(keys.path() / "clients" / "other", *other));
    Lines lines;
    LogService service;
    auto options = plain(lines);
    options.keys = keys.path();
    const auto server = Server::start(options, service);
    const auto log = begun(0, 1U << 24U);
    log->onGrowth([&] { (*server)->wake(); });
    service.put(log);
    (*server)->publish(log);
    const auto revoked = connectedTo((*server)->address(), keys.mine, keys.daemon.publicKey);
    const auto kept = connectedTo((*server)->address(), *other, keys.daemon.publicKey);
    StreamOptions latest;
    latest.lossless = false;
    const auto lossless = revoked->stream("r1", {});
    const auto published = revoked->stream("r1", latest);
    const auto good = kept->stream("r1", latest);
    for (const auto* stream : {&lossless, &published, &good})
        for (int i = 0; i < 2; ++i) {
            const auto message = (**stream)->next(5s);
            QVERIFY(message && *message);
        }
    std::filesystem::remove(keys.path() / "clients" / "me.pub");
    QVERIFY(soon([&] { return lines.contain("its client is cut off"); }));
    QVERIFY(!revoked->status());
    for (std::uint32_t i = 0; i < 20; ++i)
        grow(*log, i);
    for (const auto* stream : {&lossless, &published})
        for (auto message = (**stream)->next(300ms); message && *message;
             message = (**stream)->next(300ms))
            QVERIFY2(false, "a message came");
    for (int i = 0; i < 20; ++i) {
        const auto message = (*good)->next(8s);
        QVERIFY(message && *message);
    }
    log->onGrowth({});
}

QTEST_GUILESS_MAIN(ServerTest)
#include "server_test.moc"
