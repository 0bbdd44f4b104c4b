// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/live/plain_loop.h"

#include <zmq.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace moire::bench {

namespace {

/// Bytes that may wait in either socket: the window of our own stream.
constexpr std::size_t waitingBytes = std::size_t{64} << 20U;

struct Keys
{
    char publicKey[41]; // Z85 and a zero
    char secretKey[41];
};

Keys makeKeys()
{
    Keys keys{};
    if (zmq_curve_keypair(keys.publicKey, keys.secretKey) != 0) {
        std::fprintf(stderr, "libzmq has no CURVE here\n");
        std::exit(2);
    }
    return keys;
}

void send(const std::string& endpoint, std::size_t size, std::size_t count, const Keys* server)
{
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::push);
    socket.set(zmq::sockopt::sndhwm,
               static_cast<int>(std::max<std::size_t>(1, waitingBytes / size)));
    if (server != nullptr) {
        const Keys own = makeKeys();
        socket.set(zmq::sockopt::curve_serverkey, server->publicKey);
        socket.set(zmq::sockopt::curve_publickey, own.publicKey);
        socket.set(zmq::sockopt::curve_secretkey, own.secretKey);
    }
    socket.connect(endpoint);
    for (std::size_t i = 0; i < count; ++i) {
        zmq::message_t message(size); // not written to: so does remote_thr
        socket.send(message, zmq::send_flags::none);
    }
    socket.close();
    context.close(); // waits until all has been sent
}

} // namespace

double plainThroughputAlone(const std::string& program, std::size_t size, std::size_t count,
                            Curve curve)
{
    const std::string command = '"' + program + "\" --plain " + std::to_string(size) + ' '
                                + std::to_string(count) + (curve == Curve::On ? " curve" : " null");
    std::FILE* output = ::popen(command.c_str(), "r");
    double bytesPerSecond = 0;
    if (output == nullptr || std::fscanf(output, "%lf", &bytesPerSecond) != 1
        || ::pclose(output) != 0) {
        std::fprintf(stderr, "bench_live: %s failed\n", command.c_str());
        std::exit(2);
    }
    return bytesPerSecond;
}

double plainThroughput(std::size_t size, std::size_t count, Curve curve)
{
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::pull);
    socket.set(zmq::sockopt::rcvhwm,
               static_cast<int>(std::max<std::size_t>(1, waitingBytes / size)));
    const Keys keys = makeKeys();
    if (curve == Curve::On) {
        socket.set(zmq::sockopt::curve_server, true);
        socket.set(zmq::sockopt::curve_secretkey, keys.secretKey);
    }
    socket.bind("tcp://127.0.0.1:*");
    const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
    std::thread sender([&] { send(endpoint, size, count, curve == Curve::On ? &keys : nullptr); });
    zmq::message_t message;
    std::chrono::steady_clock::time_point begin;
    for (std::size_t i = 0; i < count; ++i) {
        if (!socket.recv(message, zmq::recv_flags::none))
            std::exit(2);
        if (i == 0)
            begin = std::chrono::steady_clock::now();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    sender.join();
    return static_cast<double>(size) * static_cast<double>(count - 1) / taken.count();
}

} // namespace moire::bench
