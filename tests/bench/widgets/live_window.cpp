// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The time from a row that an engine hands to its daemon to the window that has drawn it: over
// sockets, through the client's capture and the comparison with the other side.

#include "app/gui/main_window.h"
#include "core/store/writer.h"
#include "core/wire/protocol.h"
#include "core/wire/requests.h"
#include "core/wire/server.h"
#include "tests/bench/figure.h"
#include "tests/core/live/script.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace moire;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause{40}; ///< between two rows
constexpr std::uint32_t responseTokens = 100;
constexpr int patience = 60'000; ///< ms
constexpr double goalMilliseconds = 100;
constexpr double share = 0.95;

test::MadeModel model(const std::string& arithmetic)
{
    test::MadeModel made;
    made.layers = 24;
    made.width = 1024;
    made.vocabulary = 4096;
    made.arithmetic = arithmetic;
    return made;
}

std::vector<test::MadeSample> samples()
{
    test::MadeSample sample;
    sample.id = "live";
    sample.prompt = {1, 2, 3, 4};
    for (std::uint32_t i = 0; i < responseTokens; ++i)
        sample.response.push_back(static_cast<std::int32_t>(5 + i));
    return {sample};
}

/// What the target computes otherwise.
double moved(double value, std::size_t tap, std::uint64_t, std::size_t element)
{
    return tap > 0 && element % 16 == 0 ? value * 1.01 : value;
}

/// When each row was handed on. The publisher's thread writes, the GUI thread reads.
class Moments
{
public:
    void add(Clock::time_point moment)
    {
        const std::lock_guard lock(m_mutex);
        m_moments.push_back(moment);
    }
    Clock::time_point at(std::size_t row) const
    {
        const std::lock_guard lock(m_mutex);
        return m_moments.at(row);
    }

private:
    mutable std::mutex m_mutex;
    std::vector<Clock::time_point> m_moments;
};

/// Publishes at a steady pace.
class PacedSink : public wire::RunPublisher
{
public:
    PacedSink(std::shared_ptr<wire::RunLog> log, const trace::RunHeader& header, Moments& moments)
        : RunPublisher(std::move(log), header, {}, {})
        , m_moments(moments)
    {}
    Result<void> append(trace::RowBlock block) override
    {
        std::this_thread::sleep_until(m_due += pause);
        m_moments.add(Clock::now());
        return RunPublisher::append(std::move(block));
    }

private:
    Moments& m_moments;
    Clock::time_point m_due = Clock::now();
};

/// A daemon that plays a script for whoever asks for a run, once.
class ScriptDaemon : public wire::Service
{
public:
    explicit ScriptDaemon(const live::test::Script& script)
        : m_script(script)
        , m_log(std::make_shared<wire::RunLog>("live", std::make_shared<wire::HoldLimit>()))
    {
        wire::ServerOptions options;
        options.bind = "tcp://127.0.0.1:0";
        options.program = "bench";
        auto server = wire::Server::start(options, *this);
        if (!server)
            qFatal("%s", server.error().text().c_str());
        m_server = std::move(*server);
        m_log->onGrowth([this] { m_server->wake(); });
    }
    std::string address() const { return m_server->address(); }
    const Moments& moments() const { return m_moments; }

    void handle(wire::Message request, Answer answer) override
    {
        const std::string_view kind = request.type();
        if (kind == wire::type::run) {
            if (!m_thread.joinable())
                m_thread = std::jthread([this] {
                    PacedSink sink(m_log, m_script.header(), m_moments);
                    m_script.playAll(sink);
                });
            answer({wire::toFields(wire::Queued{m_log->run(), 0, 0, 0}), {}});
        } else if (kind == wire::type::runState) {
            wire::RunState state;
            state.run = m_log->run();
            state.state = m_log->closed() ? wire::state::finished : wire::state::running;
            answer({wire::toFields(state), {}});
        } else {
            answer(wire::refusal(wire::reason::unsupported,
                                 {Errc::Unsupported, "it only plays a script", {}, {}}));
        }
    }
    std::shared_ptr<wire::RunLog> log(const std::string& run) override
    {
        return run == m_log->run() ? m_log : nullptr;
    }

private:
    const live::test::Script& m_script;
    std::shared_ptr<wire::RunLog> m_log;
    Moments m_moments;
    std::unique_ptr<wire::Server> m_server;
    std::jthread m_thread; ///< ends before the server does
};

bool write(const QString& path, const live::test::Script& script)
{
    auto writer = store::Writer::create(path.toStdString(), script.header());
    if (!writer) {
        std::fprintf(stderr, "bench_live_window: %s\n", writer.error().text().c_str());
        return false;
    }
    script.playAll(**writer);
    return true;
}

/// Milliseconds of each row, from the daemon to the picture.
std::vector<double> delays(gui::MainWindow& window, const ScriptDaemon& daemon,
                           const widgets::LivePlan& plan)
{
    std::vector<double> result;
    auto* control = window.findChild<gui::LiveControl*>();
    const auto drawn = [&](const widgets::ComparedPointer& compared) {
        // The window has the rows already: its slots were connected first. What they want drawn
        // anew is drawn now.
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::UpdateRequest);
        const auto now = Clock::now();
        for (std::size_t row = result.size(); row < compared->report.rows.size(); ++row)
            result.push_back(
                std::chrono::duration<double, std::milli>(now - daemon.moments().at(row)).count());
    };
    QObject::connect(control, &gui::LiveControl::opened, control, drawn);
    QObject::connect(control, &gui::LiveControl::grown, control, drawn);
    QObject::connect(control, &gui::LiveControl::over, qApp, &QCoreApplication::quit);
    QObject::connect(control, &gui::LiveControl::failed, qApp, [](const Error& error) {
        std::fprintf(stderr, "bench_live_window: %s\n", error.text().c_str());
        QCoreApplication::exit(2);
    });
    QTimer::singleShot(patience, qApp, [] { QCoreApplication::exit(2); });
    window.openLive(plan);
    return QApplication::exec() == 0 ? result : std::vector<double>();
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const live::test::Script reference(model("ordered"), samples(), 3);
    const live::test::Script target(model("native"), samples(), 3, moved);
    QTemporaryDir folder;
    widgets::LivePlan plan;
    plan.reference.isFile = true;
    plan.reference.file = folder.filePath(QStringLiteral("reference.moire"));
    if (!write(plan.reference.file, reference))
        return 2;
    ScriptDaemon daemon(target);
    plan.target.daemon.address = QString::fromStdString(daemon.address());
    plan.target.model = QStringLiteral("imagined");

    gui::MainWindow window(widgets::ThemeKind::Light);
    window.resize(1280, 800);
    window.show();
    std::vector<double> milliseconds = delays(window, daemon, plan);
    if (milliseconds.empty()) {
        std::fprintf(stderr, "bench_live_window: no row was drawn\n");
        return 2;
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto place = static_cast<std::size_t>(share * static_cast<double>(milliseconds.size()));
    bench::printAbsoluteFigure(
        "live: from a row computed to the row drawn, 25 rows a second, 95th percentile", "ms",
        milliseconds[place], goalMilliseconds, bench::Sense::Max);
    return 0;
}
