// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_messages.h"

#include <cstring>
#include <optional>
#include <utility>

namespace moire::wire {

namespace {

template <class Number>
void put(std::vector<std::byte>& to, Number number)
{
    const auto bytes = std::as_bytes(std::span(&number, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void put(std::vector<std::byte>& to, std::span<const std::byte> bytes)
{
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Takes pieces off the front of a frame; the pieces share its bytes.
class Taker
{
public:
    explicit Taker(const Frame& frame)
        : m_frame(frame)
    {}

    bool empty() const { return m_frame.bytes.empty(); }
    template <class Number>
    std::optional<Number> number()
    {
        const auto taken = piece(sizeof(Number));
        Number number{};
        if (!taken)
            return std::nullopt;
        std::memcpy(&number, taken->bytes.data(), sizeof number);
        return number;
    }
    std::optional<Frame> piece(std::uint64_t size)
    {
        if (size > m_frame.bytes.size())
            return std::nullopt;
        const Frame taken{m_frame.owner, m_frame.bytes.first(size)};
        m_frame.bytes = m_frame.bytes.subspan(size);
        return taken;
    }

private:
    Frame m_frame;
};

std::optional<Packed> takeMessage(Taker& taker, const MessageLimits& limits)
{
    const auto headerBytes = taker.number<std::uint32_t>();
    auto header = headerBytes ? taker.piece(*headerBytes) : std::nullopt;
    const auto frames = header ? taker.number<std::uint32_t>() : std::nullopt;
    if (!frames || *frames > limits.frames)
        return std::nullopt;
    Packed packed{std::move(*header), {}};
    for (std::uint32_t i = 0; i < *frames; ++i) {
        const auto bytes = taker.number<std::uint64_t>();
        auto frame = bytes ? taker.piece(*bytes) : std::nullopt;
        if (!frame)
            return std::nullopt;
        packed.frames.push_back(std::move(*frame));
    }
    return packed;
}

} // namespace

Frame packTogether(std::span<const Packed> messages)
{
    std::vector<std::byte> bytes;
    for (const Packed& message : messages) {
        put(bytes, static_cast<std::uint32_t>(message.header.size()));
        put(bytes, message.header.bytes);
        put(bytes, static_cast<std::uint32_t>(message.frames.size()));
        for (const Frame& frame : message.frames) {
            put(bytes, static_cast<std::uint64_t>(frame.size()));
            put(bytes, frame.bytes);
        }
    }
    return Frame::of(std::move(bytes));
}

Result<std::vector<Packed>> unpackTogether(const Frame& frame, const MessageLimits& limits)
{
    Taker taker(frame);
    std::vector<Packed> messages;
    while (!taker.empty()) {
        auto message = takeMessage(taker, limits);
        if (!message)
            return Error{Errc::Damaged, "packed messages are cut short", {}, {}};
        messages.push_back(std::move(*message));
    }
    return messages;
}

} // namespace moire::wire
