// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/checked.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace moire::capture {

/// Reads little-endian values one after the other out of bytes in memory. Every function returns
/// false, and moves nowhere, when the bytes do not suffice.
class ByteReader
{
public:
    explicit ByteReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {}

    std::uint64_t size() const { return m_bytes.size(); }
    std::uint64_t position() const { return m_position; }
    std::uint64_t left() const { return m_bytes.size() - m_position; }
    std::span<const std::byte> since(std::uint64_t begin) const
    {
        return m_bytes.subspan(begin, m_position - begin);
    }

    bool startsWith(std::string_view text) const
    {
        return left() >= text.size()
               && std::memcmp(m_bytes.data() + m_position, text.data(), text.size()) == 0;
    }
    bool skip(std::uint64_t size)
    {
        if (!base::rangeFits(m_position, size, m_bytes.size()))
            return false;
        m_position += size;
        return true;
    }
    template <class Value>
    bool read(Value& value)
    {
        if (left() < sizeof(Value))
            return false;
        std::memcpy(&value, m_bytes.data() + m_position, sizeof(Value));
        m_position += sizeof(Value);
        return true;
    }
    /// A length of 64 bits, at most `limit`, and so many characters.
    bool text(std::string_view& text, std::uint64_t limit)
    {
        std::uint64_t size = 0;
        const std::uint64_t begin = m_position;
        if (!read(size))
            return false;
        if (size > limit || size > left()) {
            m_position = begin;
            return false;
        }
        text = {reinterpret_cast<const char*>(m_bytes.data() + m_position), size};
        m_position += size;
        return true;
    }

private:
    std::span<const std::byte> m_bytes;
    std::uint64_t m_position = 0;
};

} // namespace moire::capture
