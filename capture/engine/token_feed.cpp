// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/token_feed.h"

#include <algorithm>
#include <string>
#include <utility>

namespace moire::capture {

TokenFeed::TokenFeed(const Limits& limits)
    : m_limits(limits)
    , m_responses(limits.samples)
{}

Result<void> TokenFeed::add(trace::SampleIndex sample, std::optional<std::uint64_t> first,
                            std::span<const std::int32_t> ids, bool end)
{
    const std::string place = "sample " + std::to_string(indexOf(sample));
    const auto unknown = std::find_if(ids.begin(), ids.end(), [this](std::int32_t id) {
        return id < 0 || static_cast<std::uint32_t>(id) >= m_limits.vocabulary;
    });
    if (unknown != ids.end())
        return Error{Errc::Invalid,
                     "token id " + std::to_string(*unknown) + " is outside the vocabulary of "
                         + std::to_string(m_limits.vocabulary),
                     place, "Feed tokens of a run of the same model"};
    const std::lock_guard lock(m_mutex);
    if (indexOf(sample) >= m_responses.size())
        return Error{Errc::NotFound, "there is no such sample", place,
                     "The samples are those of the run's prompts, from 0"};
    Response& response = m_responses[indexOf(sample)];
    const std::uint64_t begin = first.value_or(response.count);
    if (begin > response.count)
        return Error{Errc::Invalid,
                     "tokens are missing between place " + std::to_string(response.count) + " and "
                         + std::to_string(begin),
                     place, "Feed them in order"};
    ids = ids.subspan(std::min<std::uint64_t>(ids.size(), response.count - begin));
    if (response.ended && !ids.empty())
        return Error{Errc::Invalid, "its response has ended", place, "Feed tokens before the end"};
    if (ids.size() > m_limits.tokens - response.count)
        return Error{Errc::Invalid,
                     "more than the " + std::to_string(m_limits.tokens)
                         + " tokens that were announced",
                     place, "Say with max-new how many can come"};
    response.waiting.insert(response.waiting.end(), ids.begin(), ids.end());
    response.count += ids.size();
    response.ended |= end;
    m_changed.notify_all();
    return {};
}

Result<TokenFeed::Taken> TokenFeed::take(trace::SampleIndex sample, const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    Response& response = m_responses.at(indexOf(sample));
    const bool came = m_changed.wait(
        lock, stop, [&response] { return !response.waiting.empty() || response.ended; });
    if (!came)
        return Error{Errc::Cancelled, "the run was cancelled", {}, {}};
    return Taken{std::exchange(response.waiting, {}), response.ended};
}

} // namespace moire::capture
