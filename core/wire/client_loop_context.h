// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/client_loop.h"

#include <zmq.hpp>

namespace moire::wire {

/// Of its own, so that a connection ends without regard to others.
class ClientLoop::Context
{
public:
    zmq::context_t context{1};
};

} // namespace moire::wire
