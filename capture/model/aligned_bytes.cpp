// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/aligned_bytes.h"

#include <cstdint>
#include <new>

namespace moire::capture {

bool isAligned(const void* address)
{
    return reinterpret_cast<std::uintptr_t>(address) % weightAlignment == 0;
}

AlignedBytes::AlignedBytes(std::size_t size)
    : m_size(size)
{
    constexpr std::align_val_t alignment{weightAlignment};
    auto* memory = static_cast<std::byte*>(::operator new[](size, alignment));
    m_memory = std::shared_ptr<std::byte[]>(
        memory, [](std::byte* bytes) { ::operator delete[](bytes, alignment); });
}

} // namespace moire::capture
