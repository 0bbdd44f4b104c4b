// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace moire::wire {

/// Wakes a thread that waits in a poll (eventfd). Any thread may notify.
class Wake
{
public:
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    void notify();
    void drain(); ///< by the thread that was woken
    int handle() const { return m_handle; }

private:
    int m_handle = -1;
};

} // namespace moire::wire
