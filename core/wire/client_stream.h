// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/stream_intake.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace moire::wire {

/// A stream between the thread that takes its messages and the connection's thread.
class ClientStream
{
public:
    /// `wake` gets the connection's thread to look at the stream.
    ClientStream(std::string run, const StreamOptions& options, std::function<void()> wake)
        : m_intake(std::move(run), options)
        , m_wake(std::move(wake))
    {}

    Result<std::optional<Message>> next(std::chrono::milliseconds wait);
    bool ended() const;
    StreamCount count() const;
    /// Nobody takes any more.
    void abandon();

    /// The connection's thread works on the intake; the taker is told afterwards.
    template <class Work>
    auto with(Work&& work)
    {
        // Without the lock: who is woken with it held sleeps again at once.
        struct Teller
        {
            std::condition_variable& something;
            bool due = false;
            ~Teller()
            {
                if (due)
                    something.notify_all();
            }
        } teller{m_something};
        const std::lock_guard lock(m_mutex);
        struct Look
        {
            const StreamIntake& intake;
            bool& due;
            bool before = intake.somethingToTake();
            ~Look() { due = !before && intake.somethingToTake(); }
        } look{m_intake, teller.due};
        return work(m_intake);
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_something;
    StreamIntake m_intake;
    std::function<void()> m_wake;
};

/// What a client holds of it.
class StreamHandle : public RunStream
{
public:
    explicit StreamHandle(std::shared_ptr<ClientStream> stream)
        : m_stream(std::move(stream))
    {}
    ~StreamHandle() override { m_stream->abandon(); }
    Result<std::optional<Message>> next(std::chrono::milliseconds wait) override
    {
        return m_stream->next(wait);
    }
    bool ended() const override { return m_stream->ended(); }
    StreamCount count() const override { return m_stream->count(); }

private:
    std::shared_ptr<ClientStream> m_stream;
};

} // namespace moire::wire
