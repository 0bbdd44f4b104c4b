// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/daemon.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// A daemon without sockets, asked directly.
namespace moire::capture::served {

/// Understands a few options, with prompts as lists of ids: `ids` (texts "5 6 7"), `max-new`,
/// `level`, `taps`, `replay-live` (with `max-new`), and `explode` (throws what it says).
class Interpreter : public RunInterpreter
{
public:
    Result<RequestedRun> run(const wire::RunRequest& request, const ShelvedModel& model) override;
    Result<RunOptions> options(const wire::RunRequest& request, const ShelvedModel& model) override;
};

/// A temporary folder, gone with the object.
class Folder
{
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path / name; }
    std::filesystem::path path;
};

/// A folder with the models "small" and "deep/odd", and one that is broken: "broken".
void makeModels(const std::filesystem::path& folder);

/// The reply, which has to come soon.
wire::Message ask(Daemon& daemon, wire::Message request);
wire::Message request(std::string_view type, wire::Fields fields = wire::Fields::object());
/// `run` of "small" with a prompt and so many tokens.
wire::Message runRequest(const std::string& ids, int maxNew, wire::Fields options = {});
/// The run's name; "" when it was refused.
std::string begin(Daemon& daemon, const wire::Message& asked);
std::string reasonOf(const wire::Message& reply);
wire::RunState stateOf(Daemon& daemon, const std::string& run);
/// Whether it comes to be so within some seconds.
bool soon(const std::function<bool()>& condition);
bool ends(Daemon& daemon, const std::string& run);

/// All messages of a log that has ended, or so far.
std::vector<wire::Packed> messagesOf(const wire::RunLog& log);
/// The same put together; null when they make no run.
trace::RunPointer runOf(const wire::RunLog& log);
/// What the engine makes of the same options without a daemon.
trace::RunPointer expectedRun(const std::filesystem::path& model, const wire::Message& asked);
/// The first thing that differs between two runs but for times; "" = nothing.
std::string difference(const trace::Run& a, const trace::Run& b);

} // namespace moire::capture::served
