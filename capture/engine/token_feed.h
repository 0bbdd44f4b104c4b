// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/records.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace moire::capture {

/// The responses of a run's samples, which arrive while it scores them. Any thread may add; the
/// run's thread takes, and waits where nothing has come.
class TokenFeed
{
public:
    struct Limits
    {
        std::size_t samples = 0;
        std::uint32_t tokens = 0;     ///< at most so many a sample
        std::uint32_t vocabulary = 0; ///< ids are below it
    };
    explicit TokenFeed(const Limits& limits);

    const Limits& limits() const { return m_limits; }
    /// Adds ids from place `first` of the sample's response on, and says whether these are all;
    /// those that it has already are passed over, so that a piece may come twice. Without a place
    /// they go behind what it has. Nothing is added when there is an error: NotFound (no such
    /// sample), Invalid (a hole, an id outside the vocabulary, more tokens than were announced, a
    /// response that has ended).
    Result<void> add(trace::SampleIndex sample, std::optional<std::uint64_t> first,
                     std::span<const std::int32_t> ids, bool end);

    struct Taken
    {
        std::vector<std::int32_t> ids; ///< empty only at the end
        bool ended = false;            ///< none will follow these
    };
    /// What has come for a sample since the last call, once there is something. Errors: Cancelled
    /// when `stop` is requested first.
    Result<Taken> take(trace::SampleIndex sample, const std::stop_token& stop);

private:
    struct Response
    {
        std::vector<std::int32_t> waiting;
        std::uint64_t count = 0; ///< of all that ever came
        bool ended = false;
    };

    Limits m_limits;
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::vector<Response> m_responses;
};

} // namespace moire::capture
