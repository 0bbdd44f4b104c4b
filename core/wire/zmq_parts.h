// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/message.h"

#include <zmq.hpp>

#include <cstdint>
#include <optional>

namespace moire::wire {

/// A part as it was received, its bytes not copied.
Frame frameOf(zmq::message_t received);

/// What a socket's monitor tells: zmq_socket_monitor(3).
struct SocketEvent
{
    std::uint16_t number = 0; ///< ZMQ_EVENT_…
    std::uint32_t value = 0;  ///< a descriptor or an error's number
};
/// The next event that has come; nothing when none has.
std::optional<SocketEvent> nextEventOf(zmq::socket_t& monitor);

} // namespace moire::wire
