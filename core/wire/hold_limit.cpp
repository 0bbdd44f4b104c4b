// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_log.h"

namespace moire::wire {

bool HoldLimit::isShort(std::size_t wanted) const
{
    const std::size_t now = held;
    return now > 0 && (wanted > bytes || now > bytes - wanted);
}

bool HoldLimit::reserve(std::size_t wanted)
{
    std::size_t now = held;
    while (now == 0 || (wanted <= bytes && now <= bytes - wanted))
        if (held.compare_exchange_weak(now, now + wanted))
            return true;
    return false;
}

void HoldLimit::enter(const std::shared_ptr<RowHolder>& holder)
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_holders, [](const auto& known) { return known.expired(); });
    m_holders.push_back(holder);
}

void HoldLimit::askOthers(const RowHolder& asking, RowHolder::Rows which, std::size_t wanted)
{
    std::vector<std::shared_ptr<RowHolder>> others;
    {
        const std::lock_guard lock(m_mutex);
        for (const auto& known : m_holders)
            if (auto holder = known.lock(); holder && holder.get() != &asking)
                others.push_back(std::move(holder));
    }
    for (const auto& holder : others)
        if (isShort(wanted))
            holder->giveUp(which, wanted);
}

} // namespace moire::wire
