// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/message.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace moire::wire {

/// A reply on its way from whoever made it to the thread that sends it.
struct Answered
{
    std::string session;
    std::int64_t id = 0;
    Message reply;
};

/// Replies, from any thread. Outlives the hub as long as somebody has still to answer.
class Mailbox : public std::enable_shared_from_this<Mailbox>
{
public:
    explicit Mailbox(std::function<void()> wake);

    void post(Answered answered);
    std::vector<Answered> take();
    /// Nobody takes any more.
    void close();

    /// Posts the first reply that it is given; when it is forgotten without one, that it was.
    std::function<void(Message)> answer(const std::string& session, std::int64_t id);

private:
    std::mutex m_mutex;
    std::function<void()> m_wake;
    std::vector<Answered> m_answered;
    bool m_closed = false;
};

} // namespace moire::wire
