// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/outbox.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::wire {

/// A message as a daemon's socket receives it.
struct Received
{
    std::string peer;    ///< routing id
    std::string key;     ///< that ZAP gave the peer, "" = none
    int connection = -1; ///< descriptor
    std::vector<Frame> frames;
};

// On a ZeroMQ socket's handle; nothing blocks.

/// The next message; of one with too many frames so many that it is refused.
std::optional<Received> receiveFrom(void* socket);

/// Sends `first` (a routing id, a topic) and the frames as one message, without a copy of what is
/// large. The flight is told as Outbox says.
Outbox::Sent sendOn(void* socket, std::string_view first, const std::vector<Frame>& frames,
                    const std::shared_ptr<Flight>& flight, std::size_t bytes);

} // namespace moire::wire
