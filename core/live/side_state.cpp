// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/side_state.h"

#include "core/wire/protocol.h"

namespace moire::live {

std::string_view nameOf(SideState state)
{
    switch (state) {
    case SideState::Idle:
        return "idle";
    case SideState::Connecting:
        return "connecting";
    case SideState::Queued:
        return "queued";
    case SideState::Loading:
        return "loading";
    case SideState::Running:
        return "running";
    case SideState::Waiting:
        return "waiting";
    case SideState::Finished:
        return "finished";
    case SideState::Cancelled:
        return "cancelled";
    case SideState::Failed:
        return "failed";
    case SideState::Lost:
        break;
    }
    return "lost";
}

std::optional<SideState> endedAs(std::string_view word)
{
    if (word == wire::state::cancelled)
        return SideState::Cancelled;
    if (word == wire::state::failed)
        return SideState::Failed;
    if (word == wire::state::lost)
        return SideState::Lost;
    return std::nullopt;
}

SideState goingOn(std::string_view word, bool hasRows)
{
    if (word == wire::state::waiting)
        return SideState::Waiting;
    if (hasRows || word == wire::state::running || word == wire::state::finished)
        return SideState::Running;
    return word == wire::state::loading ? SideState::Loading : SideState::Queued;
}

} // namespace moire::live
