// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/live/live_side.h"

#include <memory>

namespace moire::live {

enum class Which
{
    Reference,
    Target
};

struct PairOptions
{
    SideOptions reference;
    SideOptions target;
    /// A target that is begun here scores the reference's tokens (`forced`, `steps`): as they come
    /// when the reference is a daemon's run, else those of the file. Its request says neither
    /// prompts nor how many tokens. False: its request stands as it is.
    bool score = true;
};

/// Two sides that run at once, each from a daemon or a file. The reference runs free; its tokens go
/// to the target as they come, which therefore lags by the rows on their way. Any thread may call.
class LivePair
{
public:
    /// `changed` as LiveSide's, of both sides.
    LivePair(PairOptions options, LiveSide::Changed changed);
    ~LivePair();

    void start();
    /// Cancels both; returns at once.
    void cancel();
    SideStatus status(Which which) const;
    /// No more rows will come on either side.
    bool isOver() const;
    Result<trace::RunPointer> snapshot(Which which);
    Result<void> save(Which which, const std::filesystem::path& path);

private:
    class State;
    std::unique_ptr<State> m_state;
};

} // namespace moire::live
