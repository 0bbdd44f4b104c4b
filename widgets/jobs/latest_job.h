// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <QMetaObject>
#include <QObject>
#include <QThreadPool>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace moire::widgets {

/// Runs one background task at a time on behalf of its owner. start() and the destructor cancel the
/// previous task; the destructor also waits for it, so tasks look at their token often. `done` runs
/// in the owner's thread, for the newest task only, and never after the LatestJob is gone. An
/// exception of the task arrives as an Error.
class LatestJob : public QObject
{
public:
    explicit LatestJob(QObject* owner, QThreadPool& pool = *QThreadPool::globalInstance())
        : QObject(owner)
        , m_pool(pool)
    {}
    ~LatestJob() override
    {
        cancel();
        m_running->wait();
    }

    /// The task's result will not be delivered.
    void cancel()
    {
        m_stop.request_stop();
        ++m_generation;
        m_pending = false;
    }

    /// True from start() until the result was delivered or cancelled. Owner's thread.
    bool isPending() const { return m_pending; }

    /// Work: Result<T>(std::stop_token); Done: void(Result<T>); both copyable (Qt 6.4's pool).
    template <class Work, class Done>
    void start(Work work, Done done)
    {
        cancel();
        m_stop = std::stop_source{};
        m_pending = true;
        m_running->begin();
        m_pool.start([this, token = m_stop.get_token(), generation = m_generation,
                      running = m_running, task = std::optional<Work>(std::move(work)),
                      receiver = std::optional<Done>(std::move(done))]() mutable {
            if (!token.stop_requested())
                deliver(generation, guarded(*task, token), std::move(*receiver));
            task.reset();
            receiver.reset(); // nothing of the caller's outlives end()
            running->end();
        });
    }

private:
    template <class Work>
    static auto guarded(Work& work, std::stop_token token) -> decltype(work(token))
    {
        try {
            return work(token);
        } catch (const std::exception& e) {
            return Error{Errc::Internal, e.what(), {}, "please report this as a fault of Moire"};
        }
    }

    template <class Value, class Done>
    void deliver(quint64 generation, Value value, Done done)
    {
        QMetaObject::invokeMethod(
            this,
            [this, generation, result = std::move(value), receiver = std::move(done)]() mutable {
                if (generation != m_generation)
                    return;
                m_pending = false;
                receiver(std::move(result));
            },
            Qt::QueuedConnection);
    }

    /// Counts the tasks that are still on the pool.
    class Running
    {
    public:
        void begin()
        {
            const std::lock_guard lock(m_mutex);
            ++m_count;
        }
        void end()
        {
            const std::lock_guard lock(m_mutex);
            --m_count;
            m_idle.notify_all();
        }
        void wait()
        {
            std::unique_lock lock(m_mutex);
            m_idle.wait(lock, [this] { return m_count == 0; });
        }

    private:
        std::mutex m_mutex;
        std::condition_variable m_idle;
        int m_count = 0;
    };

    QThreadPool& m_pool;
    std::stop_source m_stop;
    std::shared_ptr<Running> m_running = std::make_shared<Running>();
    quint64 m_generation = 0; // owner's thread only
    bool m_pending = false;
};

} // namespace moire::widgets
