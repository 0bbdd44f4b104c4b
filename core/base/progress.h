// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

namespace moire::base {

/// How far a piece of work is. The worker writes, anyone reads, no lock, no signal.
struct Progress
{
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};
};

} // namespace moire::base
