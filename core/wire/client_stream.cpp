// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/client_stream.h"

namespace moire::wire {

Result<std::optional<Message>> ClientStream::next(std::chrono::milliseconds wait)
{
    std::unique_lock lock(m_mutex);
    m_something.wait_for(lock, wait, [this] { return m_intake.somethingToTake(); });
    const bool before = m_intake.creditDue();
    auto message = m_intake.take();
    const bool wakes = !before && m_intake.creditDue();
    // A hole can be asked for once there is room behind what waits.
    const bool drained = m_intake.latest() && !m_intake.somethingToTake();
    lock.unlock();
    if (wakes || drained)
        m_wake();
    return message;
}

bool ClientStream::ended() const
{
    const std::lock_guard lock(m_mutex);
    return m_intake.ended();
}

StreamCount ClientStream::count() const
{
    const std::lock_guard lock(m_mutex);
    return m_intake.count();
}

void ClientStream::abandon()
{
    with([](StreamIntake& intake) {
        intake.fail({Errc::Cancelled, "the stream was closed", {}, {}});
    });
    m_wake();
}

} // namespace moire::wire
