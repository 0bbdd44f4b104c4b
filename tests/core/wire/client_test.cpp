// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/address.h"
#include "core/wire/control_session.h"
#include "core/wire/protocol.h"

#include <QtTest/QtTest>

using namespace moire;
using namespace moire::wire;

namespace {

using AfterLoss = ControlSession::AfterLoss;
using Heard = ControlSession::Heard;

Message welcomeTo(const Message& hello, int version = protocolVersion)
{
    Welcome welcome;
    welcome.version = version;
    welcome.session = "s1";
    welcome.stream = "tcp://0.0.0.0:2";
    welcome.data = "tcp://0.0.0.0:3";
    Message message{toFields(welcome), {}};
    message.fields["id"] = hello.fields["id"];
    return message;
}

Message answerTo(const Message& request, std::string_view type)
{
    return {Fields{{"t", type}, {"id", request.fields["id"]}}, {}};
}

/// Asks something and keeps what comes of it.
class Asked
{
public:
    Asked(ControlSession& session, AfterLoss afterLoss)
        : id(session.ask({Fields{{"t", type::models}}, {}}, afterLoss,
                         [this](Result<Message> reply) { replies.push_back(std::move(reply)); }))
    {}
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    std::vector<Result<Message>> replies;
    std::int64_t id;
};

} // namespace

class ClientTest : public QObject
{
    Q_OBJECT

private slots:
    void addresses_data()
    {
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("read"); ///< empty: refused
        QTest::addColumn<bool>("local");
        QTest::newRow("whole") << "tcp://10.0.0.7:80"
                               << "tcp://10.0.0.7:80" << false;
        QTest::newRow("host") << "gpu-box.lan"
                              << "tcp://gpu-box.lan:7431" << false;
        QTest::newRow("host and port") << "localhost:9"
                                       << "tcp://localhost:9" << true;
        QTest::newRow("loopback") << "tcp://127.8.0.1:7431"
                                  << "tcp://127.8.0.1:7431" << true;
        QTest::newRow("IPv6") << "[::1]:5"
                              << "tcp://[::1]:5" << true;
        QTest::newRow("IPv6 without port") << "tcp://[fe80::1]"
                                           << "tcp://[fe80::1]:7431" << false;
        QTest::newRow("ipc") << "ipc:///tmp/x"
                             << "ipc:///tmp/x" << true;
        QTest::newRow("the system's port") << "tcp://127.0.0.1:0"
                                           << "tcp://127.0.0.1:*" << true;
        QTest::newRow("empty") << ""
                               << "" << false;
        QTest::newRow("no host") << "tcp://:80"
                                 << "" << false;
        QTest::newRow("no port") << "tcp://a:"
                                 << "" << false;
        QTest::newRow("port too large") << "a:65536"
                                        << "" << false;
        QTest::newRow("port negative") << "a:-1"
                                       << "" << false;
        QTest::newRow("port with more") << "a:80x"
                                        << "" << false;
        QTest::newRow("another scheme") << "http://a:80"
                                        << "" << false;
        QTest::newRow("blank") << "a b:80"
                               << "" << false;
        QTest::newRow("two lines") << "a\nb:80"
                                   << "" << false;
        QTest::newRow("open bracket") << "[::1:5"
                                      << "" << false;
        QTest::newRow("ipc without path") << "ipc://"
                                          << "" << false;
        QTest::newRow("ipc too long") << "ipc:///" + QString(200, 'x') << "" << false;
    }
    void addresses()
    {
        QFETCH(QString, given);
        QFETCH(QString, read);
        QFETCH(bool, local);
        const auto address = readAddress(given.toStdString());
        QCOMPARE(static_cast<bool>(address), !read.isEmpty());
        if (!address)
            return;
        QCOMPARE(address->text(), read.toStdString());
        QCOMPARE(address->isLocal(), local);
    }

    void otherSocketsAreBesideControl()
    {
        const auto control = readAddress("tcp://gpu:7431");
        QVERIFY(control);
        QCOMPARE(besideControl(*control, "tcp://0.0.0.0:7432")->text(),
                 std::string("tcp://gpu:7432"));
        QCOMPARE(besideControl(*control, "tcp://evil:7432")->text(), std::string("tcp://gpu:7432"));
        QVERIFY(!besideControl(*control, "ipc:///etc/x"));
        QVERIFY(!besideControl(*control, "tcp://0.0.0.0:0"));
        QVERIFY(!besideControl(*control, ""));
    }

