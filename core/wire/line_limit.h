// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace moire::wire {

/// Lets few lines of the log through in a period and counts the rest, so that a peer cannot fill a
/// disk with them.
class LineLimit
{
public:
    using Time = std::chrono::steady_clock::time_point;
    explicit LineLimit(std::function<void(const std::string&)> log);

    void say(const std::string& line, Time now);
    /// Says how many lines were left out, once the period is over.
    void look(Time now);

private:
    std::function<void(const std::string&)> m_log;
    Time m_began{};
    unsigned m_said = 0;
    std::uint64_t m_left = 0;
};

} // namespace moire::wire
