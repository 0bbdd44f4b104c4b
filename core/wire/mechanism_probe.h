// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/address.h"

#include <optional>
#include <string>

namespace moire::wire {

/// The security mechanism ("NULL", "CURVE") that a ZMTP peer names in its greeting, asked on a
/// connection of its own: a peer that wants another one may hang up before ZeroMQ has read what it
/// says. Nothing when nobody answers within a second, or not as ZMTP 3 (RFC 23). Blocks so long.
std::optional<std::string> mechanismAt(const Address& address);

} // namespace moire::wire
