// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/wire/message.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace moire::wire {

/// Memory of joined frames that is used again once the transport has taken it: fresh memory costs
/// the system as much as the copy into it. Any thread; what is lent may outlive the pool.
class JoinPool
{
public:
    /// At least `bytes`, to be written to.
    std::shared_ptr<std::byte[]> lend(std::size_t bytes);

private:
    struct Idle
    {
        std::mutex mutex;
        std::vector<std::pair<std::size_t, std::unique_ptr<std::byte[]>>> buffers; ///< by size
    };
    std::shared_ptr<Idle> m_idle = std::make_shared<Idle>();
};

/// Frames of a message as they travel on the stream socket (PROTOCOL.md, 5): small neighbours are
/// copied into one, since ZeroMQ hands the system at most 8 KiB at a time of what is small, and of
/// larger frames the first 8 KiB by themselves. Frames of 4 KiB each go at a fifth of the speed of
/// one of 512 KiB (measured on loopback).
struct JoinedFrames
{
    Fields sizes; ///< [[n, bytes]]: the sizes of the frames that were joined
    std::vector<Frame> parts;
};
JoinedFrames joinFrames(std::span<const Frame> frames, JoinPool& pool);

/// The frames again, which lie in the parts. The error is about the peer.
Result<std::vector<Frame>> splitFrames(const Fields& sizes, std::span<const Frame> parts);

} // namespace moire::wire
