// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/wire/counted_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

std::atomic<std::size_t> inUse{0};
std::atomic<std::size_t> peak{0};

} // namespace

void* operator new(std::size_t size)
{
    void* memory = std::malloc(std::max<std::size_t>(size, 1));
    if (memory == nullptr)
        throw std::bad_alloc();
    const std::size_t now = inUse += ::malloc_usable_size(memory);
    peak = std::max<std::size_t>(peak, now);
    return memory;
}

void operator delete(void* memory) noexcept
{
    if (memory != nullptr)
        inUse -= ::malloc_usable_size(memory);
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept
{
    operator delete(memory);
}

namespace moire::counted {

std::size_t memoryInUse()
{
    return inUse;
}

std::size_t memoryPeak()
{
    return peak;
}

void resetPeak()
{
    peak = inUse.load();
}

} // namespace moire::counted
