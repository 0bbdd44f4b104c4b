// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/bpe_merges.h"

#include <queue>

#include <functional>
#include <tuple>

namespace moire::capture {

namespace {

constexpr std::uint64_t keyOf(std::int32_t first, std::int32_t second)
{
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32U
           | static_cast<std::uint32_t>(second);
}

constexpr std::int32_t none = -1;

/// A symbol of the word in a doubly linked list; `id` is none once it was merged away.
struct Link
{
    std::int32_t id;
    std::int64_t previous;
    std::int64_t next;
};

/// A merge that was possible when it was queued; it may have expired since.
struct Candidate
{
    std::uint32_t rank;
    std::int64_t position;
    std::int32_t merged;
    friend bool operator>(const Candidate& a, const Candidate& b)
    {
        return std::tie(a.rank, a.position) > std::tie(b.rank, b.position);
    }
};

} // namespace

void BpeMerges::add(std::int32_t first, std::int32_t second, std::uint32_t rank,
                    std::int32_t merged)
{
    m_table.insert_or_assign(keyOf(first, second), Merge{rank, merged});
}

const BpeMerges::Merge* BpeMerges::find(std::int32_t first, std::int32_t second) const
{
    const auto found = m_table.find(keyOf(first, second));
    return found == m_table.end() ? nullptr : &found->second;
}

void BpeMerges::merge(std::vector<std::int32_t>& symbols) const
{
    std::vector<Link> links;
    links.reserve(symbols.size());
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto enqueue = [&](std::int64_t position) {
        const Link& link = links[static_cast<std::size_t>(position)];
        if (link.next == none)
            return;
        if (const Merge* m = find(link.id, links[static_cast<std::size_t>(link.next)].id))
            queue.push({m->rank, position, m->merged});
    };
    const auto count = static_cast<std::int64_t>(symbols.size());
    for (std::int64_t i = 0; i < count; ++i)
        links.push_back(
            {symbols[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : none});
    for (std::int64_t i = 0; i < count; ++i)
        enqueue(i);

    while (!queue.empty()) {
        const Candidate top = queue.top();
        queue.pop();
        Link& link = links[static_cast<std::size_t>(top.position)];
        if (link.id == none || link.next == none)
            continue;
        Link& right = links[static_cast<std::size_t>(link.next)];
        const Merge* current = find(link.id, right.id);
        if (!current || current->merged != top.merged)
            continue;
        link.id = top.merged;
        link.next = right.next;
        right.id = none;
        if (link.next != none)
            links[static_cast<std::size_t>(link.next)].previous = top.position;
        if (link.previous != none)
            enqueue(link.previous);
        enqueue(top.position);
    }
    symbols.clear();
    for (const Link& link : links)
        if (link.id != none)
            symbols.push_back(link.id);
}

} // namespace moire::capture
