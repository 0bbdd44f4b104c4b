// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace moire::capture::device {

/// A fixed set of threads that the kernels share their work among. One caller at a time.
/// No kernel's result depends on how many there are.
class Workers
{
public:
    /// `threads` counts the caller; 0 = one for each processor.
    explicit Workers(unsigned threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    unsigned threads() const { return static_cast<unsigned>(m_threads.size()) + 1; }

    /// Calls task(i) once for every i < count, from several threads, and returns when all are done.
    /// The task must not throw.
    void run(std::size_t count, const std::function<void(std::size_t)>& task);

private:
    void serve();
    void work();

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_idle;
    const std::function<void(std::size_t)>* m_task = nullptr;
    std::size_t m_count = 0;
    std::atomic<std::size_t> m_next{0};
    std::size_t m_busy = 0;
    std::size_t m_round = 0;
    bool m_stopping = false;
    std::vector<std::thread> m_threads;
};

} // namespace moire::capture::device
