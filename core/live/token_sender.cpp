// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/token_sender.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace moire::live {

void TokenSender::add(const wire::LiveRun::NewTokens& tokens)
{
    const std::scoped_lock lock(m_mutex);
    auto feed = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const wire::Feed& waiting) {
        return waiting.sample == tokens.sample;
    });
    std::int64_t& count = m_count[tokens.sample];
    if (feed == m_waiting.end()) {
        wire::Feed fresh;
        fresh.sample = tokens.sample;
        fresh.first = count;
        feed = m_waiting.insert(m_waiting.end(), std::move(fresh));
    }
    feed->ids.insert(feed->ids.end(), tokens.ids.begin(), tokens.ids.end());
    count += std::ssize(tokens.ids);
    if (tokens.end) {
        feed->end = true;
        feed->stopReason = tokens.stopReason;
    }
}

bool TokenSender::hasTokens() const
{
    const std::scoped_lock lock(m_mutex);
    return !m_waiting.empty();
}

Result<void> TokenSender::send()
{
    while (true) {
        wire::Feed feed;
        {
            const std::scoped_lock lock(m_mutex);
            if (m_waiting.empty())
                return {};
            feed = std::move(m_waiting.front());
            m_waiting.pop_front();
        }
        feed.run = m_run;
        auto sent = m_host->feed(feed);
        if (sent)
            continue;
        // Before what has gathered since for the same sample.
        const std::scoped_lock lock(m_mutex);
        const auto later =
            std::find_if(m_waiting.begin(), m_waiting.end(),
                         [&](const wire::Feed& waiting) { return waiting.sample == feed.sample; });
        if (later != m_waiting.end()) {
            feed.ids.insert(feed.ids.end(), later->ids.begin(), later->ids.end());
            feed.end = later->end;
            feed.stopReason = later->stopReason;
            m_waiting.erase(later);
        }
        m_waiting.push_front(std::move(feed));
        return sent;
    }
}

} // namespace moire::live
