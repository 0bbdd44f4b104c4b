// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0
//
// The lossless stream between a daemon's sockets and a client's connection, over TCP loopback, side
// by side with libzmq's own throughput loop at the same message size, without CURVE and with it;
// and the time from a row published to the row taken.

#include "core/base/freed_memory.h"
#include "core/wire/connection.h"
#include "core/wire/protocol.h"
#include "core/wire/server.h"
#include "tests/bench/figure.h"
#include "tests/bench/live/plain_loop.h"
#include "tests/core/wire/key_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace moire;
using bench::Curve;
using wire::test::KeyFolder;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t mebi = std::size_t{1} << 20U;
constexpr int repeats = 5; ///< of every loop, ours and theirs in turn; the best of each counts
constexpr double goalOfLibzmq = 0.8;
constexpr double goalMilliseconds = 100; ///< of the whole way to the screen
const char* const runName = "bench";

template <class T>
T orEnd(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "bench_live: %s\n", result.error().sentence.c_str());
        std::exit(2);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

/// A run of the publisher: taps of 4 KiB a row each.
trace::RunHeader headerOf(std::size_t taps)
{
    constexpr std::uint32_t width = 1024;
    trace::RunHeader header;
    header.level = trace::Level::Full;
    for (std::size_t t = 0; t < taps; ++t)
        header.taps.push_back({.name = "model.layers." + std::to_string(t) + ".out",
                               .layer = static_cast<std::int32_t>(t),
                               .kind = trace::TapKind::Residual,
                               .dtype = numeric::DType::FP32,
                               .width = width,
                               .inputs = {}});
    return header;
}

std::shared_ptr<const trace::RowBlock> blockOf(const trace::RunHeader& header, std::size_t rows)
{
    auto block = std::make_shared<trace::RowBlock>();
    block->rows.resize(rows);
    for (std::size_t t = 0; t < header.taps.size(); ++t) {
        block->values.emplace_back(rows * header.taps[t].rowBytes());
        for (std::size_t i = 0; i < block->values.back().size(); i += sizeof(float))
            block->values.back()[i] = static_cast<std::byte>(i + t);
    }
    trace::summariseBlock(header, *block);
    return block;
}

/// A daemon that has one run and answers no requests.
class OneRun : public wire::Service
{
public:
    explicit OneRun(std::shared_ptr<wire::RunLog> log)
        : m_log(std::move(log))
    {}
    void handle(wire::Message, Answer answer) override
    {
        answer(wire::refusal(wire::reason::unsupported,
                             {Errc::Unsupported, "nothing is asked", {}, {}}));
    }
    std::shared_ptr<wire::RunLog> log(const std::string& run) override
    {
        return run == m_log->run() ? m_log : nullptr;
    }

private:
    std::shared_ptr<wire::RunLog> m_log;
};

/// Publisher, daemon's sockets and client of one run.
class Loop
{
public:
    Loop(const trace::RunHeader& header, Curve curve, const KeyFolder& keys)
        : m_log(std::make_shared<wire::RunLog>(runName, std::make_shared<wire::HoldLimit>()))
        , m_service(m_log)
    {
        wire::ServerOptions options;
        options.bind = "tcp://127.0.0.1:0";
        options.program = "bench";
        wire::ConnectionOptions asks;
        if (curve == Curve::On) {
            options.keys = keys.path();
            asks.own = keys.mine;
            asks.serverKey = keys.daemon.publicKey;
        }
        m_server = orEnd(wire::Server::start(options, m_service));
        m_log->onGrowth([this] { m_server->wake(); });
        m_log->begin(header, {});
        m_log->beginSample(trace::SampleIndex{0}, {}, {});
        asks.address = m_server->address();
        asks.program = "bench";
        m_connection = orEnd(wire::Connection::open(asks));
        orEnd(m_connection->waitUntilConnected());
        m_stream = orEnd(m_connection->stream(runName, {}));
        for (int i = 0; i < 2; ++i) // begin and sample: the stream is open
            take();
    }

    void publish(const std::shared_ptr<const trace::RowBlock>& block)
    {
        orEnd(m_log->addRows(block, {}));
    }
    /// Bytes of the next message.
    std::size_t take()
    {
        const auto message = orEnd(m_stream->next(std::chrono::seconds(60)));
        if (!message) {
            std::fprintf(stderr, "bench_live: nothing came for a minute\n");
            std::exit(2);
        }
        std::size_t bytes = 0;
        for (const wire::Frame& frame : message->frames)
            bytes += frame.size();
        return bytes;
    }

private:
    std::shared_ptr<wire::RunLog> m_log;
    OneRun m_service;
    std::unique_ptr<wire::Server> m_server;
    std::unique_ptr<wire::Connection> m_connection;
    std::unique_ptr<wire::RunStream> m_stream;
};

