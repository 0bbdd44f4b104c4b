// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/link_keys.h"

#include <utility>

namespace moire::wire {

namespace {

Error withHint(Error error)
{
    if (error.hint.empty())
        error.hint = "Name a file that moire-capture keygen wrote";
    return error;
}

} // namespace

Result<void> readLinkKeys(const std::optional<std::string>& own,
                          const std::optional<std::string>& server, ConnectionOptions& options)
{
    if (own) {
        auto pair = readKeyPair(*own);
        if (!pair)
            return withHint(pair.error());
        options.own = *std::move(pair);
    }
    if (server) {
        auto pinned = readPublicKey(*server);
        if (!pinned)
            return withHint(pinned.error());
        options.serverKey = *std::move(pinned);
    }
    return {};
}

} // namespace moire::wire
