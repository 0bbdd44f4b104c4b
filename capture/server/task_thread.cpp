// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/task_thread.h"

#include <utility>

namespace moire::capture {

bool TaskThread::add(Task task)
{
    const std::lock_guard lock(m_mutex);
    if (m_ended || m_tasks.size() >= m_most)
        return false;
    m_tasks.push_back(std::move(task));
    m_changed.notify_one();
    return true;
}

void TaskThread::work(const std::stop_token& stop)
{
    for (;;) {
        Task task;
        {
            std::unique_lock lock(m_mutex);
            if (!m_changed.wait(lock, stop, [this] { return !m_tasks.empty(); })
                || stop.stop_requested())
                return;
            task = std::move(m_tasks.front());
            m_tasks.pop_front();
        }
        task(false);
    }
}

void TaskThread::stop()
{
    m_thread.request_stop();
    if (m_thread.joinable())
        m_thread.join();
    std::deque<Task> left;
    {
        const std::lock_guard lock(m_mutex);
        m_ended = true;
        left.swap(m_tasks);
    }
    for (const Task& task : left)
        task(true);
}

} // namespace moire::capture
