// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/zmq_parts.h"

#include <cstring>
#include <memory>
#include <utility>

namespace moire::wire {

Frame frameOf(zmq::message_t received)
{
    const auto owner = std::make_shared<zmq::message_t>(std::move(received));
    return {owner, {static_cast<const std::byte*>(owner->data()), owner->size()}};
}

std::optional<SocketEvent> nextEventOf(zmq::socket_t& monitor)
{
    while (true) {
        zmq::message_t event;
        zmq::message_t address;
        if (zmq_msg_recv(event.handle(), monitor.handle(), ZMQ_DONTWAIT) < 0)
            return std::nullopt;
        if (event.more())
            zmq_msg_recv(address.handle(), monitor.handle(), ZMQ_DONTWAIT);
        SocketEvent told;
        if (event.size() < sizeof told.number + sizeof told.value)
            continue;
        std::memcpy(&told.number, event.data(), sizeof told.number);
        std::memcpy(&told.value, event.data<std::byte>() + sizeof told.number, sizeof told.value);
        return told;
    }
}

} // namespace moire::wire
