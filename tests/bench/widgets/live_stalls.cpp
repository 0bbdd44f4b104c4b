// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long the window's event loop is away while 200 MB/s of rows arrive from another process, are
// kept as a capture and compared with a file: a watchdog posts an event every two milliseconds and
// measures when it is handled.

#include "app/gui/main_window.h"
#include "core/store/writer.h"
#include "core/trace/row_block.h"
#include "core/wire/protocol.h"
#include "core/wire/requests.h"
#include "core/wire/server.h"
#include "tests/bench/figure.h"
#include "tests/core/wire/key_folder.h"
#include "widgets/views/live_view.h"

#include <QApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace moire;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t width = 1024; ///< fp32: 4 KiB a row and tap
constexpr std::size_t taps = 64;
constexpr std::size_t blockRows = 16; ///< 4 MiB
constexpr double bytesPerSecond = 200e6;
constexpr double seconds = 5;
constexpr double bytesPerBlock = double{blockRows} * taps * width * sizeof(float);
constexpr auto blocks = static_cast<std::size_t>(seconds * bytesPerSecond / bytesPerBlock);
constexpr milliseconds beat{2};
constexpr int patience = 60'000; ///< ms
constexpr double goalMilliseconds = 50;
constexpr double share = 0.999;

template <class T>
T orEnd(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "bench_live_stalls: %s\n", result.error().text().c_str());
        std::exit(2);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

/// One sample, a prompt of all its rows.
class Traffic
{
public:
    explicit Traffic(bool target)
    {
        m_header.level = trace::Level::Full;
        m_header.environment.set(trace::env::arithmetic, target ? "native" : "ordered");
        for (std::size_t t = 0; t < taps; ++t)
            m_header.taps.push_back({.name = "model.layers." + std::to_string(t) + ".out",
                                     .layer = static_cast<std::int32_t>(t),
                                     .kind = trace::TapKind::Residual,
                                     .dtype = numeric::DType::FP32,
                                     .width = width,
                                     .inputs = {}});
        m_block.rows.resize(blockRows);
        for (std::size_t t = 0; t < taps; ++t) {
            std::vector<float> values(blockRows * width);
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] =
                    static_cast<float>(i % 97) + (target && t > 2 && i % 16 == 0 ? 0.5F : 0);
            const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
            m_block.values.emplace_back(bytes, bytes + values.size() * sizeof(float));
        }
        trace::summariseBlock(m_header, m_block);
    }
    const trace::RunHeader& header() const { return m_header; }

    /// Everything, a block at a time; `wait` before each.
    template <class Wait>
    void play(trace::RunSink& sink, Wait wait)
    {
        std::vector<trace::Token> prompt;
        for (std::size_t i = 0; i < blocks * blockRows; ++i) {
            trace::Token token;
            token.id = static_cast<std::int32_t>(i % 1000);
            token.bytes = "t" + std::to_string(token.id);
            prompt.push_back(std::move(token));
        }
        trace::Sample sample;
        sample.id = "traffic";
        const auto index = orEnd(sink.beginSample(sample, prompt));
        for (std::size_t b = 0; b < blocks; ++b) {
            wait();
            trace::RowBlock block = m_block;
            for (std::size_t r = 0; r < blockRows; ++r) {
                block.rows[r].sample = index;
                block.rows[r].position = static_cast<std::uint32_t>(b * blockRows + r);
                block.rows[r].phase = trace::Phase::Prefill;
            }
            orEnd(sink.append(std::move(block)));
        }
        orEnd(sink.endSample(index, "length", {}));
        orEnd(sink.finish({}));
    }

private:
    trace::RunHeader m_header;
    trace::RowBlock m_block;
};

/// Publishes the target's traffic to the first who asks for a run.
class Publisher : public wire::Service
{
public:
    explicit Publisher(const char* keys)
        : m_log(std::make_shared<wire::RunLog>("traffic", std::make_shared<wire::HoldLimit>()))
    {
        wire::ServerOptions options;
        options.bind = "tcp://127.0.0.1:0";
        options.program = "bench";
        if (keys != nullptr)
            options.keys = keys;
        m_server = orEnd(wire::Server::start(options, *this));
        m_log->onGrowth([this] { m_server->wake(); });
        std::printf("%s\n", m_server->address().c_str());
        std::fflush(stdout);
    }
    void handle(wire::Message request, Answer answer) override
    {
        if (request.type() == wire::type::run) {
            if (!m_thread.joinable())
                m_thread = std::jthread([this] { publish(); });
            return answer({wire::toFields(wire::Queued{m_log->run(), 0, 0, 0}), {}});
        }
        if (request.type() == wire::type::runState) {
            wire::RunState state;
            state.run = m_log->run();
            state.state = m_log->closed() ? wire::state::finished : wire::state::running;
            return answer({wire::toFields(state), {}});
        }
        answer(wire::refusal(wire::reason::unsupported,
                             {Errc::Unsupported, "it only publishes traffic", {}, {}}));
    }
    std::shared_ptr<wire::RunLog> log(const std::string& run) override
    {
        return run == m_log->run() ? m_log : nullptr;
    }

private:
    void publish()
    {
        Traffic traffic(true);
        wire::RunPublisher sink(m_log, traffic.header(), {}, {});
        auto due = Clock::now();
        traffic.play(sink, [&due] {
            due += std::chrono::duration_cast<Clock::duration>(
                std::chrono::duration<double>(bytesPerBlock / bytesPerSecond));
            std::this_thread::sleep_until(due);
        });
    }

