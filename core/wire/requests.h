// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/records.h"
#include "core/wire/message.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// What is asked on the control socket and answered (PROTOCOL.md, 3), as values.
namespace moire::wire {

/// A file of a request takes its place among RunRequest::files.
struct FilePlace
{
    std::uint32_t place = 0;
    friend bool operator==(const FilePlace&, const FilePlace&) = default;
};
using OptionValue =
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>, FilePlace>;

struct NamedFile
{
    std::string name; ///< for messages only
    Frame content;
};

/// `run` and `estimate`.
struct RunRequest
{
    std::string model;                          ///< a name of `models`
    std::map<std::string, OptionValue> options; ///< of `moire-capture run`, without dashes
    std::vector<NamedFile> files;
    /// Of `run`: random; asked for again with the same one, as after a reply that was lost, it is
    /// the same run and not another. "" = always another.
    std::string ticket;
};

struct ModelEntry
{
    std::string name;
    std::string kind; ///< "folder", "gguf"
    std::string architecture;
    std::uint64_t bytes = 0;
    std::string problem; ///< why it cannot be run; "" = it can
};

struct TapEntry
{
    std::string name;
    std::string dtype;
    std::uint32_t width = 0;
    std::string kind;
};

struct Estimate
{
    std::uint64_t rows = 0;  ///< at most
    std::uint64_t bytes = 0; ///< of the capture, at most
    double seconds = 0;      ///< roughly
    std::uint64_t taps = 0;
    std::uint64_t samples = 0;
};

struct Queued
{
    std::string run;
    std::uint32_t place = 0; ///< 0 = it runs now
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
};

struct RunState
{
    std::string run;
    std::string model;
    std::string state; ///< a word of wire::state
    std::uint64_t rows = 0;
    std::uint64_t planned = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint32_t place = 0;
    double seconds = 0;
    double waited = 0; ///< seconds that the model waited for a client
    bool spooled = false;
    std::string sentence; ///< why it failed
};

/// Response tokens for a run with `replay-live`.
struct Feed
{
    std::string run;
    trace::SampleIndex sample{};
    /// Place of the first of `ids` in the response: what the run has already is passed over, so
    /// that a feed whose answer was lost is sent again. −1: behind what it has.
    std::int64_t first = -1;
    std::vector<std::int32_t> ids;
    bool end = false;
    std::string stopReason; ///< with `end`
};

struct DaemonStatus
{
    std::string program;
    std::string epoch;
    double uptime = 0; ///< seconds
    std::string state; ///< "idle", "running", "stopping"
    std::string run;
    std::vector<std::string> queue;
    std::uint32_t clients = 0;
    std::uint32_t streams = 0;
    std::uint64_t held = 0; ///< bytes in memory that wait for clients
    std::uint64_t holdLimit = 0;
    std::uint64_t spool = 0; ///< bytes
    std::uint64_t spoolLimit = 0;
    double waited = 0;
    std::uint64_t memory = 0; ///< resident bytes
    std::string device;
    std::uint64_t refusals = 0;
};

struct Welcome
{
    int version = 0;
    std::string program;
    std::string epoch;
    std::string stream;
    std::string data;
    std::string session;
    bool secure = false;
    std::uint64_t streams = 0; ///< at most
    std::uint64_t message = 0; ///< bytes of a run's message, at most
    std::vector<std::string> features;
};

// Values to fields and back. Reading errors: Damaged names the field.
Message toMessage(const RunRequest& request, std::string_view type); ///< run or estimate
Result<RunRequest> toRunRequest(const Message& message);
Fields toFields(const ModelEntry& value);
Fields toFields(const TapEntry& value);
Fields toFields(const Estimate& value);
Fields toFields(const Queued& value);
Fields toFields(const RunState& value);
Fields toFields(const Feed& value);
Fields toFields(const DaemonStatus& value);
Fields toFields(const Welcome& value);
Result<ModelEntry> toModelEntry(const Fields& fields);
Result<TapEntry> toTapEntry(const Fields& fields);
Result<Estimate> toEstimate(const Fields& fields);
Result<Queued> toQueued(const Fields& fields);
Result<RunState> toRunState(const Fields& fields);
Result<Feed> toFeed(const Fields& fields);
Result<DaemonStatus> toDaemonStatus(const Fields& fields);
Result<Welcome> toWelcome(const Fields& fields);

} // namespace moire::wire
