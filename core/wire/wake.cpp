// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/wake.h"

#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace moire::wire {

Wake::Wake()
    : m_handle(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
{
    if (m_handle < 0)
        throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wake::~Wake()
{
    ::close(m_handle);
}

void Wake::notify()
{
    const std::uint64_t one = 1;
    while (::write(m_handle, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void Wake::drain()
{
    std::uint64_t count = 0;
    while (::read(m_handle, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

} // namespace moire::wire
