// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/connection.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moire::live {

enum class SideState
{
    Idle,       ///< not started, or it waits for the reference's prompts
    Connecting, ///< the daemon has not been heard of yet
    Queued,
    Loading,
    Running,
    Waiting,   ///< the model waits for a client: for us, when `waited` grows
    Finished,  ///< all that there is has come; of a file too
    Cancelled, ///< by us or somebody else
    Failed,    ///< it could not be begun, ended in an error, or cannot be received any more
    Lost       ///< the daemon ended before the run did
};
std::string_view nameOf(SideState state);
/// No more rows will come.
inline bool isOver(SideState state)
{
    return state >= SideState::Finished;
}
/// What a daemon's word for the state of a run (wire::state) means when it has ended early.
std::optional<SideState> endedAs(std::string_view word);
/// And while it goes on.
SideState goingOn(std::string_view word, bool hasRows);

/// What a view shows of a side.
struct SideStatus
{
    SideState state = SideState::Idle;
    bool isFile = false;
    std::string source; ///< file or address
    std::string run;    ///< the daemon's name for it
    wire::LinkState link = wire::LinkState::Connected;
    Error trouble;              ///< of the link or the run; an empty sentence: none
    std::uint32_t place = 0;    ///< in the daemon's queue
    std::uint64_t rows = 0;     ///< received
    std::uint64_t planned = 0;  ///< at most; 0 = unknown
    std::uint64_t lostRows = 0; ///< in gaps
    wire::StreamCount count;
    double rowsPerSecond = 0;  ///< over about the last second
    double bytesPerSecond = 0; ///< ditto
    double waited = 0;         ///< seconds that the model waited for a client
};

} // namespace moire::live
