// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/mailbox.h"

#include "core/wire/protocol.h"

#include <utility>

namespace moire::wire {

namespace {

/// A request that has to be answered once.
class Pending
{
public:
    Pending(std::shared_ptr<Mailbox> mailbox, std::string session, std::int64_t id)
        : m_mailbox(std::move(mailbox))
        , m_session(std::move(session))
        , m_id(id)
    {}
    ~Pending()
    {
        reply(refusal(reason::internal,
                      {Errc::Internal, "the daemon left the request without an answer", {}, {}}));
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    void reply(Message message)
    {
        if (!m_answered.exchange(true))
            m_mailbox->post({m_session, m_id, std::move(message)});
    }

private:
    std::shared_ptr<Mailbox> m_mailbox;
    std::string m_session;
    std::int64_t m_id;
    std::atomic<bool> m_answered{false};
};

} // namespace

Mailbox::Mailbox(std::function<void()> wake)
    : m_wake(std::move(wake))
{}

void Mailbox::post(Answered answered)
{
    const std::lock_guard lock(m_mutex);
    if (m_closed)
        return;
    m_answered.push_back(std::move(answered));
    if (m_wake)
        m_wake();
}

std::vector<Answered> Mailbox::take()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_answered, {});
}

void Mailbox::close()
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_answered.clear();
    m_wake = nullptr;
}

std::function<void(Message)> Mailbox::answer(const std::string& session, std::int64_t id)
{
    const auto pending = std::make_shared<Pending>(shared_from_this(), session, id);
    return [pending](Message reply) { pending->reply(std::move(reply)); };
}

} // namespace moire::wire
