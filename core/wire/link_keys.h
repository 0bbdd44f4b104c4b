// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/connection.h"

#include <optional>
#include <string>

namespace moire::wire {

/// Reads the keys of a link as people name them into `options`: the file with one's own pair, and
/// the daemon's public key or a file that holds it. Errors: those of readKeyPair() and
/// readPublicKey().
Result<void> readLinkKeys(const std::optional<std::string>& own,
                          const std::optional<std::string>& server, ConnectionOptions& options);

} // namespace moire::wire
