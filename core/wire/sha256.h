// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace moire::wire {

/// SHA-256 (FIPS 180-4), for fingerprints of keys.
std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes);

} // namespace moire::wire
