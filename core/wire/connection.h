// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/keys.h"
#include "core/wire/requests.h"
#include "core/wire/run_messages.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::wire {

struct ConnectionOptions
{
    std::string address;                  ///< of control: tcp://HOST:PORT, ipc://PATH
    std::string program;                  ///< who asks, such as "moire 0.1"
    std::optional<KeyPair> own;           ///< CURVE with this key; needs serverKey
    std::optional<std::string> serverKey; ///< the daemon's, pinned
    bool insecure = false;                ///< another host than this one without CURVE
};

enum class LinkState
{
    Connecting, ///< not heard of the daemon yet
    Connected,
    Lost,    ///< was connected; it tries again by itself
    Refused, ///< the daemon, or the handshake, said no; see trouble()
};

/// How a run's messages are had.
struct StreamOptions
{
    std::uint64_t from = 0;
    bool lossless = true; ///< else what comes is published, and what was lost asked for once
    ValueChoice values;
    std::size_t window = std::size_t{64} << 20U; ///< bytes on their way and not yet taken, at most
};

/// What a stream has seen so far; any thread may ask.
struct StreamCount
{
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t waiting = 0;  ///< bytes received and not yet taken
    std::uint64_t resumed = 0;  ///< times that it was opened again after a lost link
    std::uint64_t repaired = 0; ///< messages that were asked for again
    std::uint64_t gaps = 0;     ///< messages that could not be had
};

/// The messages of one run in order, each exactly once, across lost links and restarts of the
/// daemon. Take from one thread; ends when the last message has been taken.
class RunStream
{
public:
    virtual ~RunStream() = default;
    /// The next message, or nothing when none came within `wait`. Errors: NotFound (the run is
    /// gone), Damaged (a message that breaks the protocol), Cancelled (the connection was closed).
    virtual Result<std::optional<Message>> next(std::chrono::milliseconds wait) = 0;
    virtual bool ended() const = 0;
    virtual StreamCount count() const = 0;
};

/// A client's link to one daemon, with a thread of its own that does all traffic, says hello again
/// after every loss of the link and opens the streams again where they were. Any thread may call.
/// Requests block up to `patience`; their errors are the daemon's refusals, Io when it is not to be
/// reached in that time, Cancelled.
class Connection
{
public:
    /// Does not wait for the daemon. Errors: Invalid (an address or key that makes no sense;
    /// another host without CURVE and without `insecure`).
    static Result<std::unique_ptr<Connection>> open(const ConnectionOptions& options);
    ~Connection();

    LinkState link() const;
    /// Why it is not connected: one sentence and what to do; empty sentence when it is.
    Error trouble() const;
    /// Of the last welcome.
    std::optional<Welcome> welcome() const;

    using Milliseconds = std::chrono::milliseconds;
    static constexpr Milliseconds defaultPatience{10'000};
    void setPatience(Milliseconds patience);
    void setStop(std::stop_token stop);

    Result<Welcome> waitUntilConnected();
    Result<std::vector<ModelEntry>> models();
    Result<std::vector<TapEntry>> taps(const RunRequest& request);
    Result<Estimate> estimate(const RunRequest& request);
    Result<Queued> run(const RunRequest& request);
    Result<std::vector<RunState>> runs();
    Result<RunState> runState(const std::string& run);
    Result<std::vector<SampleBegin>> prompts(const std::string& run);
    Result<void> feed(const Feed& feed);
    Result<void> cancel(const std::string& run);
    Result<void> forget(const std::string& run);
    Result<DaemonStatus> status();

    /// The stream lives no longer than the connection.
    Result<std::unique_ptr<RunStream>> stream(const std::string& run, const StreamOptions& options);

private:
    class State;
    explicit Connection(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace moire::wire
