// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/event_log.h"
#include "capture/server/model_shelf.h"
#include "capture/server/requested_run.h"
#include "capture/server/run_table.h"
#include "capture/server/run_worker.h"
#include "capture/server/task_thread.h"
#include "core/base/result.h"
#include "core/wire/server.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moire::capture {

struct DaemonOptions
{
    std::filesystem::path models;
    std::optional<std::filesystem::path> spool;
    std::uint64_t spoolLimit = 0; ///< bytes; 0 = as much as the disk has
    std::size_t holdLimit = std::size_t{256} << 20U;
    std::string program;
    EventLog log = [](EventLevel, std::string_view, const EventFields&) {};
};

/// Runs the models of a folder for the clients of a wire::Server, one at a time
/// (core/wire/PROTOCOL.md, 3). What takes longer than a look at its own tables is done on threads
/// of its own.
class Daemon final : public wire::Service
{
public:
    /// Who is told of its runs; called on any thread.
    struct Listener
    {
        std::function<void()> grown;                                ///< some log has grown
        std::function<void(std::shared_ptr<wire::RunLog>)> started; ///< a run was accepted
    };

    /// `interpreter` outlives the daemon. Errors: those of ModelShelf and Spool.
    static Result<std::unique_ptr<Daemon>> create(DaemonOptions options,
                                                  RunInterpreter& interpreter);
    ~Daemon() override;

    /// Begins to make runs; what came before was kept waiting.
    void start(Listener listener);
    /// Ends everything: runs end as `lost`, requests are refused. Waits.
    void stop();

    void handle(wire::Message request, Answer answer) override;
    std::shared_ptr<wire::RunLog> log(const std::string& run) override;

private:
    Daemon(DaemonOptions options, RunInterpreter& interpreter, std::unique_ptr<ModelShelf> models,
           std::shared_ptr<Spool> spool);

    wire::Message replyTo(const wire::Message& request);

    // Quick ones.
    wire::Message runs() const;
    wire::Message runState(const wire::Message& request) const;
    wire::Message feed(const wire::Message& request);
    wire::Message cancel(const wire::Message& request);
    wire::Message status() const;
    // Those that read files or compute.
    wire::Message models();
    wire::Message taps(const wire::Message& request);
    wire::Message estimate(const wire::Message& request);
    wire::Message run(const wire::Message& request);
    wire::Message prompts(const wire::Message& request);
    wire::Message forget(const wire::Message& request);

    struct Asked
    {
        wire::RunRequest request;
        std::shared_ptr<const ShelvedModel> model;
    };
    Result<Asked> asked(const wire::Message& request);
    std::string newName();
    Result<std::vector<wire::SampleBegin>> promptsOf(const std::string& run);
    double secondsOf(const Asked& asked, const RequestedRun& run);

    DaemonOptions m_options;
    RunInterpreter& m_interpreter;
    std::unique_ptr<ModelShelf> m_models;
    std::shared_ptr<Spool> m_spool; ///< null: none
    std::shared_ptr<wire::HoldLimit> m_hold;
    std::string m_device;
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
    RunTable m_runs;
    RunWorker m_worker;
    Listener m_listener;
    unsigned m_named = 0; ///< runs; the task thread's own
    std::atomic<bool> m_listening{false};
    std::atomic<bool> m_stopping{false};
    TaskThread m_tasks;
};

} // namespace moire::capture
