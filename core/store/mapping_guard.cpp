// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/mapping_guard.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace moire::store {

namespace {

/// Read by the signal handler: lock-free, never moved. `end` is set last and cleared first.
struct Slot
{
    std::atomic<bool> taken{false};
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};
    std::atomic<bool> lost{false};
};

std::array<Slot, MappingGuard::mostGuards> slots;
struct sigaction previousAction;
std::uintptr_t pageBytes = 4096;

void passOn(int number, siginfo_t* info, void* context)
{
    if ((previousAction.sa_flags & SA_SIGINFO) != 0 && previousAction.sa_sigaction != nullptr)
        previousAction.sa_sigaction(number, info, context);
    else if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN)
        previousAction.sa_handler(number);
    else
        ::sigaction(number, &previousAction, nullptr); // the same access faults again, and ends it
}

void onBusError(int number, siginfo_t* info, void* context)
{
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (Slot& slot : slots) {
        const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
        const std::uintptr_t begin = slot.begin.load(std::memory_order_relaxed);
        if (address < begin || address >= end)
            continue;
        // All from this page on lies behind the file's new end.
        const std::uintptr_t page = address / pageBytes * pageBytes;
        void* zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED)
            break;
        slot.lost.store(true, std::memory_order_release);
        return;
    }
    passOn(number, info, context);
}

bool installHandler()
{
    pageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &previousAction) == 0;
}

} // namespace

MappingGuard::MappingGuard(std::span<const std::byte> mapping)
{
    static const bool installed = installHandler();
    if (!installed || mapping.empty())
        return;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].taken.exchange(true))
            continue;
        const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
        slots[i].lost.store(false);
        slots[i].begin.store(begin);
        slots[i].end.store(begin + mapping.size(), std::memory_order_release);
        m_slot = i;
        return;
    }
}

MappingGuard::MappingGuard(MappingGuard&& other) noexcept
    : m_slot(std::exchange(other.m_slot, none))
{}

MappingGuard& MappingGuard::operator=(MappingGuard&& other) noexcept
{
    std::swap(m_slot, other.m_slot);
    return *this;
}

MappingGuard::~MappingGuard()
{
    if (m_slot == none)
        return;
    slots[m_slot].end.store(0);
    slots[m_slot].begin.store(0);
    slots[m_slot].taken.store(false);
}

bool MappingGuard::lost() const
{
    return m_slot != none && slots[m_slot].lost.load(std::memory_order_acquire);
}

} // namespace moire::store
