// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace moire::capture {

/// One thread that does what would hold up the one that asks, in order.
class TaskThread
{
public:
    /// A task is told whether it is to be done, or only to say that the thread ends.
    using Task = std::function<void(bool ending)>;

    explicit TaskThread(std::size_t most)
        : m_most(most)
        , m_thread([this](const std::stop_token& stop) { work(stop); })
    {}

    /// False when too many wait already, or the thread has ended.
    bool add(Task task);
    /// Waits for the task that is being done and ends the others.
    void stop();

private:
    void work(const std::stop_token& stop);

    std::size_t m_most;
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Task> m_tasks;
    bool m_ended = false;
    std::jthread m_thread; ///< last: it uses the others
};

} // namespace moire::capture
