// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/joined_frames.h"

#include "core/wire/protocol.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace moire::wire {

namespace {

/// A frame of so much goes by itself, and is not copied.
constexpr std::size_t largeFrame = std::size_t{128} << 10U;
/// Small ones are joined up to so much.
constexpr std::size_t largestPart = std::size_t{512} << 10U;
/// Memory in pieces of one of few sizes, the largest that of a part.
constexpr std::size_t smallestBuffer = std::size_t{16} << 10U;
/// A pool keeps as much as the window of a stream.
constexpr std::size_t idleBuffers = streamWindowBytes / largestPart;

Fields sizesOf(std::span<const Frame> frames)
{
    Fields sizes = Fields::array();
    for (std::size_t begin = 0, end = 0; begin < frames.size(); begin = end) {
        for (end = begin + 1; end < frames.size() && frames[end].size() == frames[begin].size();)
            ++end;
        sizes.push_back({end - begin, frames[begin].size()});
    }
    return sizes;
}

Frame joined(std::span<const Frame> frames, std::size_t bytes, JoinPool& pool)
{
    const auto buffer = pool.lend(bytes);
    std::size_t at = 0;
    for (const Frame& frame : frames) {
        if (frame.size() > 0)
            std::memcpy(buffer.get() + at, frame.bytes.data(), frame.size());
        at += frame.size();
    }
    return {buffer, {buffer.get(), bytes}};
}

Error senseless(const char* what)
{
    return {
        Errc::Damaged, std::string("the frames of a message are not as it says: ") + what, {}, {}};
}

/// Takes frames off the front of the parts.
class Cutter
{
public:
    explicit Cutter(std::span<const Frame> parts)
        : m_parts(parts)
    {}
    std::optional<Frame> take(std::uint64_t size)
    {
        if (size == 0)
            return Frame{};
        if (m_at == m_parts.size() || size > m_parts[m_at].size() - m_offset)
            return std::nullopt;
        const Frame& part = m_parts[m_at];
        Frame taken{part.owner, part.bytes.subspan(m_offset, size)};
        m_offset += size;
        if (m_offset == part.size()) {
            m_offset = 0;
            ++m_at;
        }
        return taken;
    }
    bool atEnd() const { return m_at == m_parts.size(); }

private:
    std::span<const Frame> m_parts;
    std::size_t m_at = 0;
    std::size_t m_offset = 0;
};

} // namespace

std::shared_ptr<std::byte[]> JoinPool::lend(std::size_t bytes)
{
    const std::size_t size = std::bit_ceil(std::max(bytes, smallestBuffer));
    std::unique_ptr<std::byte[]> buffer;
    {
        const std::lock_guard lock(m_idle->mutex);
        auto& buffers = m_idle->buffers;
        const auto found = std::find_if(buffers.rbegin(), buffers.rend(),
                                        [&](const auto& idle) { return idle.first == size; });
        if (found != buffers.rend()) {
            buffer = std::move(found->second);
            buffers.erase(std::next(found).base());
        }
    }
    if (!buffer)
        buffer = std::make_unique_for_overwrite<std::byte[]>(size);
    return {buffer.release(), [idle = m_idle, size](std::byte* back) {
                std::unique_ptr<std::byte[]> returned(back);
                const std::lock_guard lock(idle->mutex);
                if (idle->buffers.size() < idleBuffers)
                    idle->buffers.emplace_back(size, std::move(returned));
            }};
}

JoinedFrames joinFrames(std::span<const Frame> frames, JoinPool& pool)
{
    JoinedFrames result{sizesOf(frames), {}};
    for (std::size_t begin = 0, end = 0; begin < frames.size(); begin = end) {
        std::size_t bytes = frames[begin].size();
        const bool alone = bytes >= largeFrame;
        for (end = begin + 1; !alone && end < frames.size() && frames[end].size() < largeFrame
                              && bytes + frames[end].size() <= largestPart;)
            bytes += frames[end++].size();
        if (bytes == 0)
            continue;
        result.parts.push_back(end == begin + 1
                                   ? frames[begin]
                                   : joined(frames.subspan(begin, end - begin), bytes, pool));
    }
    return result;
}

Result<std::vector<Frame>> splitFrames(const Fields& sizes, std::span<const Frame> parts)
{
    if (!sizes.is_array())
        return senseless("the list of sizes is none");
    Cutter cutter(parts);
    std::vector<Frame> frames;
    for (const Fields& entry : sizes) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_unsigned()
            || !entry[1].is_number_unsigned())
            return senseless("a size is none");
        const auto count = entry[0].get<std::uint64_t>();
        const auto size = entry[1].get<std::uint64_t>();
        if (count > maxFrames - frames.size())
            return senseless("there are too many");
        for (std::uint64_t i = 0; i < count; ++i) {
            auto frame = cutter.take(size);
            if (!frame)
                return senseless("one is cut short");
            frames.push_back(*std::move(frame));
        }
    }
    if (!cutter.atEnd())
        return senseless("there are more");
    return frames;
}

} // namespace moire::wire
