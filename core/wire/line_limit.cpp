// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/line_limit.h"

#include <utility>

namespace moire::wire {

namespace {

constexpr std::chrono::seconds period{10};
constexpr unsigned mostLines = 20;

} // namespace

LineLimit::LineLimit(std::function<void(const std::string&)> log)
    : m_log(std::move(log))
{}

void LineLimit::look(Time now)
{
    if (now - m_began < period)
        return;
    if (m_left > 0 && m_log)
        m_log(std::to_string(m_left) + " lines about peers were left out");
    m_began = now;
    m_said = 0;
    m_left = 0;
}

void LineLimit::say(const std::string& line, Time now)
{
    look(now);
    if (m_said == mostLines) {
        ++m_left;
        return;
    }
    ++m_said;
    if (m_log)
        m_log(line);
}

} // namespace moire::wire
