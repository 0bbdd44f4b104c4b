// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/growth_rate.h"

namespace moire::live {

namespace {

constexpr std::chrono::seconds window{1};

} // namespace

void GrowthRate::note(Time now, std::uint64_t rows, std::uint64_t bytes)
{
    m_marks.push_back({now, rows, bytes});
    while (m_marks.size() > 2 && now - m_marks[1].at >= window)
        m_marks.pop_front();
}

double GrowthRate::perSecond(std::uint64_t Mark::*what) const
{
    if (m_marks.size() < 2)
        return 0;
    const Mark& first = m_marks.front();
    const Mark& last = m_marks.back();
    const std::chrono::duration<double> spent = last.at - first.at;
    return spent.count() > 0 ? static_cast<double>(last.*what - first.*what) / spent.count() : 0;
}

} // namespace moire::live
