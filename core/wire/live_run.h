// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"
#include "core/wire/connection.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace moire::wire {

/// Where a run that is received is kept: made once its header is known.
class LiveStore : public trace::RunSink
{
public:
    /// All that has come so far, as a run; cheap enough to be asked for several times a second.
    virtual Result<trace::RunPointer> snapshot() = 0;
};

/// A run on its way from a daemon: a thread takes its messages into a store (a growing capture
/// file, or memory), and anyone may ask for a snapshot. Any thread may call.
class LiveRun
{
public:
    using StoreMaker =
        std::function<Result<std::unique_ptr<LiveStore>>(const trace::RunHeader&, PlannedRows)>;
    /// Called on the run's thread, without a lock held, after messages were taken (several at once
    /// when they come fast) and at the end.
    using Grown = std::function<void()>;

    LiveRun(std::unique_ptr<RunStream> stream, std::string source, StoreMaker maker, Grown grown);
    ~LiveRun(); ///< stops taking; the store is closed as it is

    enum class State
    {
        Waiting, ///< nothing has come yet
        Growing,
        Finished,
        Partial, ///< it has ended, but messages were lost for ever; see trouble()
        Broken   ///< it ended early, or cannot be received any further; see trouble()
    };
    State state() const;
    Error trouble() const;
    /// What the publisher says of a Broken run: "cancelled", "failed", "lost"; "" when it is not
    /// the publisher who does.
    std::string brokenState() const;
    StreamCount count() const;
    std::uint64_t rows() const;
    std::uint64_t lostRows() const;
    std::optional<PlannedRows> planned() const;

    /// A snapshot not older than the call; null before the header came.
    Result<trace::RunPointer> snapshot();
    /// Calls `work` with the store while nothing is taken. Errors: Invalid before the header came;
    /// those of `work`.
    Result<void> withStore(const std::function<Result<void>(LiveStore&)>& work);

    /// Response tokens as they came, for a target that scores them.
    struct NewTokens
    {
        trace::SampleIndex sample{};
        std::vector<std::int32_t> ids;
        bool end = false;
        std::string stopReason;
    };
    /// Called on the run's thread in order, without a lock held; set before start().
    void onTokens(std::function<void(const NewTokens&)> told);
    void start(); ///< begins to take
    void stop();  ///< takes no more; what has come stays. Not from the run's own thread

private:
    class Private;
    std::unique_ptr<Private> m_private;
};

} // namespace moire::wire
