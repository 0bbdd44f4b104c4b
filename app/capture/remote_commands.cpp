// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/remote_commands.h"

#include "app/capture/record_command.h"
#include "app/capture/recorded_file.h"
#include "app/capture/run_material.h"
#include "app/terminal/duration.h"
#include "core/base/text.h"
#include "core/wire/keys.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <utility>

namespace moire::app {

namespace {

constexpr auto waitHelp = "How long a daemon that is not there yet is waited for";

/// JSON of an answer, without what only the wire needs.
std::string jsonOf(wire::Fields fields)
{
    constexpr int indent = 2;
    fields.erase("t");
    return fields.dump(indent, ' ', false, wire::Fields::error_handler_t::replace) + '\n';
}

template <class Value>
std::string jsonListOf(const std::vector<Value>& values)
{
    wire::Fields list = wire::Fields::array();
    for (const Value& value : values) {
        list.push_back(wire::toFields(value));
        list.back().erase("t");
    }
    return jsonOf(std::move(list));
}

std::string ofLimit(std::uint64_t bytes, std::uint64_t limit)
{
    return sizeText(bytes) + (limit > 0 ? " of " + sizeText(limit) : std::string());
}

std::string statusText(const wire::DaemonStatus& status, const std::string& address, bool secure)
{
    std::vector<std::vector<std::string>> lines{
        {"daemon",
         status.program + " at " + address + (secure ? ", encrypted" : ", not encrypted")},
        {"up", durationText(status.uptime)},
        {"state", status.state},
        {"device", status.device},
    };
    if (!status.run.empty())
        lines.push_back({"run", status.run});
    std::string queue;
    for (const std::string& run : status.queue)
        queue += (queue.empty() ? "" : ", ") + run;
    lines.push_back({"queue", queue.empty() ? "empty" : queue});
    lines.push_back(
        {"clients", counted(status.clients, "client") + ", " + counted(status.streams, "stream")});
    lines.push_back({"waiting", ofLimit(status.held, status.holdLimit) + " of rows for clients"});
    lines.push_back({"spool", ofLimit(status.spool, status.spoolLimit)});
    if (status.waited > 0)
        lines.push_back({"waited", durationText(status.waited) + " for a client that is slow"});
    lines.push_back({"memory", sizeText(status.memory)});
    if (status.refusals > 0)
        lines.push_back({"refused", counted(status.refusals, "peer")});
    return columnsOf(lines);
}

std::string runsText(const std::vector<wire::RunState>& runs)
{
    if (runs.empty())
        return "There are no runs.\n";
    std::vector<std::vector<std::string>> lines{{"RUN", "STATE", "ROWS", "SIZE", "MODEL", ""}};
    for (const wire::RunState& run : runs) {
        std::string rows = std::to_string(run.rows);
        if (run.planned > 0 && run.planned != run.rows)
            rows += " of " + std::to_string(run.planned);
        std::string state = run.state;
        if (state == "queued")
            state += " (" + std::to_string(run.place) + ')';
        lines.push_back({run.run, state, rows, sizeText(run.bytes), run.model, run.sentence});
    }
    return columnsOf(lines);
}

std::string modelsText(const std::vector<wire::ModelEntry>& models)
{
    if (models.empty())
        return "The daemon has no models.\n";
    std::vector<std::vector<std::string>> lines{{"NAME", "KIND", "ARCHITECTURE", "SIZE", ""}};
    for (const wire::ModelEntry& model : models)
        lines.push_back(
            {model.name, model.kind, model.architecture, sizeText(model.bytes), model.problem});
    return columnsOf(lines);
}

} // namespace

std::string columnsOf(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    std::vector<std::vector<std::string>> shown = rows;
    for (std::vector<std::string>& row : shown)
        for (std::size_t i = 0; i < row.size(); ++i) {
            row[i] = base::visibleText(row[i]);
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string text;
    for (const std::vector<std::string>& row : shown) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            line.append(widths[i] + 2 - row[i].size(), ' ');
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

RemoteCommands::RemoteCommands(CLI::App& program)
{
    m_recordApp = program.add_subcommand("record", "Record a run of a daemon into a capture");
    addRecordOptions(*m_recordApp, m_record);
    addStatus(program);
    addRuns(program);
    addModels(program);
    addKeygen(program);
}

void RemoteCommands::addJson(Asking& asking)
{
    asking.app->add_flag("--json", asking.json, "JSON for programs");
}

void RemoteCommands::addStatus(CLI::App& program)
{
    m_status.app = program.add_subcommand("status", "Tell how a daemon is; 0 when it is ready");
    addRemoteOptions(*m_status.app, m_status.remote, waitHelp, 0);
    addJson(m_status);
    m_status.app->footer("Example:\n  moire-capture status --from gpu-box --wait 60");
}

void RemoteCommands::addRuns(CLI::App& program)
{
    m_runs.app = program.add_subcommand("runs", "List a daemon's runs");
    addRemoteOptions(*m_runs.app, m_runs.remote, waitHelp, 0);
    addJson(m_runs);
    m_runs.app->add_option("--cancel", m_cancelled, "Cancel this run first")->type_name("RUN");
    m_runs.app->add_option("--forget", m_forgotten, "Remove this run from the daemon's spool first")
        ->type_name("RUN");
    m_runs.app->footer("Example:\n  moire-capture runs --from tcp://127.0.0.1:7431 --json");
}

void RemoteCommands::addModels(CLI::App& program)
{
    m_models.app = program.add_subcommand("models", "List the models that a daemon can run");
    addRemoteOptions(*m_models.app, m_models.remote, waitHelp, 0);
    addJson(m_models);
    m_models.app->footer("Example:\n  moire-capture models --from gpu-box");
}

void RemoteCommands::addKeygen(CLI::App& program)
{
    m_keygenApp = program.add_subcommand("keygen", "Make a pair of keys");
    m_keygenApp
        ->add_option("-o,--output", m_stem, "Writes STEM.key, which stays secret, and STEM.pub")
        ->type_name("STEM")
        ->capture_default_str();
    m_keygenApp->footer("Example, for a daemon and for who may use it:\n"
                        "  moire-capture keygen -o keys/server\n"
                        "  moire-capture keygen -o me && cp me.pub keys/clients/");
}

std::optional<Result<std::string>> RemoteCommands::run()
{
    if (m_recordApp->parsed()) {
        if (auto completed = completeRequest(*m_recordApp, m_record); !completed)
            return completed.error();
        return recordCommand(m_record);
    }
    if (m_status.app->parsed())
        return status();
    if (m_runs.app->parsed())
        return runs();
    if (m_models.app->parsed())
        return models();
    if (m_keygenApp->parsed())
        return keygen();
    return std::nullopt;
}

Result<std::string> RemoteCommands::status()
{
    auto connection = connectTo(m_status.remote);
    if (!connection)
        return connection.error();
    const auto welcome = awaitDaemon(**connection, m_status.remote);
    if (!welcome)
        return welcome.error();
    const auto status = (*connection)->status();
    if (!status)
        return status.error();
    if (status->state == "stopping")
        return Error{Errc::Io, "the daemon is about to end", m_status.remote.from,
                     "Wait until it is started again"};
    return m_status.json ? jsonOf(wire::toFields(*status))
                         : statusText(*status, m_status.remote.from, welcome->secure);
}

Result<std::string> RemoteCommands::runs()
{
    auto connection = connectTo(m_runs.remote);
    if (!connection)
        return connection.error();
    if (const auto welcome = awaitDaemon(**connection, m_runs.remote); !welcome)
        return welcome.error();
    if (m_cancelled)
        if (auto cancelled = (*connection)->cancel(*m_cancelled); !cancelled)
            return cancelled.error();
    if (m_forgotten)
        if (auto forgotten = (*connection)->forget(*m_forgotten); !forgotten)
            return forgotten.error();
    const auto runs = (*connection)->runs();
    if (!runs)
        return runs.error();
    return m_runs.json ? jsonListOf(*runs) : runsText(*runs);
}

Result<std::string> RemoteCommands::models()
{
    auto connection = connectTo(m_models.remote);
    if (!connection)
        return connection.error();
    if (const auto welcome = awaitDaemon(**connection, m_models.remote); !welcome)
        return welcome.error();
    const auto models = (*connection)->models();
    if (!models)
        return models.error();
    return m_models.json ? jsonListOf(*models) : modelsText(*models);
}

Result<std::string> RemoteCommands::keygen() const
{
    const auto pair = wire::makeKeyPair();
    if (!pair)
        return pair.error();
    if (auto written = wire::writeKeyPair(m_stem, *pair); !written)
        return written.error();
    return columnsOf({{"secret key", m_stem + ".key"},
                      {"public key", m_stem + ".pub"},
                      {"", pair->publicKey},
                      {"fingerprint", wire::fingerprintOf(pair->publicKey)}});
}

} // namespace moire::app
