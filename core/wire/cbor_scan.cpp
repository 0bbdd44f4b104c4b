// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/cbor_scan.h"

#include "core/base/text.h"
#include "core/wire/protocol.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace moire::wire {

namespace {

/// RFC 8949, section 3.1: the first three bits of an item.
enum class Major : std::uint8_t
{
    Unsigned = 0,
    Negative = 1,
    Bytes = 2,
    Text = 3,
    Array = 4,
    Map = 5,
    Tag = 6,
    Simple = 7,
};

constexpr unsigned majorShift = 5;
constexpr unsigned infoMask = 0x1f;
constexpr unsigned oneByteFollows = 24; ///< 24 … 27: 1, 2, 4, 8 bytes of argument follow
constexpr unsigned twoBytesFollow = 25; ///< of Simple: half, single, double up to 27
constexpr unsigned eightBytesFollow = 27;
constexpr std::uint64_t simpleFalse = 20; ///< 20, 21, 22: false, true, null
constexpr std::uint64_t simpleNull = 22;

class Scan
{
public:
    Scan(std::span<const std::byte> cbor, std::size_t maxItems)
        : m_cbor(cbor)
        , m_itemsLeft(maxItems)
    {}

    Result<void> run()
    {
        m_open[0] = 1;
        while (true) {
            while (m_depth > 0 && m_open[m_depth] == 0)
                --m_depth;
            if (m_open[m_depth] == 0)
                break;
            --m_open[m_depth];
            if (auto read = item(); !read)
                return read;
        }
        return m_at == m_cbor.size() ? Result<void>() : wrong("has bytes behind its end");
    }

private:
    Error wrong(const char* what) const
    {
        return {
            Errc::Damaged, std::string("the header ") + what, "byte " + std::to_string(m_at), {}};
    }

    Result<void> item()
    {
        if (m_itemsLeft-- == 0)
            return wrong("has too many items");
        if (m_at >= m_cbor.size())
            return wrong("is cut short");
        const auto first = std::to_integer<unsigned>(m_cbor[m_at++]);
        const auto major = static_cast<Major>(first >> majorShift);
        const unsigned info = first & infoMask;
        if (info > eightBytesFollow)
            return wrong("uses an indefinite length or a reserved form");
        std::uint64_t argument = info;
        if (info >= oneByteFollows) {
            const std::size_t bytes = std::size_t{1} << (info - oneByteFollows);
            if (bytes > m_cbor.size() - m_at)
                return wrong("is cut short");
            argument = 0;
            for (std::size_t i = 0; i < bytes; ++i)
                argument = argument << 8U | std::to_integer<std::uint64_t>(m_cbor[m_at++]);
        }
        return content(major, info, argument);
    }

    Result<void> content(Major major, unsigned info, std::uint64_t argument)
    {
        switch (major) {
        case Major::Unsigned:
        case Major::Negative:
            return argument > std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                       ? wrong("has an integer beyond 64 bits with sign")
                       : Result<void>();
        case Major::Bytes:
        case Major::Text:
            return string(major == Major::Text, argument);
        case Major::Array:
            return enter(argument);
        case Major::Map:
            return argument > m_cbor.size() ? wrong("is cut short") : enter(2 * argument);
        case Major::Tag:
            return wrong("has a tag");
        case Major::Simple:
            break;
        }
        if (info >= twoBytesFollow || (argument >= simpleFalse && argument <= simpleNull))
            return {};
        return wrong("has a simple value that means nothing here");
    }

    Result<void> string(bool text, std::uint64_t length)
    {
        if (length > m_cbor.size() - m_at)
            return wrong("is cut short");
        const auto bytes = m_cbor.subspan(m_at, length);
        if (text && !base::isValidUtf8({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
            return wrong("has text that is not UTF-8");
        m_at += length;
        return {};
    }

    Result<void> enter(std::uint64_t items)
    {
        // Every item takes a byte at least.
        if (items > m_cbor.size() - m_at)
            return wrong("is cut short");
        if (m_depth == maxNesting)
            return wrong("is nested too deeply");
        m_open[++m_depth] = items;
        return {};
    }

    std::span<const std::byte> m_cbor;
    std::size_t m_at = 0;
    std::size_t m_itemsLeft;
    std::size_t m_depth = 0;
    std::array<std::uint64_t, maxNesting + 1> m_open{}; ///< items still to come, by depth
};

} // namespace

Result<void> scanCbor(std::span<const std::byte> cbor, std::size_t maxItems)
{
    return Scan(cbor, maxItems).run();
}

} // namespace moire::wire
