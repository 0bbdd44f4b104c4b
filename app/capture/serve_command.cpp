// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/serve_command.h"

#include "app/capture/commands.h"
#include "app/capture/request_arguments.h"
#include "app/terminal/arguments.h"
#include "app/terminal/signals.h"
#include "capture/server/daemon.h"
#include "core/base/text.h"
#include "core/wire/protocol.h"
#include "core/wire/server.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

namespace moire::app {

namespace {

constexpr std::chrono::milliseconds signalInterval{100};

/// Fields as key=value; what is no plain word in quotes, on one line whatever it holds.
std::string lineOf(std::string_view event, const capture::EventFields& fields)
{
    std::string line = "event=" + std::string(event);
    for (const auto& [key, value] : fields) {
        const std::string shown = base::visibleText(value);
        line += ' ';
        line += key;
        line += '=';
        if (!shown.empty() && shown.find_first_of(" \"=") == std::string::npos) {
            line += shown;
            continue;
        }
        line += '"';
        for (const char c : shown)
            line += c == '"' ? std::string("\\\"") : std::string(1, c);
        line += '"';
    }
    return line;
}

std::shared_ptr<spdlog::logger> makeLogger()
{
    auto logger = std::make_shared<spdlog::logger>(
        programName, std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc));
    logger->flush_on(spdlog::level::info);
    return logger;
}

void waitForSignal()
{
    while (!interrupted())
        std::this_thread::sleep_for(signalInterval);
}

} // namespace

void addServeOptions(CLI::App& command, ServeArguments& a)
{
    constexpr std::uint64_t leastHold = std::uint64_t{1} << 20U;
    command
        .add_option("--models", a.models,
                    "The folder of the models that may be run: folders with a config.json, .gguf "
                    "files")
        ->type_name("DIR")
        ->required();
    command
        .add_option("--bind", a.bind,
                    "Where clients reach it; the next two ports carry the runs. Port 0 lets the "
                    "system choose")
        ->type_name("ADDRESS")
        ->capture_default_str();
    command
        .add_option("--spool", a.spool,
                    "A folder to keep runs in, so that nothing is lost when a client is slow, or "
                    "when the daemon is started again (default: runs are kept in memory)")
        ->type_name("DIR");
    command
        .add_option("--spool-limit", a.spoolLimit,
                    "The most that the runs in it may take, such as 200GB; the oldest go first "
                    "(default: what the disk has)")
        ->type_name("BYTES")
        ->transform(byteCount());
    command
        .add_option("--keys", a.keys,
                    "Encrypt, and let in only whom this folder names: server.key, clients/*.pub "
                    "(moire-capture keygen makes them)")
        ->type_name("DIR");
    command.add_flag("--insecure", a.insecure,
                     "Let in everybody who reaches an address that is not this machine's own, "
                     "without --keys");
    command
        .add_option("--hold-limit", a.holdLimit,
                    "Memory for rows on their way to clients (default: 268435456)")
        ->type_name("BYTES")
        ->transform(byteCount())
        ->check(wholeNumber(leastHold));
    command.add_option("--max-clients", a.maxClients, "Clients at a time")
        ->type_name("N")
        ->check(wholeNumber(1, wire::maxClients))
        ->capture_default_str();
    command.footer("Example:\n"
                   "  moire-capture serve --models ~/models --spool ~/spool\n"
                   "Then, on another machine, behind 'ssh -L 7431:localhost:7431 -L 7432:"
                   "localhost:7432 \\\n  -L 7433:localhost:7433 HOST':\n"
                   "  moire-capture record --from tcp://localhost:7431 --model NAME --text Hello "
                   "-o run.moire");
}

Result<std::string> serveCommand(const ServeArguments& arguments)
{
    const auto logger = makeLogger();
    const std::string program = std::string(programName) + " " MOIRE_VERSION;
    const auto log = [logger](capture::EventLevel level, std::string_view event,
                              const capture::EventFields& fields) {
        logger->log(level == capture::EventLevel::Warning ? spdlog::level::warn
                                                          : spdlog::level::info,
                    "{}", lineOf(event, fields));
    };
    watchInterruptions();
    RequestInterpreter interpreter;
    capture::DaemonOptions options;
    options.models = arguments.models;
    if (arguments.spool)
        options.spool = *arguments.spool;
    options.spoolLimit = arguments.spoolLimit;
    options.holdLimit = arguments.holdLimit;
    options.program = program;
    options.log = log;
    auto daemon = capture::Daemon::create(std::move(options), interpreter);
    if (!daemon)
        return daemon.error();
    wire::ServerOptions serving;
    serving.bind = arguments.bind;
    serving.program = program;
    serving.insecure = arguments.insecure;
    if (arguments.keys)
        serving.keys = *arguments.keys;
    serving.maxClients = arguments.maxClients;
    serving.log = [log](const std::string& line) {
        log(capture::EventLevel::Info, "peer", {{"what", line}});
    };
    auto server = wire::Server::start(serving, **daemon);
    if (!server)
        return server.error();
    wire::Server& sockets = **server;
    (*daemon)->start(
        {[&sockets] { sockets.wake(); },
         [&sockets](std::shared_ptr<wire::RunLog> run) { sockets.publish(std::move(run)); }});
    log(capture::EventLevel::Info, "ready",
        {{"address", sockets.address()}, {"secure", arguments.keys ? "true" : "false"}});
    std::printf("Serving at %s\n", sockets.address().c_str());
    std::fflush(stdout);
    waitForSignal();
    log(capture::EventLevel::Info, "stopping", {});
    (*daemon)->stop();
    server->reset(); // tells the clients before the runs are gone
    log(capture::EventLevel::Info, "stopped", {});
    return std::string();
}

} // namespace moire::app
