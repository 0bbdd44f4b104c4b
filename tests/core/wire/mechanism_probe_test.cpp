// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/keys.h"
#include "core/wire/mechanism_probe.h"

#include <QTest>

#include <zmq.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace moire;
using namespace moire::wire;

/// Asks libzmq's own sockets, and others.
class MechanismProbeTest : public QObject
{
    Q_OBJECT

private:
    zmq::context_t m_context;

    static Address placeOf(zmq::socket_t& socket)
    {
        socket.set(zmq::sockopt::linger, 0);
        socket.bind("tcp://127.0.0.1:*");
        return *readAddress(socket.get(zmq::sockopt::last_endpoint));
    }

private Q_SLOTS:
    void peersNameTheirs()
    {
        zmq::socket_t open(m_context, zmq::socket_type::router);
        QCOMPARE(mechanismAt(placeOf(open)), std::optional<std::string>("NULL"));
        zmq::socket_t closed(m_context, zmq::socket_type::router);
        closed.set(zmq::sockopt::curve_server, 1);
        closed.set(zmq::sockopt::curve_secretkey, makeKeyPair()->secretKey);
        QCOMPARE(mechanismAt(placeOf(closed)), std::optional<std::string>("CURVE"));
    }

    void othersDoNot()
    {
        // The system takes connections, and nothing is said on them.
        const int mute = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        QCOMPARE(::bind(mute, reinterpret_cast<sockaddr*>(&at), size), 0);
        QCOMPARE(::listen(mute, 4), 0);
        QCOMPARE(::getsockname(mute, reinterpret_cast<sockaddr*>(&at), &size), 0);
        const Address place{"tcp", "127.0.0.1", ntohs(at.sin_port)};
        QCOMPARE(mechanismAt(place), std::nullopt);
        ::close(mute);
        QCOMPARE(mechanismAt(place), std::nullopt);
        QCOMPARE(mechanismAt({"tcp", "no such host", 1}), std::nullopt);
        QCOMPARE(mechanismAt({"ipc", "/nowhere", 0}), std::nullopt);
    }
};

QTEST_MAIN(MechanismProbeTest)
#include "mechanism_probe_test.moc"
