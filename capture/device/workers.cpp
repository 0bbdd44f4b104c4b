// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/workers.h"

#include <algorithm>

namespace moire::capture::device {

Workers::Workers(unsigned threads)
{
    if (threads == 0)
        threads = std::max(1U, std::thread::hardware_concurrency());
    m_threads.reserve(threads - 1);
    for (unsigned i = 1; i < threads; ++i)
        m_threads.emplace_back([this] { serve(); });
}

Workers::~Workers()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

void Workers::work()
{
    for (std::size_t i = m_next.fetch_add(1); i < m_count; i = m_next.fetch_add(1))
        (*m_task)(i);
}

void Workers::serve()
{
    std::size_t seen = 0;
    std::unique_lock lock(m_mutex);
    while (true) {
        m_wake.wait(lock, [&] { return m_stopping || m_round != seen; });
        if (m_stopping)
            return;
        seen = m_round;
        lock.unlock();
        work();
        lock.lock();
        if (--m_busy == 0)
            m_idle.notify_one();
    }
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& task)
{
    if (m_threads.empty() || count <= 1) {
        for (std::size_t i = 0; i < count; ++i)
            task(i);
        return;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_task = &task;
        m_count = count;
        m_next = 0;
        m_busy = m_threads.size();
        ++m_round;
    }
    m_wake.notify_all();
    work();
    std::unique_lock lock(m_mutex);
    m_idle.wait(lock, [this] { return m_busy == 0; });
}

} // namespace moire::capture::device