    std::shared_ptr<wire::RunLog> m_log;
    std::unique_ptr<wire::Server> m_server;
    std::jthread m_thread; ///< ends before the server does
};

/// Milliseconds from a beat to its handling in the GUI thread.
class Watchdog : public QObject
{
public:
    Watchdog()
        : m_thread([this](const std::stop_token& stop) {
            for (auto due = Clock::now(); !stop.stop_requested();
                 std::this_thread::sleep_until(due += beat))
                QMetaObject::invokeMethod(
                    this,
                    [this, posted = Clock::now()] {
                        m_delays.push_back(
                            std::chrono::duration<double, std::milli>(Clock::now() - posted)
                                .count());
                    },
                    Qt::QueuedConnection);
        })
    {}
    std::vector<double> stop()
    {
        m_thread.request_stop();
        m_thread.join();
        return std::move(m_delays);
    }

private:
    std::vector<double> m_delays;
    std::jthread m_thread;
};

/// The delays while the traffic arrives; the rate at which it did.
struct Measured
{
    std::vector<double> delays;
    double bytesPerSecond = 0;
};

Measured measure(const QString& reference, const QString& keys)
{
    QProcess publisher;
    publisher.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    publisher.start(QCoreApplication::applicationFilePath(),
                    {QStringLiteral("publish"), keys.isEmpty() ? QStringLiteral("-") : keys});
    if (!publisher.waitForReadyRead())
        return {};
    widgets::LivePlan plan;
    plan.reference.isFile = true;
    plan.reference.file = reference;
    plan.target.model = QStringLiteral("traffic");
    plan.target.daemon.address = QString::fromUtf8(publisher.readLine()).trimmed();
    if (!keys.isEmpty()) {
        plan.target.daemon.key = keys + QStringLiteral("/me.key");
        plan.target.daemon.serverKey = keys + QStringLiteral("/server.pub");
    }
    gui::MainWindow window(widgets::ThemeKind::Light);
    window.resize(1440, 900);
    window.show();
    QCoreApplication::processEvents();
    Watchdog watchdog;
    auto* control = window.findChild<gui::LiveControl*>();
    QObject::connect(control, &gui::LiveControl::over, qApp, &QCoreApplication::quit);
    QObject::connect(control, &gui::LiveControl::failed, qApp, [](const Error& error) {
        std::fprintf(stderr, "bench_live_stalls: %s\n", error.text().c_str());
        QCoreApplication::exit(2);
    });
    QTimer::singleShot(patience, &window, [control] {
        for (const auto which : {live::Which::Reference, live::Which::Target}) {
            const auto status = control->session()->status(which);
            std::fprintf(stderr, "bench_live_stalls: %s, %s\n",
                         qPrintable(widgets::reasonedText(status)),
                         qPrintable(widgets::trafficText(status)));
        }
        QCoreApplication::exit(2);
    });
    const auto begin = Clock::now();
    window.openLive(plan);
    const bool ended = QApplication::exec() == 0;
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    Measured measured{watchdog.stop(), double{blocks} * bytesPerBlock / took};
    publisher.kill();
    publisher.waitForFinished();
    return ended ? measured : Measured{};
}

bool print(const std::string& what, Measured measured)
{
    if (measured.delays.empty()) {
        std::fprintf(stderr, "bench_live_stalls: the run did not come\n");
        return false;
    }
    std::sort(measured.delays.begin(), measured.delays.end());
    const auto place =
        static_cast<std::size_t>(share * static_cast<double>(measured.delays.size()));
    constexpr double mega = 1e6;
    bench::printAbsoluteFigure(
        "live: stalls of the window while rows arrive at 200 MB/s (taken and "
        "compared at "
            + std::to_string(std::lround(measured.bytesPerSecond / mega)) + " MB/s)" + what
            + ", 99.9th percentile",
        "ms", measured.delays[place], goalMilliseconds, bench::Sense::Max);
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "publish") {
        const Publisher publisher(std::string_view(argv[2]) == "-" ? nullptr : argv[2]);
        std::this_thread::sleep_for(milliseconds(2 * patience)); // it is killed before
        return 0;
    }
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QTemporaryDir folder;
    const QString reference = folder.filePath(QStringLiteral("reference.moire"));
    {
        Traffic traffic(false);
        const auto writer = orEnd(store::Writer::create(reference.toStdString(), traffic.header()));
        traffic.play(*writer, [] {});
    }
    const wire::test::KeyFolder keys;
    const QString keyPath = QString::fromStdString(keys.path().string());
    return print("", measure(reference, {})) && print(", CURVE", measure(reference, keyPath)) ? 0
                                                                                              : 2;
}
