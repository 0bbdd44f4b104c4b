// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace moire::live {

/// How fast rows and bytes come, over about the last second.
class GrowthRate
{
public:
    using Time = std::chrono::steady_clock::time_point;

    /// So many there are at that time.
    void note(Time now, std::uint64_t rows, std::uint64_t bytes);
    double rows() const { return perSecond(&Mark::rows); }   ///< a second
    double bytes() const { return perSecond(&Mark::bytes); } ///< a second

private:
    struct Mark
    {
        Time at;
        std::uint64_t rows;
        std::uint64_t bytes;
    };
    double perSecond(std::uint64_t Mark::*what) const;

    std::deque<Mark> m_marks;
};

} // namespace moire::live