struct Stream
{
    double bytesPerSecond = 0;
    std::size_t messageBytes = 0;
};

Stream ourThroughput(std::size_t taps, std::size_t rows, std::size_t count, Curve curve,
                     const KeyFolder& keys)
{
    const trace::RunHeader header = headerOf(taps);
    const auto block = blockOf(header, rows);
    Loop loop(header, curve, keys);
    std::thread publisher([&] {
        for (std::size_t i = 0; i < count; ++i)
            loop.publish(block);
    });
    Stream stream;
    stream.messageBytes = loop.take();
    const auto begin = Clock::now();
    double bytes = 0;
    for (std::size_t i = 1; i < count; ++i)
        bytes += static_cast<double>(loop.take());
    stream.bytesPerSecond = bytes / std::chrono::duration<double>(Clock::now() - begin).count();
    publisher.join();
    return stream;
}

void printThroughput(const std::string& program, const std::string& what, std::size_t taps,
                     std::size_t rows, std::size_t bytes, Curve curve, const KeyFolder& keys)
{
    const std::size_t count = std::max<std::size_t>(16, bytes / (taps * rows * 4096));
    double ours = 0;
    double theirs = 0;
    for (int i = 0; i < repeats; ++i) {
        const Stream stream = ourThroughput(taps, rows, count, curve, keys);
        ours = std::max(ours, stream.bytesPerSecond);
        theirs = std::max(theirs,
                          bench::plainThroughputAlone(program, stream.messageBytes, count, curve));
    }
    bench::printFigure("live: lossless stream, " + what + (curve == Curve::On ? ", CURVE" : "")
                           + ", against libzmq's own loop",
                       "MiB/s", ours / mebi, theirs / mebi, ours / theirs, goalOfLibzmq,
                       bench::Sense::Min);
}

/// Rows of 1 MiB at 200 a second: each carries the moment at which it was published in its place
/// of the list.
void printLag(Curve curve, const KeyFolder& keys)
{
    constexpr std::size_t taps = 256;
    constexpr std::size_t count = 600;
    constexpr milliseconds pause{5};
    const trace::RunHeader header = headerOf(taps);
    const auto block = blockOf(header, 1);
    Loop loop(header, curve, keys);
    std::vector<Clock::time_point> published(count);
    std::thread publisher([&] {
        auto due = Clock::now();
        for (auto& moment : published) {
            std::this_thread::sleep_until(due += pause);
            moment = Clock::now();
            loop.publish(block);
        }
    });
    std::vector<Clock::time_point> taken;
    for (std::size_t i = 0; i < count; ++i) {
        loop.take();
        taken.push_back(Clock::now());
    }
    publisher.join();
    std::vector<double> lags;
    for (std::size_t i = 0; i < count; ++i)
        lags.push_back(std::chrono::duration<double, std::milli>(taken[i] - published[i]).count());
    std::sort(lags.begin(), lags.end());
    bench::printAbsoluteFigure(
        std::string("live: from a row published to the row taken, 200 MiB/s, 95th percentile")
            + (curve == Curve::On ? ", CURVE" : ""),
        "ms", lags[count * 95 / 100], goalMilliseconds, bench::Sense::Max);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 5 && std::string(argv[1]) == "--plain") {
        const Curve curve = std::string(argv[4]) == "curve" ? Curve::On : Curve::Off;
        std::printf("%.0f\n",
                    bench::plainThroughput(std::stoul(argv[2]), std::stoul(argv[3]), curve));
        return 0;
    }
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    base::keepFreedMemory(); // as the programs that receive do
    const KeyFolder keys;
    for (const Curve curve : {Curve::Off, Curve::On}) {
        const std::size_t bytes = (curve == Curve::Off ? 1024 : 256) * mebi;
        printThroughput(program, "messages of 256 KiB", 64, 1, bytes / 2, curve, keys);
        printThroughput(program, "messages of 4 MiB", 64, 15, bytes, curve, keys);
    }
    for (const Curve curve : {Curve::Off, Curve::On})
        printLag(curve, keys);
    return 0;
}
