// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_broadcast.h"

#include "core/wire/protocol.h"
#include "core/wire/server_socket.h"

#include <zmq.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace moire::wire {

namespace {

constexpr int messagesInARound = 64;
/// Topics that are looked at; with more of them everything is sent.
constexpr std::size_t mostTopics = 4096;

} // namespace

RunBroadcast::RunBroadcast()
    : m_flight(std::make_shared<Flight>([] {}))
{}

void RunBroadcast::add(std::shared_ptr<RunLog> log)
{
    const std::lock_guard lock(m_mutex);
    m_added.push_back({std::move(log), 0});
}

void RunBroadcast::hear(void* socket)
{
    zmq::message_t message;
    while (zmq_msg_recv(message.handle(), socket, ZMQ_DONTWAIT) >= 0) {
        if (message.size() == 0)
            continue;
        const std::string topic(message.data<char>() + 1, message.size() - 1);
        if (*message.data<char>() == 1 && m_topics.size() < mostTopics)
            m_topics.insert(topic);
        else if (*message.data<char>() == 0)
            m_topics.erase(topic);
    }
}

bool RunBroadcast::isWanted(const std::string& topic) const
{
    return m_topics.size() >= mostTopics
           || std::any_of(m_topics.begin(), m_topics.end(),
                          [&](const std::string& begin) { return topic.starts_with(begin); });
}

bool RunBroadcast::pump(void* socket)
{
    {
        const std::lock_guard lock(m_mutex);
        std::move(m_added.begin(), m_added.end(), std::back_inserter(m_runs));
        m_added.clear();
    }
    int sent = 0;
    for (Entry& entry : m_runs) {
        const std::string topic = "run/" + entry.log->run() + "/";
        const std::uint64_t size = entry.log->size();
        if (!isWanted(topic))
            entry.next = size;
        for (; entry.next < size && sent < messagesInARound; ++entry.next) {
            if (m_flight->bytes() >= maxBroadcastBytes || !entry.log->isHeld(entry.next))
                continue;
            const auto packed = entry.log->read(entry.next, {});
            if (!packed)
                continue;
            std::vector<Frame> frames{packed->header};
            frames.insert(frames.end(), packed->frames.begin(), packed->frames.end());
            sendOn(socket, topic, frames, m_flight, packed->bytes());
            ++sent;
        }
    }
    std::erase_if(m_runs, [](const Entry& entry) {
        return entry.log->closed() && entry.next >= entry.log->size();
    });
    return sent == messagesInARound;
}

} // namespace moire::wire
