// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/server_socket.h"

#include "core/wire/protocol.h"
#include "core/wire/zmq_parts.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace moire::wire {

namespace {

/// A copy of so little is cheaper than keeping count of it.
constexpr std::size_t copiedBytes = 1024;

/// What the transport holds of one message.
class Cargo
{
public:
    Cargo(std::vector<Frame> frames, std::shared_ptr<Flight> flight, std::size_t bytes)
        : m_frames(std::move(frames))
        , m_flight(std::move(flight))
        , m_bytes(bytes)
    {
        if (m_flight)
            m_flight->add(m_bytes);
    }
    ~Cargo()
    {
        if (m_flight)
            m_flight->land(m_bytes);
    }
    Cargo(const Cargo&) = delete;
    Cargo& operator=(const Cargo&) = delete;

    const std::vector<Frame>& frames() const { return m_frames; }
    void hold() { m_holders.fetch_add(1, std::memory_order_relaxed); }
    void letGo()
    {
        if (m_holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

private:
    std::vector<Frame> m_frames;
    std::shared_ptr<Flight> m_flight;
    std::size_t m_bytes;
    std::atomic<unsigned> m_holders{1};
};

void taken(void*, void* cargo)
{
    static_cast<Cargo*>(cargo)->letGo();
}

bool makeCopy(zmq_msg_t& message, const void* bytes, std::size_t size)
{
    if (zmq_msg_init_size(&message, size) != 0)
        return false;
    if (size > 0)
        std::memcpy(zmq_msg_data(&message), bytes, size);
    return true;
}

bool makeShared(zmq_msg_t& message, const Frame& frame, Cargo& cargo)
{
    cargo.hold();
    // ZeroMQ does not write to what it sends.
    if (zmq_msg_init_data(&message, const_cast<std::byte*>(frame.bytes.data()), frame.size(), taken,
                          &cargo)
        == 0)
        return true;
    cargo.letGo();
    return false;
}

/// 0, or the error's number.
int put(void* socket, zmq_msg_t& message, bool more)
{
    while (zmq_msg_send(&message, socket, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0) {
        if (zmq_errno() == EINTR)
            continue;
        const int failed = zmq_errno();
        zmq_msg_close(&message);
        return failed;
    }
    return 0;
}

} // namespace

std::optional<Received> receiveFrom(void* socket)
{
    Received received;
    bool first = true;
    while (true) {
        zmq::message_t part;
        if (zmq_msg_recv(part.handle(), socket, ZMQ_DONTWAIT) < 0) {
            if (zmq_errno() == EINTR)
                continue;
            return std::nullopt; // only ever before the first frame
        }
        const bool more = part.more();
        if (first) {
            received.peer = part.to_string();
            first = false;
        } else {
            if (const char* key = zmq_msg_gets(part.handle(), "User-Id"))
                received.key = key;
            received.connection = zmq_msg_get(part.handle(), ZMQ_SRCFD);
            if (received.frames.size() <= maxFrames + 1)
                received.frames.push_back(frameOf(std::move(part)));
        }
        if (!more)
            return received;
    }
}

Outbox::Sent sendOn(void* socket, std::string_view first, const std::vector<Frame>& frames,
                    const std::shared_ptr<Flight>& flight, std::size_t bytes)
{
    zmq_msg_t message;
    if (!makeCopy(message, first.data(), first.size()))
        return Outbox::Sent::Full;
    if (const int failed = put(socket, message, true); failed != 0)
        return failed == EAGAIN ? Outbox::Sent::Full : Outbox::Sent::Gone;
    auto* cargo = new Cargo(frames, flight, bytes);
    const auto largest = std::max_element(frames.begin(), frames.end(), [](auto& one, auto& other) {
        return one.size() < other.size();
    });
    auto sent = Outbox::Sent::Yes;
    for (const Frame& frame : cargo->frames()) {
        // The largest is shared in any case: it says when the message has been taken.
        const bool copied = frame.size() <= copiedBytes
                            && &frame - cargo->frames().data() != largest - frames.begin();
        const bool made = copied ? makeCopy(message, frame.bytes.data(), frame.size())
                                 : makeShared(message, frame, *cargo);
        const bool more = &frame != &cargo->frames().back();
        if (!made || put(socket, message, more) != 0) {
            // A message cannot be given up in the middle; without memory the peer has to go.
            sent = Outbox::Sent::Gone;
            break;
        }
    }
    cargo->letGo();
    return sent;
}

} // namespace moire::wire
