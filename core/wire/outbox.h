// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/flight.h"
#include "core/wire/message.h"

#include <memory>
#include <string>
#include <vector>

namespace moire::wire {

/// Where what a daemon says goes. Never blocks.
class Outbox
{
public:
    virtual ~Outbox() = default;
    enum class Socket
    {
        Control,
        Stream
    };
    enum class Sent
    {
        Yes,
        Full, ///< the peer's pipe; nothing was sent
        Gone  ///< the peer is there no more
    };
    /// Sends the frames as one message to the peer with that routing id. `flight` (may be null) was
    /// not told yet: of a message that goes `bytes` are added to it, and land when the transport
    /// has taken it or given it up.
    virtual Sent send(Socket socket, const std::string& peer, const std::vector<Frame>& frames,
                      const std::shared_ptr<Flight>& flight, std::size_t bytes) = 0;
};

} // namespace moire::wire
