// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

namespace moire::wire {

/// What has been handed to the transport for somebody and not yet been taken by it. Any thread.
class Flight
{
public:
    /// `landed`: called, by the transport's thread, when less than what was asked for is left.
    explicit Flight(std::function<void()> landed)
        : m_landed(std::move(landed))
    {}

    void add(std::size_t bytes)
    {
        ++m_messages;
        m_bytes += bytes;
    }
    void land(std::size_t bytes)
    {
        m_bytes -= bytes;
        --m_messages;
        if (isBelow() && m_asked.exchange(false))
            m_landed();
    }
    /// Asks to be told once, when at most so much is left; false when that is so already.
    bool ask(std::size_t bytes, std::size_t messages)
    {
        m_belowBytes = bytes;
        m_belowMessages = messages;
        m_asked = true;
        return !(isBelow() && m_asked.exchange(false));
    }

    std::size_t bytes() const { return m_bytes; }
    std::size_t messages() const { return m_messages; }

private:
    bool isBelow() const { return m_bytes <= m_belowBytes && m_messages <= m_belowMessages; }

    std::function<void()> m_landed;
    std::atomic<std::size_t> m_bytes{0};
    std::atomic<std::size_t> m_messages{0};
    std::atomic<std::size_t> m_belowBytes{0};
    std::atomic<std::size_t> m_belowMessages{0};
    std::atomic<bool> m_asked{false};
};

} // namespace moire::wire
