// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>

namespace moire::store {

/// Keeps a file mapping readable when the file is cut short under it: what is lost then reads as
/// zeros instead of ending the process with SIGBUS, and lost() says so from then on. A handler of
/// that signal is process-wide by nature; it is installed with the first guard, acts on guarded
/// ranges only and passes every other SIGBUS on to the handler that was there before. Beyond the
/// first `mostGuards` mappings of a process a guard does nothing.
class MappingGuard
{
public:
    static constexpr std::size_t mostGuards = 256;

    MappingGuard() = default;
    explicit MappingGuard(std::span<const std::byte> mapping);
    MappingGuard(MappingGuard&& other) noexcept;
    MappingGuard& operator=(MappingGuard&& other) noexcept;
    ~MappingGuard();

    bool lost() const;

private:
    static constexpr std::size_t none = mostGuards;
    std::size_t m_slot = none;
};

} // namespace moire::store
