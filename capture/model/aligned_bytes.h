// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace moire::capture {

/// Alignment of every weight: a cache line, and what BLAS libraries look at.
inline constexpr std::size_t weightAlignment = 64;

bool isAligned(const void* address);

/// Memory on the heap with the alignment of weights, uninitialised.
class AlignedBytes
{
public:
    /// Throws std::bad_alloc.
    explicit AlignedBytes(std::size_t size);

    std::span<std::byte> bytes() { return {m_memory.get(), m_size}; }
    std::span<const std::byte> bytes() const { return {m_memory.get(), m_size}; }
    /// The memory, for whoever keeps it alive.
    std::shared_ptr<const void> owner() const { return m_memory; }

private:
    std::shared_ptr<std::byte[]> m_memory;
    std::size_t m_size;
};

} // namespace moire::capture
