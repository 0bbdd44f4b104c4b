// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/event_log.h"
#include "capture/server/loaded_weights.h"
#include "capture/server/model_shelf.h"
#include "capture/server/published_run.h"
#include "capture/server/run_table.h"
#include "capture/server/spool.h"

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace moire::capture {

/// Makes the runs of the table, one after the other, on a thread of its own. A run that fails, in
/// whatever way a program can notice, ends as failed, and the next one begins.
class RunWorker
{
public:
    struct Places
    {
        RunTable& runs;
        ModelShelf& models;
        std::shared_ptr<Spool> spool; ///< null: none
        std::shared_ptr<wire::HoldLimit> hold;
        EventLog log;
    };
    explicit RunWorker(Places places)
        : m_places(std::move(places))
    {}
    ~RunWorker() { stop(); }

    void start();
    /// Waits for the run that is being made; RunTable::stop() makes that short.
    void stop();
    /// The right to compute, when no run does. Holding it keeps runs from beginning.
    std::unique_lock<std::mutex> tryToCompute()
    {
        return std::unique_lock(m_computing, std::try_to_lock);
    }

private:
    void work(const std::stop_token& stop);
    void make(RunJob& job);
    RunEnding endingOf(const RunJob& job, const Error& error) const;
    /// The run itself; `published` is there once it has begun.
    Result<void> run(RunJob& job, std::optional<PublishedRun>& published);
    std::unique_ptr<SpoolWriter> beginSpool(RunJob& job, const trace::RunHeader& header,
                                            wire::PlannedRows planned);
    bool makeRoom(const RunJob& job, std::uint64_t bytes);
    void sayUnspooled(RunJob& job, const Error& reason) const;

    Places m_places;
    LoadedWeights m_weights;
    std::mutex m_computing;
    std::jthread m_thread;
};

} // namespace moire::capture
