// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "app/capture/record_arguments.h"
#include "app/capture/remote_arguments.h"
#include "core/base/result.h"

#include <CLI/App.hpp>

#include <optional>
#include <string>
#include <vector>

namespace moire::app {

/// The commands that ask a daemon, and the one that makes keys: record, status, runs, models,
/// keygen.
class RemoteCommands
{
public:
    explicit RemoteCommands(CLI::App& program);
    RemoteCommands(const RemoteCommands&) = delete;
    RemoteCommands& operator=(const RemoteCommands&) = delete;

    /// What the command that was given has to say; nothing when it was none of these.
    std::optional<Result<std::string>> run();

private:
    struct Asking
    {
        CLI::App* app = nullptr;
        RemoteArguments remote;
        bool json = false;
    };
    static void addJson(Asking& asking);
    void addStatus(CLI::App& program);
    void addRuns(CLI::App& program);
    void addModels(CLI::App& program);
    void addKeygen(CLI::App& program);

    Result<std::string> status();
    Result<std::string> runs();
    Result<std::string> models();
    Result<std::string> keygen() const;

    CLI::App* m_recordApp = nullptr;
    RecordArguments m_record;
    Asking m_status;
    Asking m_runs;
    std::optional<std::string> m_cancelled; ///< a run's name
    std::optional<std::string> m_forgotten;
    Asking m_models;
    CLI::App* m_keygenApp = nullptr;
    std::string m_stem = "moire";
};

/// Cells in columns, two blanks apart, a line a row; what a terminal would obey made visible.
std::string columnsOf(const std::vector<std::vector<std::string>>& rows);

} // namespace moire::app