    void helloComesFirst()
    {
        ControlSession session("moire test", "client-1");
        Asked asked(session, AfterLoss::AskAgain);
        QVERIFY(!session.nextToSend());
        session.linkReady();
        const auto hello = session.nextToSend();
        QVERIFY(hello && hello->type() == type::hello);
        QCOMPARE(hello->fields["client"].get<std::string>(), std::string("client-1"));
        QCOMPARE(hello->fields["versions"].get<std::vector<int>>(),
                 std::vector<int>{protocolVersion});
        QVERIFY(!session.nextToSend());
        QCOMPARE(session.received(welcomeTo(*hello)), Heard::Welcome);
        QCOMPARE(session.welcome()->session, std::string("s1"));
        const auto request = session.nextToSend();
        QVERIFY(request && request->type() == type::models);
        QVERIFY(!session.nextToSend());
        QCOMPARE(session.received(answerTo(*request, type::models)), Heard::Nothing);
        QCOMPARE(asked.replies.size(), std::size_t{1});
        QVERIFY(asked.replies[0]);
        (void)session.received(answerTo(*request, type::models)); // twice: passed over
        QCOMPARE(asked.replies.size(), std::size_t{1});
    }

    void helloIsRefused()
    {
        ControlSession session("moire test", "c");
        session.linkReady();
        auto hello = session.nextToSend();
        Message no = refusal(reason::busy, {Errc::Io, "too many clients", {}, "Come later"});
        no.fields["id"] = hello->fields["id"];
        QCOMPARE(session.received(no), Heard::Refused);
        QCOMPARE(session.refusal().sentence, std::string("too many clients"));
        session.linkReady();
        hello = session.nextToSend();
        QCOMPARE(session.received(welcomeTo(*hello, protocolVersion + 1)), Heard::Refused);
        QCOMPARE(session.refusal().code, Errc::Unsupported);
    }

    void afterALostLinkItIsAskedAgainWhereThatIsHarmless()
    {
        ControlSession session("moire test", "c");
        Asked again(session, AfterLoss::AskAgain);
        Asked once(session, AfterLoss::Fail);
        session.linkReady();
        (void)session.received(welcomeTo(*session.nextToSend()));
        QVERIFY(session.nextToSend());
        QVERIFY(session.nextToSend());
        session.linkLost();
        QCOMPARE(once.replies.size(), std::size_t{1});
        QVERIFY(!once.replies[0]);
        QVERIFY(again.replies.empty());
        session.linkReady();
        (void)session.received(welcomeTo(*session.nextToSend()));
        const auto request = session.nextToSend();
        QVERIFY(request);
        QCOMPARE(request->fields["id"].get<std::int64_t>(), again.id);
        (void)session.received(answerTo(*request, type::models));
        QVERIFY(again.replies.at(0));
    }

    void aForgottenSessionIsGreetedAgain()
    {
        ControlSession session("moire test", "c");
        Asked asked(session, AfterLoss::AskAgain);
        session.linkReady();
        (void)session.received(welcomeTo(*session.nextToSend()));
        Message no = refusal(reason::noHello, {Errc::Io, "who are you", {}, {}});
        no.fields["id"] = session.nextToSend()->fields["id"];
        QCOMPARE(session.received(no), Heard::Nothing);
        QVERIFY(asked.replies.empty());
        const auto hello = session.nextToSend();
        QVERIFY(hello && hello->type() == type::hello);
        (void)session.received(welcomeTo(*hello));
        QCOMPARE(session.nextToSend()->fields["id"].get<std::int64_t>(), asked.id);
    }

    void refusedAndClosed()
    {
        ControlSession session("moire test", "c");
        Asked refused(session, AfterLoss::AskAgain);
        Asked forgotten(session, AfterLoss::AskAgain);
        Asked open(session, AfterLoss::AskAgain);
        session.forget(forgotten.id);
        session.linkReady();
        (void)session.received(welcomeTo(*session.nextToSend()));
        Message no = refusal(reason::notFound, {Errc::NotFound, "no model", {}, {}});
        no.fields["id"] = session.nextToSend()->fields["id"];
        (void)session.received(no);
        QCOMPARE(refused.replies.at(0).error().code, Errc::NotFound);
        session.close({Errc::Cancelled, "closed", {}, {}});
        QVERIFY(forgotten.replies.empty());
        QCOMPARE(open.replies.at(0).error().code, Errc::Cancelled);
    }
};

QTEST_APPLESS_MAIN(ClientTest)
#include "client_test.moc"
